//! The version record: a few bytes in a section of the library's file, so that versions can be read without loading it.

/// Name of the section in ELF and PE files; the latter hold 8 bytes of a name.
pub const SECTION: &str = ".aiperf";

/// Segment and section in Mach-O files, where a section has no name without its segment. Each holds 16 bytes.
pub const MACH_O_SECTION: (&str, &str) = ("__DATA", "__aiperf");

const MAGIC: [u8; 8] = *b"AIPERF\0\x01";

/// Version of the contract that this build speaks.
pub const API: ApiVersion = ApiVersion { major: 1, minor: 0 };

/// The compiler that built this crate.
pub const RUSTC: &str = env!("AIPERF_RUSTC");

/// A version of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApiVersion {
    /// Differs: does not load.
    pub major: u16,
    /// Differs: loads; the newer side knows more.
    pub minor: u16,
}

impl std::fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The record as it lies in the file. All numbers are little endian.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct VersionRecord {
    magic: [u8; 8],
    api_major: [u8; 2],
    api_minor: [u8; 2],
    unwinds: u8,
    categories: u8,
    reserved: [u8; 2],
    rustc: [u8; 80],
    package: [u8; 64],
    version: [u8; 32],
}

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionInfo {
    /// Contract version that the library was built against.
    pub api: ApiVersion,
    /// It unwinds on panic; one that aborts takes the run with it.
    pub unwinds: bool,
    /// Bit per category code.
    pub categories: u8,
    /// The compiler.
    pub rustc: String,
    /// Name of the package.
    pub package: String,
    /// Version of the package.
    pub version: String,
}

impl VersionRecord {
    /// A record of this build. Texts that are too long are cut.
    pub const fn new(package: &str, version: &str, categories: u8) -> Self {
        Self {
            magic: MAGIC,
            api_major: API.major.to_le_bytes(),
            api_minor: API.minor.to_le_bytes(),
            unwinds: cfg!(panic = "unwind") as u8,
            categories,
            reserved: [0; 2],
            rustc: padded(RUSTC),
            package: padded(package),
            version: padded(version),
        }
    }

    /// Reads a record from a section's bytes; `None` if it isn't one.
    pub fn parse(bytes: &[u8]) -> Option<VersionInfo> {
        let bytes = bytes.get(..size_of::<Self>())?;
        if bytes[..8] != MAGIC {
            return None;
        }
        let text = |from: usize, length: usize| {
            let field = &bytes[from..from + length];
            let end = field.iter().position(|&byte| byte == 0).unwrap_or(length);
            String::from_utf8_lossy(&field[..end]).into_owned()
        };
        Some(VersionInfo {
            api: ApiVersion {
                major: u16::from_le_bytes([bytes[8], bytes[9]]),
                minor: u16::from_le_bytes([bytes[10], bytes[11]]),
            },
            unwinds: bytes[12] != 0,
            categories: bytes[13],
            rustc: text(16, 80),
            package: text(96, 64),
            version: text(160, 32),
        })
    }
}

const fn padded<const N: usize>(text: &str) -> [u8; N] {
    let (bytes, mut out, mut i) = (text.as_bytes(), [0; N], 0);
    while i < bytes.len() && i < N {
        out[i] = bytes[i];
        i += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_the_section_fit_every_format() {
        assert!(SECTION.len() <= 8, "PE files cut it");
        let (segment, section) = MACH_O_SECTION;
        assert!(segment.len() <= 16 && section.len() <= 16, "Mach-O files cut them");
    }

    #[test]
    fn a_record_reads_back() {
        let record = VersionRecord::new("acme", "2.1.0", 0b101);
        let mut bytes = Vec::new();
        bytes.extend(record.magic);
        bytes.extend(record.api_major);
        bytes.extend(record.api_minor);
        bytes.extend([record.unwinds, record.categories, 0, 0]);
        bytes.extend(record.rustc);
        bytes.extend(record.package);
        bytes.extend(record.version);
        assert_eq!(bytes.len(), size_of::<VersionRecord>());
        let info = VersionRecord::parse(&bytes).expect("a record");
        assert_eq!(
            (info.api, info.package.as_str(), info.version.as_str()),
            (API, "acme", "2.1.0")
        );
        assert!(info.unwinds && info.categories == 5 && info.rustc.starts_with("rustc "));
        assert_eq!(VersionRecord::parse(&bytes[..100]), None, "cut short");
        bytes[0] = b'X';
        assert_eq!(VersionRecord::parse(&bytes), None, "other magic");
    }
}
