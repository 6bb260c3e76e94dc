//! A package as one file: a tar archive, compressed with gzip, of one folder with a registry file in it.
//!
//! What is written depends on the files alone: sorted, without times, owners or permissions. What is read comes from anywhere,
//! so it is read strictly: plain files and folders, below one folder, none twice, up to stated limits.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, BufReader, Read, Seek, Write},
    path::{Component, Path, PathBuf},
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use tar::{Archive, Builder, EntryType, Header};

/// Bytes that an archive may hold, headers included.
const MOST_BYTES: u64 = 1 << 30;
/// Files and folders that it may hold.
const MOST_ENTRIES: usize = 1_000;

/// Why an archive can't be unpacked.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArchiveError {
    /// It can't be read, or what is in it can't be written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It holds what no package needs.
    #[error("{path}: {problem}")]
    Refused { path: String, problem: &'static str },
    /// It is too large.
    #[error("it holds more than {MOST_ENTRIES} files, or more than {} MiB", MOST_BYTES >> 20)]
    TooLarge,
    /// There is no package in it.
    #[error("it holds no folder with a registry.yaml")]
    NoPackage,
}

/// Writes an archive of one folder: of each file its path in the folder and its bytes.
///
/// # Errors
/// When it can't be written, or a path has more than about 200 bytes.
pub(super) fn write<'f>(
    to: impl Write,
    folder: &str,
    files: impl IntoIterator<Item = (&'f Path, &'f [u8])>,
) -> io::Result<()> {
    let mut archive = Builder::new(GzEncoder::new(to, Compression::best()));
    for (path, bytes) in files {
        // Paths in archives have `/` everywhere.
        let parts = path.components().map(|part| part.as_os_str().to_string_lossy());
        let path = parts.fold(folder.to_owned(), |path, part| path + "/" + &part);
        let mut header = Header::new_ustar();
        header.set_path(path)?;
        header.set_size(bytes.len() as u64);
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_cksum();
        archive.append(&header, bytes)?;
    }
    archive.into_inner()?.finish()?.flush()
}

/// Whether a file is an archive, by its first bytes.
pub(super) fn is_one(path: &Path) -> bool {
    let mut head = [0; 512];
    let read = File::open(path).and_then(|mut file| file.read(&mut head));
    read.is_ok_and(|length| head[..length].starts_with(GZIP) || head[257..].starts_with(b"ustar"))
}

const GZIP: &[u8] = b"\x1f\x8b";

/// Unpacks an archive into a folder that is there and empty. Returns the one folder that is then in it.
///
/// # Errors
/// When it is damaged, holds anything but a package, or passes a limit. What has been written until then stays.
pub(super) fn unpack(path: &Path, into: &Path) -> Result<PathBuf, ArchiveError> {
    let mut file = BufReader::new(File::open(path)?);
    let mut head = [0; 2];
    let compressed = file.read(&mut head)? == 2 && head == GZIP;
    file.rewind()?;
    if compressed {
        read(GzDecoder::new(file), into, MOST_BYTES)
    } else {
        read(file, into, MOST_BYTES)
    }
}

fn read(from: impl Read, into: &Path, most_bytes: u64) -> Result<PathBuf, ArchiveError> {
    // The headers of raw entries are taken as they stand: none makes another one longer, or a link of it.
    let mut archive = Archive::new(from.take(most_bytes));
    let (mut top, mut seen, mut bytes) = (None, BTreeSet::new(), 0_u64);
    for (index, entry) in archive.entries()?.raw(true).enumerate() {
        let mut entry = entry?;
        let shown = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let refused = |problem| ArchiveError::Refused {
            path: shown.clone(),
            problem,
        };
        bytes = bytes.saturating_add(entry.header().entry_size()?);
        if index >= MOST_ENTRIES || bytes > most_bytes {
            return Err(ArchiveError::TooLarge);
        }
        let folder = match entry.header().entry_type() {
            EntryType::Regular => false,
            EntryType::Directory => true,
            _ => return Err(refused("neither a file nor a folder")),
        };
        let parts = parts(&shown).ok_or_else(|| refused("not a path inside the package"))?;
        if *top.get_or_insert_with(|| parts[0].clone()) != parts[0] {
            return Err(refused("outside the folder of the package"));
        }
        let path: PathBuf = into.join(parts.iter().collect::<PathBuf>());
        if folder {
            fs::create_dir_all(path)?;
            continue;
        }
        if parts.len() == 1 {
            return Err(refused("outside the folder of the package"));
        }
        // Also where names that differ in case are one file.
        if !seen.insert(shown.to_lowercase()) {
            return Err(refused("there twice"));
        }
        fs::create_dir_all(path.parent().unwrap_or(into))?;
        io::copy(&mut entry, &mut File::create_new(&path)?)?;
    }
    // To the end, where compressed files have their check sum; it may not be endless either.
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink())?;
    if rest.limit() == 0 {
        return Err(ArchiveError::TooLarge);
    }
    let folder = top.map(|top| into.join(top));
    folder
        .filter(|folder| folder.join("registry.yaml").is_file())
        .ok_or(ArchiveError::NoPackage)
}

/// The parts of a relative path; `None` if it is anything else on any system.
fn parts(path: &str) -> Option<Vec<String>> {
    let strange = |c: char| c.is_control() || matches!(c, '\\' | ':' | char::REPLACEMENT_CHARACTER);
    if path.contains(strange) {
        return None;
    }
    let parts = Path::new(path).components().map(|part| match part {
        Component::Normal(part) => part.to_str().map(str::to_owned),
        _ => None,
    });
    parts.collect::<Option<Vec<_>>>().filter(|parts| !parts.is_empty())
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
