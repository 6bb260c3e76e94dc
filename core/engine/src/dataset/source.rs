//! The bytes that a user named: a file, or a folder of files.

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use aiperf_plugin_api::{PluginError, Result, Source, dataset::Sample};

/// How much of the first file a dataset may look at to find out whether it can read it.
const HEAD: usize = 1 << 20;

/// A file or a folder.
#[derive(Debug)]
pub struct FileSource {
    root: PathBuf,
    folder: bool,
    files: Vec<(String, File)>,
}

impl FileSource {
    /// Opens a file, or all files of a folder in the order of their names.
    ///
    /// # Errors
    /// When something can't be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let folder = path.is_dir();
        let mut names = Vec::new();
        if folder {
            for entry in path.read_dir()? {
                let entry = entry?;
                if entry.file_type()?.is_file() {
                    names.push(entry.file_name().to_string_lossy().into_owned());
                }
            }
            names.sort();
        }
        let files = if folder {
            names
                .into_iter()
                .map(|name| Ok((name.clone(), File::open(path.join(&name))?)))
                .collect::<io::Result<_>>()?
        } else {
            vec![(path.display().to_string(), File::open(path)?)]
        };
        Ok(Self {
            root: path.to_owned(),
            folder,
            files,
        })
    }

    /// What datasets are shown when they are asked whether they can read it.
    ///
    /// # Errors
    /// When the first file can't be read.
    pub fn sample(&self) -> Result<Sample> {
        let head = if self.files.is_empty() {
            Vec::new()
        } else {
            self.read(0, 0, HEAD as u32)?
        };
        Ok(Sample {
            files: self.files(),
            folder: self.folder,
            head,
        })
    }

    fn file(&self, file: u32) -> Result<&(String, File)> {
        self.files.get(file as usize).ok_or_else(|| {
            PluginError::input(format!(
                "{} has no file {file}; it has {}",
                self.root.display(),
                self.files.len()
            ))
        })
    }
}

fn failed(name: &str, error: &io::Error) -> PluginError {
    PluginError::input(format!("{name}: {error}"))
}

impl Source for FileSource {
    fn files(&self) -> Vec<String> {
        self.files.iter().map(|(name, _)| name.clone()).collect()
    }

    fn len(&self, file: u32) -> Result<u64> {
        let (name, file) = self.file(file)?;
        file.metadata()
            .map(|metadata| metadata.len())
            .map_err(|error| failed(name, &error))
    }

    fn read(&self, file: u32, offset: u64, length: u32) -> Result<Vec<u8>> {
        let (name, file) = self.file(file)?;
        let mut bytes = vec![0; (length as usize).min(HEAD)];
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read_at(&mut bytes[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(name, &error)),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_its_files_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [("b.jsonl", "bb"), ("a.jsonl", "aaa")] {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        let source = FileSource::open(folder.path()).expect("opened");
        assert_eq!(source.files(), ["a.jsonl", "b.jsonl"]);
        assert_eq!(source.len(0), Ok(3));
        assert_eq!(source.read(1, 1, 10), Ok(b"b".to_vec()));
        assert_eq!(
            source.sample().map(|sample| (sample.folder, sample.head)),
            Ok((true, b"aaa".to_vec()))
        );
        assert!(source.read(2, 0, 1).is_err());
    }
}
