//! What an instance does wrong, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aiperf_sdk::{Host, Result, package::Open};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Options {
    r#do: String,
    after: u64,
    origin: String,
}

/// One fault of one instance.
pub(crate) struct Behaviour {
    fault: String,
    after: u64,
    seen: AtomicU64,
    /// A server that some faults ask.
    pub(crate) origin: String,
    pub(crate) host: Arc<dyn Host>,
}

impl Behaviour {
    /// Reads the options; the fault `panic_in_open` happens here.
    pub(crate) fn open(open: &Open) -> Result<Self> {
        let Options {
            r#do: fault,
            after,
            origin,
        } = open.options()?;
        assert!(fault != "panic_in_open", "hostile in open");
        Ok(Self {
            fault,
            after,
            seen: AtomicU64::new(0),
            origin,
            host: open.host.clone(),
        })
    }

    /// The fault is this one, and it is time for it.
    pub(crate) fn is(&self, fault: &str) -> bool {
        self.fault == fault && self.seen.fetch_add(1, Ordering::Relaxed) >= self.after
    }

    /// Begins a call: panics, ends the process, or never returns, if that is the fault.
    pub(crate) fn enter(&self, call: &str) {
        if self.is(&format!("panic_in_{call}")) {
            panic!("hostile in {call}");
        }
        if self.is(&format!("abort_in_{call}")) {
            std::process::abort();
        }
        if self.is(&format!("spin_in_{call}")) {
            while std::hint::black_box(true) {}
        }
        if self.is(&format!("hog_in_{call}")) {
            let mut all = Vec::new();
            while std::hint::black_box(true) {
                all.push(vec![1_u8; 1 << 20]);
            }
        }
        if self.is(&format!("overflow_in_{call}")) {
            deeper(0);
        }
        if self.is(&format!("hang_in_{call}")) {
            loop {
                std::thread::park();
            }
        }
    }
}

/// Uses up any stack.
fn deeper(depth: u64) -> u64 {
    let here = std::hint::black_box([depth; 64]);
    if here[0] == u64::MAX {
        return depth;
    }
    deeper(depth + 1) + here[1]
}

impl Drop for Behaviour {
    fn drop(&mut self) {
        if self.fault == "panic_in_drop" {
            panic!("hostile in drop");
        }
    }
}

/// A fault, and what it makes of a good answer.
pub(crate) type Fault<T> = (&'static str, fn(&mut T));

/// A text that is none.
#[allow(unsafe_code, reason = "no safe code can make such a string; the host must find it")]
pub(crate) fn no_text() -> String {
    // SAFETY: this breaks the promise of `String` on purpose. The string is only moved into its ABI form, which does not look
    // at it; the host's check of it is what the tests are about.
    unsafe { String::from_utf8_unchecked(vec![b'a', 0xff, 0xfe]) }
}
