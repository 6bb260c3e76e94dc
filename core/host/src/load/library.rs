//! The library file of a package: found, read and verified, but not loaded.

use super::LoadCause;
use super::inspect::version_info;
use crate::registry::{HOST_TARGET, Library, RegistryFile, Sha256};
use aiperf_plugin_api::record::{API, VersionInfo};
use sha2::Digest;
use std::path::{Path, PathBuf};

/// A library whose bytes are the declared ones and whose record says that it may be loaded.
pub(super) struct LibraryFile {
    /// Its real path, inside the folder of the registry file.
    pub(super) path: PathBuf,
    /// Everything in it.
    pub(super) bytes: Vec<u8>,
    /// SHA-256 of `bytes`.
    pub(super) digest: Sha256,
    /// The registry file declares the digest.
    pub(super) pinned: bool,
    /// What it says about itself.
    pub(super) info: VersionInfo,
}

impl LibraryFile {
    /// Reads the library for this platform. `place` becomes the path tried, for the error.
    pub(super) fn read(
        file: &RegistryFile,
        libraries: &[Library],
        place: &mut Option<PathBuf>,
    ) -> Result<Self, LoadCause> {
        let library = for_this_target(libraries)?;
        let (path, bytes, digest) = verified(file, &library.path, library.sha256, place)?;
        let info = version_info(&bytes)?;
        if info.api.major != API.major {
            return Err(LoadCause::ApiMajor {
                plugin: info.api,
                host: API,
            });
        }
        Ok(Self {
            path,
            bytes,
            digest,
            pinned: library.sha256.is_some(),
            info,
        })
    }
}

/// The component file of a package, whose bytes are the declared ones.
pub(crate) struct WasmFile {
    /// Its real path, inside the folder of the registry file.
    pub(crate) path: PathBuf,
    /// SHA-256 of the file.
    pub(crate) digest: Sha256,
}

impl WasmFile {
    /// Reads the file. `place` becomes the path tried, for the error.
    pub(super) fn read(
        file: &RegistryFile,
        path: &Path,
        declared: Option<Sha256>,
        place: &mut Option<PathBuf>,
    ) -> Result<(Self, Vec<u8>), LoadCause> {
        let (path, bytes, digest) = verified(file, path, declared, place)?;
        Ok((Self { path, digest }, bytes))
    }
}

/// A file of the package: its real path, its bytes, and their digest, which is the declared one.
fn verified(
    file: &RegistryFile,
    path: &Path,
    declared: Option<Sha256>,
    place: &mut Option<PathBuf>,
) -> Result<(PathBuf, Vec<u8>, Sha256), LoadCause> {
    let path = inside(file, place.insert(file.folder().join(path)))?;
    let bytes = std::fs::read(&path).map_err(unreadable)?;
    let digest = Sha256(sha2::Sha256::digest(&bytes).into());
    match declared.filter(|declared| *declared != digest) {
        Some(declared) => Err(LoadCause::Digest {
            declared,
            found: digest,
        }),
        None => Ok((path, bytes, digest)),
    }
}

fn for_this_target(libraries: &[Library]) -> Result<&Library, LoadCause> {
    let fits = |library: &&Library| library.target.as_deref().is_none_or(|target| target == HOST_TARGET);
    libraries.iter().find(fits).ok_or_else(|| LoadCause::NoTarget {
        host: HOST_TARGET.to_owned(),
        available: libraries.iter().filter_map(|library| library.target.clone()).collect(),
    })
}

/// The real path of a library, which must lie in the real folder of the registry file.
fn inside(file: &RegistryFile, path: &Path) -> Result<PathBuf, LoadCause> {
    let found = path.canonicalize().map_err(unreadable)?;
    let folder = file.folder().canonicalize().map_err(unreadable)?;
    if found.starts_with(&folder) {
        Ok(found)
    } else {
        Err(LoadCause::OutsideFolder { found })
    }
}

fn unreadable(error: std::io::Error) -> LoadCause {
    LoadCause::Unreadable {
        message: error.to_string(),
    }
}
