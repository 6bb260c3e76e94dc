//! A llama.cpp server with a tiny model. See `tests/real-server/README.md`.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::harness::{Finished, Folder, Run, avg, get, metric, outside, prometheus, text};

/// The server; it ends with the test.
struct Llama {
    child: Child,
    address: SocketAddr,
    /// Holds the model.
    _folder: Folder,
}

impl Drop for Llama {
    fn drop(&mut self) {
        // Its input at an end is the sign to stop; it may have gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the server counts.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counters {
    prompt_tokens: f64,
    generated_tokens: f64,
}

impl Llama {
    fn start(python: &Path) -> Self {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../real-server");
        let folder = Folder::new();
        let model = folder.path("tiny.gguf");
        let made = Command::new(python)
            .arg(scripts.join("make_model.py"))
            .arg(&model)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut child = Command::new(python)
            .arg(scripts.join("serve.py"))
            .arg(&model)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim()
            .strip_prefix("http://")
            .and_then(|address| address.parse().ok());
        let address = address.unwrap_or_else(|| panic!("the server does not listen but says {line:?}"));
        let llama = Self {
            child,
            address,
            _folder: folder,
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        while !get(address, "/health").is_ok_and(|body| body.contains("ok")) {
            assert!(Instant::now() < deadline, "the server does not become ready");
            std::thread::sleep(Duration::from_millis(50));
        }
        llama
    }

    fn counters(&self) -> Counters {
        let page = get(self.address, "/metrics").unwrap();
        let of = |name: &str| prometheus(&page, &format!("llamacpp:{name}"));
        Counters {
            prompt_tokens: of("prompt_tokens_total") + of("prompt_tokens_cached_total"),
            generated_tokens: of("tokens_predicted_total"),
        }
    }

    /// A run whose counts agree with the server's.
    #[track_caller]
    fn run(&self, requests: usize, flags: &str) -> Finished {
        let before = self.counters();
        let line = format!(
            "--url http://{} --model tiny --tokenizer builtin --use-server-token-count --extra-inputs ignore_eos:true {flags}",
            self.address
        );
        let run = Run::profile(&line).succeed();
        // A slot is counted when it is released, just after the answer.
        let deadline = Instant::now() + Duration::from_secs(10);
        let summary = run.summary();
        assert_eq!(avg(&summary, "request_count"), requests as f64, "{run}");
        let reported = Counters {
            prompt_tokens: avg(&summary, "total_isl"),
            generated_tokens: avg(&summary, "total_osl"),
        };
        let counted = loop {
            let after = self.counters();
            let counted = Counters {
                prompt_tokens: after.prompt_tokens - before.prompt_tokens,
                generated_tokens: after.generated_tokens - before.generated_tokens,
            };
            if counted == reported || Instant::now() > deadline {
                break counted;
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        assert_eq!(
            counted, reported,
            "the server counted other than it reported: {summary}"
        );

        let records = run.profiling();
        assert_eq!(records.len(), requests);
        for record in &records {
            assert!(record.get("error").is_none(), "{record}");
            let latency = metric(record, "request_latency").unwrap();
            assert!(latency > 0.0, "{record}");
            if flags.contains("--streaming") {
                let ttft = metric(record, "time_to_first_token").unwrap();
                assert!(0.0 < ttft && ttft <= latency, "{record}");
            }
            assert_eq!(
                metric(record, "output_sequence_length"),
                metric(record, "usage_completion_tokens"),
                "{record}"
            );
        }
        run
    }
}

#[test]
fn a_real_server_agrees() {
    let Some(python) = outside("real-server", "AIPERF_TEST_PYTHON") else {
        return;
    };
    let llama = Llama::start(&python);

    let run = llama.run(24, "--streaming --concurrency 8 --request-count 24 --isl 60 --osl 20");
    for record in run.profiling() {
        assert_eq!(metric(&record, "output_sequence_length"), Some(20.0), "{record}");
    }
    llama.run(10, "--request-count 10 --isl 30 --osl 8 --concurrency 2");
    llama.run(
        10,
        "--endpoint-type completions --request-count 10 --isl 30 --osl 8 --concurrency 2",
    );
    llama.run(
        10,
        "--endpoint-type completions --streaming --request-count 10 --isl 30 --osl 8 --concurrency 8",
    );

    let turns = "--num-conversations 6 --conversation-turn-mean 3 --isl 20 --osl 6 --concurrency 3";
    let run = llama.run(18, &format!("--streaming {turns}"));
    let mut records = run.profiling();
    let key = |record: &Value| {
        (
            text(record, "/metadata/x_correlation_id").to_owned(),
            record["metadata"]["turn_index"].as_u64(),
        )
    };
    records.sort_by_key(key);
    for session in records.chunks(3) {
        let prompts: Vec<f64> = session
            .iter()
            .map(|record| metric(record, "usage_prompt_tokens").unwrap())
            .collect();
        // The history grows by the reply and the next prompt.
        assert!(prompts[0] < prompts[1] && prompts[1] < prompts[2], "{prompts:?}");
    }
}
