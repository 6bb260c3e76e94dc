//! What a library file says about itself, read from its bytes. Nothing is loaded, so no code of the library runs.

use super::LoadCause;
use aiperf_plugin_api::record::{MACH_O_SECTION, SECTION, VersionInfo, VersionRecord};
use object::macho::{FatArch32, FatArch64};
use object::read::macho::{FatArch, MachOFatFile};
use object::{Architecture, BinaryFormat, FileKind, Object, ObjectKind, ObjectSection};

/// What a library must be made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Platform {
    format: BinaryFormat,
    /// [`Architecture::Unknown`] where this program does not know its own.
    architecture: Architecture,
}

impl Platform {
    /// That of this program.
    const HOST: Self = Self {
        format: if cfg!(target_vendor = "apple") {
            BinaryFormat::MachO
        } else if cfg!(windows) {
            BinaryFormat::Pe
        } else {
            BinaryFormat::Elf
        },
        architecture: if cfg!(target_arch = "x86_64") {
            Architecture::X86_64
        } else if cfg!(target_arch = "aarch64") {
            Architecture::Aarch64
        } else if cfg!(target_arch = "x86") {
            Architecture::I386
        } else if cfg!(target_arch = "arm") {
            Architecture::Arm
        } else if cfg!(target_arch = "riscv64") {
            Architecture::Riscv64
        } else if cfg!(target_arch = "powerpc64") {
            Architecture::PowerPc64
        } else if cfg!(target_arch = "s390x") {
            Architecture::S390x
        } else {
            Architecture::Unknown
        },
    };

    fn takes(self, format: BinaryFormat, architecture: Architecture) -> bool {
        self.format == format && (self.architecture == Architecture::Unknown || self.architecture == architecture)
    }
}

/// The version record in the bytes of a shared library for this platform.
///
/// # Errors
/// The bytes are no library, are for another platform, are damaged, or hold no record.
pub fn version_info(bytes: &[u8]) -> Result<VersionInfo, LoadCause> {
    info_for(bytes, Platform::HOST)
}

fn info_for(bytes: &[u8], host: Platform) -> Result<VersionInfo, LoadCause> {
    if let Some(found) = other_kind(bytes) {
        return Err(LoadCause::NotALibrary {
            found: found.to_owned(),
        });
    }
    let bytes = match FileKind::parse(bytes).map_err(damaged)? {
        FileKind::MachOFat32 => slice::<FatArch32>(bytes, host)?,
        FileKind::MachOFat64 => slice::<FatArch64>(bytes, host)?,
        _ => bytes,
    };
    let file = object::File::parse(bytes).map_err(damaged)?;
    if !host.takes(file.format(), file.architecture()) {
        return Err(other_platform(file.format(), &[file.architecture()], host));
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
    let section = match file.format() {
        BinaryFormat::MachO => file.sections().find(|section| {
            let name = (section.segment_name(), section.name());
            matches!(name, (Ok(Some(segment)), Ok(name)) if (segment, name) == MACH_O_SECTION)
        }),
        _ => file.section_by_name(SECTION),
    };
    let section = section.ok_or(LoadCause::NoRecord)?;
    VersionRecord::parse(section.data().map_err(damaged)?).ok_or(LoadCause::NoRecord)
}

/// The part of a universal Mach-O file that is for this machine.
fn slice<F: FatArch>(bytes: &[u8], host: Platform) -> Result<&[u8], LoadCause> {
    let parts = MachOFatFile::<F>::parse(bytes).map_err(damaged)?.arches();
    let ours = parts
        .iter()
        .find(|part| host.takes(BinaryFormat::MachO, part.architecture()));
    match ours {
        Some(part) => part.data(bytes).map_err(damaged),
        None => {
            let found: Vec<Architecture> = parts.iter().map(FatArch::architecture).collect();
            Err(other_platform(BinaryFormat::MachO, &found, host))
        }
    }
}

fn other_platform(format: BinaryFormat, architectures: &[Architecture], host: Platform) -> LoadCause {
    LoadCause::OtherPlatform {
        found: platform(format, architectures),
        host: platform(host.format, &[host.architecture]),
    }
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
    const LIBRARIES: [&[u8]; 6] = [
        b"\x7fELF",
        b"\xfe\xed\xfa",
        b"\xcf\xfa\xed\xfe",
        b"\xca\xfe\xba\xbe",
        b"\xca\xfe\xba\xbf",
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

fn platform(format: BinaryFormat, architectures: &[Architecture]) -> String {
    let system = match format {
        BinaryFormat::Elf => "Linux (ELF)",
        BinaryFormat::MachO => "macOS (Mach-O)",
        BinaryFormat::Pe | BinaryFormat::Coff => "Windows (PE)",
        _ => "another system",
    };
    let names: Vec<String> = architectures
        .iter()
        .map(|architecture| format!("{architecture:?}").to_lowercase())
        .collect();
    format!("{system} on {}", names.join(" and "))
}

#[cfg(test)]
#[path = "inspect_tests.rs"]
mod tests;
