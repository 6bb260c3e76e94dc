//! A native library becomes a root module.
//!
//! The version record has been read from the file before anything of it runs. The layout check of abi_stable accepts a newer
//! library in an older host and refuses the reverse, although both are sound: a vtable may be read through any prefix of
//! it. So both directions are tried. Libraries are found by path, because abi_stable's own loader keeps one library for
//! each root type and would answer with the first for all.
#![allow(
    unsafe_code,
    reason = "loading foreign code cannot be checked by the compiler; all of it is in this file"
)]

use super::library::LibraryFile;
use super::{LoadCause, difference};
use aiperf_plugin_api::Root;
use aiperf_plugin_api::abi::PluginModuleRef;
use aiperf_plugin_api::abi::abi_stable::StableAbi;
use aiperf_plugin_api::abi::abi_stable::abi_stability::abi_checking::check_layout_compatibility;
use aiperf_plugin_api::abi::abi_stable::library::{LibHeader, LibraryError, lib_header_from_path};
use aiperf_plugin_api::record::{API, ApiVersion};
use std::path::PathBuf;

/// Loads a library. If its digest was declared, the bytes that were hashed are the bytes that are loaded.
pub(super) fn load(library: &LibraryFile) -> Result<Root, LoadCause> {
    let place = if library.pinned {
        sealed(library)?
    } else {
        library.path.clone()
    };
    let header = lib_header_from_path(&place).map_err(library_error)?;
    check_layout(header, library.info.api)?;
    // SAFETY: `check_layout` has just found that one side's root module is a prefix of the other's, field by field and
    // type by type, so every field that this program knows is either there with this type, or beyond the end that the
    // library's own prefix metadata states, where the accessors answer `None`.
    let module = unsafe { header.init_root_module_with_unchecked_layout::<PluginModuleRef>() };
    module.map(Root::new).map_err(library_error)
}

fn check_layout(header: &'static LibHeader, plugin: ApiVersion) -> Result<(), LoadCause> {
    let failed = |difference: String, dump: String| LoadCause::Layout {
        plugin,
        host: API,
        difference,
        dump,
    };
    let ours = <PluginModuleRef as StableAbi>::LAYOUT;
    let theirs = header.layout().ok_or_else(|| {
        failed(
            "the library carries no description of its types".to_owned(),
            String::new(),
        )
    })?;
    // The likelier direction first, so that the dump is about it.
    let (first, second) = if plugin < API {
        ((theirs, ours), (ours, theirs))
    } else {
        ((ours, theirs), (theirs, ours))
    };
    check_layout_compatibility(first.0, first.1).or_else(|errors| {
        check_layout_compatibility(second.0, second.1)
            .map_err(|_| failed(difference::first(&errors, plugin >= API), errors.to_string()))
    })
}

fn library_error(error: LibraryError) -> LoadCause {
    let message = |error: &dyn std::fmt::Display| error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    match &error {
        LibraryError::OpenError { err, .. } => LoadCause::Dynamic { message: message(err) },
        LibraryError::GetSymbolError { .. } => LoadCause::MissingSymbol,
        LibraryError::InvalidAbiHeader(header) => LoadCause::AbiBase {
            message: format!(
                "\"{}\" {}.{}",
                String::from_utf8_lossy(&header.magic_string).trim_end(),
                header.abi_major,
                header.abi_minor
            ),
        },
        LibraryError::InvalidCAbi { .. } => LoadCause::AbiBase {
            message: "its numbers and pointers are passed differently".to_owned(),
        },
        _ => LoadCause::Start {
            message: message(&error),
        },
    }
}

/// A path to an immutable copy of the library in memory.
#[cfg(target_os = "linux")]
fn sealed(library: &LibraryFile) -> Result<PathBuf, LoadCause> {
    use std::io::Write;
    use std::os::fd::{AsRawFd, IntoRawFd};

    let failed = |error: std::io::Error| LoadCause::Seal {
        message: error.to_string(),
    };
    let mut file = memory_file().map_err(failed)?;
    file.write_all(&library.bytes).map_err(failed)?;
    let seals = libc::F_SEAL_SEAL | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_WRITE;
    // SAFETY: the descriptor is open and owned by `file`; F_ADD_SEALS takes an integer and touches no memory.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } != 0 {
        return Err(failed(std::io::Error::last_os_error()));
    }
    // The descriptor stays open for good: the loader knows the library by this name, and a second file under a
    // re-used number would be taken for the first.
    Ok(PathBuf::from(format!("/proc/self/fd/{}", file.into_raw_fd())))
}

#[cfg(target_os = "linux")]
fn memory_file() -> std::io::Result<std::fs::File> {
    use std::os::fd::FromRawFd;

    /// Asks for an executable file where the system forbids them by default (Linux 6.3).
    const MFD_EXEC: libc::c_uint = 0x10;
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    for flags in [flags | MFD_EXEC, flags] {
        // SAFETY: the name is a C string that outlives the call.
        let descriptor = unsafe { libc::memfd_create(c"aiperf-plugin".as_ptr(), flags) };
        if descriptor >= 0 {
            // SAFETY: the descriptor was just created and nothing else owns it.
            return Ok(unsafe { std::fs::File::from_raw_fd(descriptor) });
        }
    }
    Err(std::io::Error::last_os_error())
}

/// Elsewhere there is no sealed memory: the file that was hashed is loaded from where it lies.
#[cfg(not(target_os = "linux"))]
fn sealed(library: &LibraryFile) -> Result<PathBuf, LoadCause> {
    Ok(library.path.clone())
}
