//! Cancelling one exchange from its own thread.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Cancels one exchange. Clones are handles to the same switch; it belongs to the I/O thread and is not `Send`.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Rc<Switch>);

#[derive(Debug, Default)]
struct Switch {
    thrown: Cell<bool>,
    waiting: RefCell<Option<Waker>>,
}

impl Cancel {
    /// A switch not yet thrown.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the exchange that was started with this switch; what had arrived by then is kept. Throwing it again, or
    /// after the end, does nothing. Thrown before the start, the exchange ends without sending.
    pub fn cancel(&self) {
        self.0.thrown.set(true);
        if let Some(waker) = self.0.waiting.take() {
            waker.wake();
        }
    }

    /// Whether the switch was thrown.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.thrown.get()
    }

    /// Ready once the switch is thrown. One waiter per switch.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.thrown.get() {
            return Poll::Ready(());
        }
        let mut waiting = self.0.waiting.borrow_mut();
        if !waiting.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            *waiting = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}
