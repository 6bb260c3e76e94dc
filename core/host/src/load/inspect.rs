//! What a library file says about itself, read from its bytes. Nothing is loaded, so no code of the library runs.

use super::LoadCause;
use aiperf_plugin_api::record::{SECTION, VersionInfo, VersionRecord};
use object::{Architecture, BinaryFormat, Object, ObjectKind, ObjectSection};

/// The platform of this program.
const HOST_FORMAT: BinaryFormat = if cfg!(target_os = "macos") {
    BinaryFormat::MachO
} else if cfg!(windows) {
    BinaryFormat::Pe
} else {
    BinaryFormat::Elf
};

fn host_architecture() -> Architecture {
    match std::env::consts::ARCH {
        "x86_64" => Architecture::X86_64,
        "aarch64" => Architecture::Aarch64,
        "x86" => Architecture::I386,
        "arm" => Architecture::Arm,
        "riscv64" => Architecture::Riscv64,
        "powerpc64" => Architecture::PowerPc64,
        "s390x" => Architecture::S390x,
        _ => Architecture::Unknown,
    }
}

/// The version record in the bytes of a shared library for this platform.
///
/// # Errors
/// The bytes are no library, are for another platform, are damaged, or hold no record.
pub fn version_info(bytes: &[u8]) -> Result<VersionInfo, LoadCause> {
    if let Some(found) = other_kind(bytes) {
        return Err(LoadCause::NotALibrary {
            found: found.to_owned(),
        });
    }
    let file = object::File::parse(bytes).map_err(damaged)?;
    let host = host_architecture();
    if file.format() != HOST_FORMAT || (host != Architecture::Unknown && file.architecture() != host) {
        return Err(LoadCause::OtherPlatform {
            found: platform(file.format(), file.architecture()),
            host: platform(HOST_FORMAT, host),
        });
    }
    match file.kind() {
        ObjectKind::Dynamic => {}
        ObjectKind::Executable => {
            return Err(LoadCause::NotALibrary {
                found: "a program".to_owned(),
            });
        }
        _ => {
            return Err(LoadCause::NotALibrary {
                found: "an object file".to_owned(),
            });
        }
    }
    let section = file.section_by_name(SECTION).ok_or(LoadCause::NoRecord)?;
    VersionRecord::parse(section.data().map_err(damaged)?).ok_or(LoadCause::NoRecord)
}

fn damaged(error: object::Error) -> LoadCause {
    LoadCause::Damaged {
        detail: error.to_string(),
    }
}

/// What bytes are, in words.
pub(crate) fn kind(bytes: &[u8]) -> &'static str {
    other_kind(bytes).unwrap_or("a native library or program")
}

/// What bytes are that begin like no shared library of any platform.
fn other_kind(bytes: &[u8]) -> Option<&'static str> {
    const LIBRARIES: [&[u8]; 5] = [
        b"\x7fELF",
        b"\xfe\xed\xfa",
        b"\xcf\xfa\xed\xfe",
        b"\xca\xfe\xba\xbe",
        b"MZ",
    ];
    if bytes.is_empty() {
        return Some("an empty file");
    }
    if LIBRARIES.iter().any(|magic| bytes.starts_with(magic)) {
        return None;
    }
    let head = &bytes[..bytes.len().min(512)];
    let printable = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    Some(if bytes.starts_with(b"\0asm") {
        "a WebAssembly file (name it with `wasm:`)"
    } else if bytes.starts_with(b"!<arch>") {
        "a static library"
    } else if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"\x1f\x8b") {
        "a compressed archive"
    } else if head.iter().all(printable) {
        "a text file"
    } else {
        "a file of an unknown format"
    })
}

fn platform(format: BinaryFormat, architecture: Architecture) -> String {
    let system = match format {
        BinaryFormat::Elf => "Linux (ELF)",
        BinaryFormat::MachO => "macOS (Mach-O)",
        BinaryFormat::Pe | BinaryFormat::Coff => "Windows (PE)",
        _ => "another system",
    };
    format!("{system} on {}", format!("{architecture:?}").to_lowercase())
}
