//! {{description}}
//!
//! A prompt per line: the limit on output tokens, a tab, the text. Blank lines say nothing.
#![forbid(unsafe_code)]

use aiperf_sdk::prelude::*;

/// The package: its entries, and how each is opened.
pub struct {{type}}Package;

impl Package for {{type}}Package {
    const NAME: &'static str = "{{name}}";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        vec![Entry::new(Category::Dataset, "{{entry}}")]
    }

    fn dataset(open: Open) -> Result<Box<dyn Dataset>> {
        match open.entry.as_str() {
            "{{entry}}" => Ok(Box::new({{type}}::new(open.options()?)?)),
            _ => Err(open.unknown()),
        }
    }
}

aiperf_sdk::export!(crate::{{type}}Package, [Dataset]);

/// Options: `--plugin-opt dataset/{{entry}}.max_tokens=64`.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Replaces the limits of the file; at least 1.
    pub max_tokens: Option<u32>,
}

/// The dataset.
pub struct {{type}} {
    options: Options,
    name: String,
    lines: std::vec::IntoIter<String>,
    number: u64,
}

impl {{type}} {
    /// Checks the options.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn new(options: Options) -> Result<Self> {
        if options.max_tokens == Some(0) {
            return Err(PluginError::options("`max_tokens` is 0"));
        }
        Ok(Self {
            options,
            name: String::new(),
            lines: Vec::new().into_iter(),
            number: 0,
        })
    }
}

impl Dataset for {{type}} {
    fn probe(&self, sample: &Sample) -> Result<Probe> {
        // A format without a mark of its own is better named by the user than guessed.
        let ours = |name: &String| name.ends_with(".{{entry}}");
        let accepts = sample.files.iter().all(ours);
        Ok(Probe {
            accepts,
            reason: format!("files end in .{{entry}}: {accepts}"),
        })
    }

    fn open(&mut self, source: Box<dyn Source>) -> Result<DatasetInfo> {
        let files = source.files();
        let [name] = files.as_slice() else {
            return Err(PluginError::input(format!(
                "one file is needed, not {}",
                files.len()
            )));
        };
        let mut bytes = Vec::new();
        loop {
            let piece = source.read(0, bytes.len() as u64, 1 << 20)?;
            if piece.is_empty() {
                break;
            }
            bytes.extend(piece);
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| PluginError::input(format!("{name}: no UTF-8")))?;
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        (self.name, self.number, self.lines) = (name.clone(), 0, lines.into_iter());
        Ok(DatasetInfo {
            conversations: None,
            context: aiperf_sdk::ContextMode::DeltasWithoutResponses,
            trace: false,
            notes: Vec::new(),
        })
    }

    fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
        let mut conversations = Vec::new();
        while conversations.len() < count as usize
            && let Some(line) = self.lines.next()
        {
            self.number += 1;
            if line.trim().is_empty() {
                continue;
            }
            let (limit, text) = parsed(&line).ok_or_else(|| {
                let (name, number) = (&self.name, self.number);
                PluginError::input(format!(
                    "{name}:{number}: expected a number of tokens, a tab and a text"
                ))
            })?;
            let turn = Turn {
                max_tokens: self.options.max_tokens.or(Some(limit)),
                ..Turn::text(text)
            };
            conversations.push(Conversation::new(
                format!("line-{}", self.number),
                vec![turn],
            ));
        }
        Ok(conversations)
    }
}

fn parsed(line: &str) -> Option<(u32, &str)> {
    let (limit, text) = line.split_once('\t')?;
    let limit = limit.parse().ok().filter(|&limit| limit > 0)?;
    Some((limit, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::testing;

    fn read(options: &str, text: &str) -> Result<Vec<Conversation>> {
        let mut dataset = {{type}}Package::dataset(testing::open("{{entry}}", options))?;
        testing::conversations(
            &mut *dataset,
            testing::source_in_pieces([("prompts.txt", text)], 3),
        )
    }

    #[test]
    fn lines_become_conversations() {
        let text = "8\tone\n\n16\ttwo words\n";
        let all = read("", text).unwrap();
        let ids: Vec<&str> = all.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["line-1", "line-3"]);
        assert_eq!(all[1].turns[0].texts[0].contents, ["two words"]);
        assert_eq!(all[1].turns[0].max_tokens, Some(16));
        let all = read(r#"{"max_tokens": 9}"#, text).unwrap();
        assert_eq!(all[1].turns[0].max_tokens, Some(9));
    }

    #[test]
    fn faults_name_file_and_line() {
        for text in ["8\tone\ntwo words", "8\tone\n0\ttwo"] {
            let error = read("", text).unwrap_err();
            assert_eq!(
                error.message,
                "prompts.txt:2: expected a number of tokens, a tab and a text"
            );
        }
        assert!(
            read(r#"{"max_token": 9}"#, "").is_err(),
            "a mistyped option"
        );
    }
}
