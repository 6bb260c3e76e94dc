//! The artifact folder. Exporters name files relative to it; nothing can be written outside.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Component, Path, PathBuf},
};

use aiperf_plugin_api::Output;

/// An artifact can't be written.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// The name is not one of a file inside the folder.
    #[error("`{0}` is no name for an artifact: it must be relative, without `..`, and no symbolic link")]
    Name(String),
    /// The file is another's.
    #[error("`{name}` is written by {owner}; a file has one author")]
    Taken {
        /// The name.
        name: String,
        /// Who writes it.
        owner: String,
    },
    /// The file can't be written.
    #[error("{}: {source}; is the artifact folder writable and the disk not full?", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
}

/// The artifact folder of a run.
#[derive(Debug)]
pub struct Artifacts {
    folder: PathBuf,
    open: HashMap<String, File>,
    owners: HashMap<PathBuf, String>,
    written: Vec<String>,
}

impl Artifacts {
    /// Makes sure that the folder exists.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn new(folder: &Path) -> Result<Self, ArtifactError> {
        fs::create_dir_all(folder).map_err(|source| ArtifactError::Io {
            path: folder.to_owned(),
            source,
        })?;
        Ok(Self {
            folder: folder.to_owned(),
            open: HashMap::new(),
            owners: HashMap::new(),
            written: Vec::new(),
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Names written so far, in order of first writing.
    pub fn written(&self) -> &[String] {
        &self.written
    }

    /// Keeps a file for an author: from then on nobody else may write it. `name` may have been claimed by the same author
    /// before.
    ///
    /// # Errors
    /// When the name is none, or another's.
    pub fn claim(&mut self, name: &str, author: &str) -> Result<(), ArtifactError> {
        let path = self.path(name)?;
        let owner = self.owners.entry(path).or_insert_with(|| author.to_owned());
        if owner == author {
            Ok(())
        } else {
            Err(ArtifactError::Taken {
                name: name.to_owned(),
                owner: owner.clone(),
            })
        }
    }

    /// Empties a file of an author's, or makes it.
    ///
    /// # Errors
    /// See [`ArtifactError`].
    pub fn create(&mut self, name: &str, author: &str) -> Result<(), ArtifactError> {
        self.claim(name, author)?;
        self.open.remove(name);
        self.open(name, true).map(drop)
    }

    /// Writes what an exporter returned for a file. Appended bytes are handed to the system at once: a killed run keeps them.
    ///
    /// # Errors
    /// See [`ArtifactError`].
    pub fn write(&mut self, output: &Output, author: &str) -> Result<(), ArtifactError> {
        self.claim(&output.file, author)?;
        if !output.append {
            self.open.remove(&output.file);
        }
        let path = self.folder.join(&output.file);
        let file = self.open(&output.file, !output.append)?;
        file.write_all(&output.data)
            .map_err(|source| ArtifactError::Io { path, source })
    }

    fn open(&mut self, name: &str, truncate: bool) -> Result<&mut File, ArtifactError> {
        if !self.open.contains_key(name) {
            let path = self.path(name)?;
            let io = |source| ArtifactError::Io {
                path: path.clone(),
                source,
            };
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(io)?;
            }
            let mut options = OpenOptions::new();
            options.create(true);
            if truncate {
                options.write(true).truncate(true)
            } else {
                options.append(true)
            };
            let file = options.open(&path).map_err(io)?;
            self.open.insert(name.to_owned(), file);
            if !self.written.iter().any(|known| known == name) {
                self.written.push(name.to_owned());
            }
        }
        self.open
            .get_mut(name)
            .ok_or_else(|| ArtifactError::Name(name.to_owned()))
    }

    /// The path of a name inside the folder.
    fn path(&self, name: &str) -> Result<PathBuf, ArtifactError> {
        let refused = || ArtifactError::Name(name.to_owned());
        let relative = Path::new(name);
        let plain = !name.is_empty()
            && !name.contains(['\\', ':', '\0'])
            && relative.components().all(|part| matches!(part, Component::Normal(_)));
        if !plain {
            return Err(refused());
        }
        let mut path = self.folder.clone();
        for part in relative.components() {
            path.push(part);
            if path.is_symlink() {
                return Err(refused());
            }
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(file: &str, append: bool, data: &str) -> Output {
        Output {
            file: file.into(),
            order: 0,
            append,
            data: data.as_bytes().to_vec(),
        }
    }

    #[test]
    fn files_are_replaced_or_appended_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut artifacts = Artifacts::new(&folder.path().join("a/b")).expect("made");
        for (append, data, expected) in [
            (true, "1", "1"),
            (true, "2", "12"),
            (false, "3", "3"),
            (true, "4", "34"),
        ] {
            artifacts.write(&output("x/y.txt", append, data), "a").expect("written");
            assert_eq!(
                fs::read_to_string(folder.path().join("a/b/x/y.txt")).expect("read"),
                expected
            );
        }
        artifacts.create("x/y.txt", "a").expect("emptied");
        assert_eq!(fs::read_to_string(folder.path().join("a/b/x/y.txt")).expect("read"), "");
        assert_eq!(artifacts.written(), ["x/y.txt"]);
    }

    #[test]
    fn a_file_has_one_author() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut artifacts = Artifacts::new(folder.path()).expect("made");
        artifacts.create("x/y.txt", "a").expect("made");
        artifacts.claim("later.json", "a").expect("kept");
        for name in ["x/y.txt", "x//y.txt", "later.json"] {
            let error = artifacts.write(&output(name, false, "z"), "b").expect_err(name);
            assert!(
                matches!(&error, ArtifactError::Taken { owner, .. } if owner == "a"),
                "{error}"
            );
        }
        artifacts
            .write(&output("x/y.txt", false, "1"), "a")
            .expect("its author may");
        assert!(!folder.path().join("later.json").exists());
    }

    #[test]
    fn names_stay_inside() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut artifacts = Artifacts::new(folder.path()).expect("made");
        std::os::unix::fs::symlink("/", folder.path().join("link")).expect("linked");
        for name in [
            "",
            "/etc/x",
            "../x",
            "a/../../x",
            "./x",
            "link",
            "link/x",
            "c:x",
            "a\\b",
            "a\0b",
        ] {
            assert!(
                matches!(
                    artifacts.write(&output(name, true, ""), "a"),
                    Err(ArtifactError::Name(_))
                ),
                "{name:?}"
            );
        }
    }
}
