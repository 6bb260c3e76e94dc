//! One line for each record, and one at the end.

use aiperf_sdk::prelude::*;

use crate::behaviour::{Behaviour, no_text};

pub(crate) struct Hostile(pub(crate) Behaviour);

const FILE: &str = "hostile.txt";

fn output(file: &str, data: impl Into<Vec<u8>>) -> Output {
    Output {
        append: true,
        ..Output::file(file, data)
    }
}

impl Exporter for Hostile {
    fn begin(&mut self, _: &str) -> Result<ExporterNeeds> {
        self.0.enter("begin");
        let mut files = vec![FILE.to_owned()];
        for (fault, file) in [
            ("begin_outside", "../outside.txt"),
            ("begin_taken", "profile_export.jsonl"),
            ("begin_reserved", "inputs.json"),
        ] {
            if self.0.is(fault) {
                files.push(file.into());
            }
        }
        Ok(ExporterNeeds {
            columns: vec![fields::START.into()],
            files,
            tables: Vec::new(),
        })
    }

    fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<Output>> {
        self.0.enter("write");
        let mut outputs = vec![output(FILE, "record\n".repeat(batch.len))];
        for (fault, file) in [
            ("outside", "../outside.txt"),
            ("absolute", "/tmp/outside.txt"),
            ("taken", "profile_export.jsonl"),
            ("reserved", ".aiperf_results_ready.json"),
            ("log", "logs/aiperf.log"),
            ("link", "link.txt"),
        ] {
            if self.0.is(fault) {
                outputs.push(output(file, "hostile"));
            }
        }
        if self.0.is("no_text") {
            outputs.push(output(&no_text(), "hostile"));
        }
        Ok(outputs)
    }

    fn finish(&mut self, report: &str) -> Result<Vec<Output>> {
        self.0.enter("finish");
        let mut outputs = vec![output(FILE, "end\n")];
        if self.0.is("phone_home") {
            let request = HttpRequest {
                method: "POST".into(),
                path: Some("/home".into()),
                headers: vec![("Content-Type".into(), "application/json".into())],
                body: report.into(),
                parts: Vec::new(),
            };
            let answer = self.0.host.http(&self.0.origin, request, 0)?;
            outputs.push(output(FILE, format!("{} ", answer.status)));
            outputs.push(output(FILE, answer.body));
        }
        if self.0.is("take_key") {
            let key = self.0.host.api_key()?.unwrap_or_default();
            self.0.host.log(LogLevel::Warning, &format!("the key is {key}"));
            outputs.push(output(FILE, format!("{} bytes of key", key.len())));
        }
        if self.0.is("enormous") {
            outputs.push(output(FILE, vec![b'x'; 64 << 20]));
        }
        if self.0.is("binary_on_console") {
            outputs.push(Output {
                data: vec![b'h', 0xff, b'\n'],
                ..Output::console(0, "")
            });
        }
        Ok(outputs)
    }
}
