//! Library files of other platforms, by hand: the least that the formats' specifications ask of a file with one section.

use super::*;

const MAC: Platform = Platform {
    format: BinaryFormat::MachO,
    architecture: Architecture::Aarch64,
};
const WINDOWS: Platform = Platform {
    format: BinaryFormat::Pe,
    architecture: Architecture::X86_64,
};
const LINUX: Platform = Platform {
    format: BinaryFormat::Elf,
    architecture: Architecture::X86_64,
};

/// `CPU_TYPE_ARM64` and `CPU_TYPE_X86_64`.
const ARM64: u32 = 0x0100_000c;
const X86_64: u32 = 0x0100_0007;
/// `MH_OBJECT`, `MH_EXECUTE`, `MH_DYLIB`.
const MACH_KINDS: [u32; 3] = [1, 2, 6];
const DYLIB: u32 = 6;

/// A version record of package `acme` 2.1.0, API 1.3.
fn record() -> Vec<u8> {
    let mut bytes = b"AIPERF\0\x01\x01\0\x03\0\x01\x05\0\0rustc 1.90.0".to_vec();
    for (at, text) in [(96, "acme"), (160, "2.1.0")] {
        bytes.resize(at, 0);
        bytes.extend(text.as_bytes());
    }
    bytes.resize(192, 0);
    bytes
}

/// Numbers of 4 bytes, little endian.
fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A name of 16 bytes.
fn name16(name: &str) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    bytes.resize(16, 0);
    bytes
}

/// A Mach-O file: header, one command `LC_SEGMENT_64`, the section's bytes.
fn mach_o(cpu: u32, kind: u32, segment: &str, section: &str) -> Vec<u8> {
    let (content, start) = (record(), 32 + 72 + 80);
    let size = content.len() as u32;
    let mut bytes = words(&[0xfeed_facf, cpu, 0, kind, 1, 72 + 80, 0, 0]);
    bytes.extend(words(&[0x19, 72 + 80]));
    bytes.extend(name16(segment));
    // Address, size, place and size in the file (8 bytes each); protections, number of sections, flags.
    bytes.extend(words(&[0, 0, size, 0, start, 0, size, 0, 3, 3, 1, 0]));
    bytes.extend(name16(section));
    bytes.extend(name16(segment));
    // Address and size (8 bytes each); place, alignment, no relocations, flags, reserved.
    bytes.extend(words(&[0, 0, size, 0, start, 0, 0, 0, 0, 0, 0, 0]));
    assert_eq!(bytes.len() as u32, start);
    bytes.extend(content);
    bytes
}

/// A universal file of such files; its own numbers are big endian.
fn universal(parts: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = 0xcafe_babe_u32.to_be_bytes().to_vec();
    bytes.extend((parts.len() as u32).to_be_bytes());
    let mut start = 8 + 20 * parts.len() as u32;
    for (cpu, part) in parts {
        for number in [*cpu, 0, start, part.len() as u32, 0] {
            bytes.extend(number.to_be_bytes());
        }
        start += part.len() as u32;
    }
    bytes.extend(parts.iter().flat_map(|(_, part)| part));
    bytes
}

/// A PE file for x86-64: DOS header, file header, optional header without directories, one section.
fn pe(characteristics: u16, section: &str) -> Vec<u8> {
    let (content, start) = (record(), 64 + 4 + 20 + 112 + 40);
    let size = content.len() as u32;
    let mut bytes = b"MZ".to_vec();
    bytes.resize(60, 0);
    bytes.extend(words(&[64]));
    bytes.extend(b"PE\0\0");
    for number in [0x8664_u16, 1] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(words(&[0, 0, 0]));
    for number in [112, characteristics, 0x20b] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.resize(64 + 4 + 20 + 112, 0);
    let mut name = section.as_bytes().to_vec();
    name.resize(8, 0);
    bytes.extend(name);
    // Size and address in memory, size and place in the file, no relocations or lines, readable data.
    bytes.extend(words(&[size, 0x1000, size, start, 0, 0, 0, 0x4000_0040]));
    assert_eq!(bytes.len() as u32, start);
    bytes.extend(content);
    bytes
}

