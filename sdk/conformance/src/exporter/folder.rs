//! The artifact folder and the console, as the core makes them of outputs.

use std::collections::BTreeMap;

use aiperf_sdk::Output;

/// Files by name, and console blocks.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Folder {
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) console: Vec<(i32, Vec<u8>)>,
}

impl Folder {
    /// Takes outputs in.
    pub(super) fn take(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            if output.file.is_empty() {
                self.console.push((output.order, output.data));
                continue;
            }
            let file = self.files.entry(output.file).or_default();
            if !output.append {
                file.clear();
            }
            file.extend(output.data);
        }
    }

    /// Everything that was written, with a name for messages.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let files = self.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        files.chain(self.console.iter().map(|(_, bytes)| ("the console", bytes.as_slice())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_appended_or_replace() {
        let output = |file: &str, append: bool, data: &str| Output {
            file: file.to_owned(),
            order: 3,
            append,
            data: data.as_bytes().to_vec(),
        };
        let mut folder = Folder::default();
        folder.take(vec![
            output("a", true, "1"),
            output("a", true, "2"),
            output("b", false, "x"),
        ]);
        folder.take(vec![output("b", false, "y"), output("", false, "hi")]);
        assert_eq!(folder.files["a"], b"12");
        assert_eq!(folder.files["b"], b"y");
        assert_eq!(folder.console, [(3, b"hi".to_vec())]);
        assert_eq!(folder.all().count(), 3);
    }
}