const DLL: u16 = 0x2000;

fn kind(found: &str) -> LoadCause {
    LoadCause::NotALibrary {
        found: found.to_owned(),
    }
}

#[test]
fn the_record_is_found_in_each_format() {
    let (segment, section) = MACH_O_SECTION;
    let ours = mach_o(ARM64, DYLIB, segment, section);
    let both = universal(&[(X86_64, mach_o(X86_64, DYLIB, segment, section)), (ARM64, ours.clone())]);
    for (bytes, host) in [(ours, MAC), (both, MAC), (pe(DLL, SECTION), WINDOWS)] {
        let info = info_for(&bytes, host).unwrap();
        assert_eq!((info.package.as_str(), info.version.as_str()), ("acme", "2.1.0"));
        assert_eq!((info.api.major, info.api.minor), (1, 3));
        assert_eq!(
            (info.rustc.as_str(), info.unwinds, info.categories),
            ("rustc 1.90.0", true, 5)
        );
    }
}

#[test]
fn a_section_of_another_name_is_none() {
    let (segment, section) = MACH_O_SECTION;
    for (bytes, host) in [
        (mach_o(ARM64, DYLIB, segment, "__data"), MAC),
        (mach_o(ARM64, DYLIB, "__TEXT", section), MAC),
        (pe(DLL, ".aiperfx"), WINDOWS),
        (pe(DLL, ".rdata"), WINDOWS),
    ] {
        assert_eq!(info_for(&bytes, host).unwrap_err(), LoadCause::NoRecord);
    }
}

#[test]
fn libraries_programs_and_objects_are_told_apart() {
    let (segment, section) = MACH_O_SECTION;
    let [object, program, _] = MACH_KINDS.map(|kind| mach_o(ARM64, kind, segment, section));
    assert_eq!(info_for(&object, MAC).unwrap_err(), kind("an object file"));
    assert_eq!(info_for(&program, MAC).unwrap_err(), kind("a program"));
    assert_eq!(info_for(&pe(0x0002, SECTION), WINDOWS).unwrap_err(), kind("a program"));
}

#[test]
fn other_platforms_are_named() {
    let (segment, section) = MACH_O_SECTION;
    let mac = |cpu| mach_o(cpu, DYLIB, segment, section);
    for (bytes, host, found, expected) in [
        (mac(ARM64), LINUX, "macOS (Mach-O) on aarch64", "Linux (ELF) on x86_64"),
        (
            mac(X86_64),
            MAC,
            "macOS (Mach-O) on x86_64",
            "macOS (Mach-O) on aarch64",
        ),
        (
            universal(&[(ARM64, mac(ARM64)), (X86_64, mac(X86_64))]),
            LINUX,
            "macOS (Mach-O) on aarch64 and x86_64",
            "Linux (ELF) on x86_64",
        ),
        (
            pe(DLL, SECTION),
            MAC,
            "Windows (PE) on x86_64",
            "macOS (Mach-O) on aarch64",
        ),
    ] {
        let expected = LoadCause::OtherPlatform {
            found: found.to_owned(),
            host: expected.to_owned(),
        };
        assert_eq!(info_for(&bytes, host).unwrap_err(), expected);
    }
}

#[test]
fn damaged_files_of_any_format_are_refused() {
    let (segment, section) = MACH_O_SECTION;
    let whole = mach_o(ARM64, DYLIB, segment, section);
    for (bytes, host) in [
        (whole.clone(), MAC),
        (universal(&[(ARM64, whole)]), MAC),
        (pe(DLL, SECTION), WINDOWS),
    ] {
        for cut in 4..bytes.len() {
            // Whatever it is taken for, it is no plugin, and nothing panics.
            assert!(info_for(&bytes[..cut], host).is_err(), "cut at {cut}");
        }
    }
}
