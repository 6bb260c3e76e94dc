use super::*;

const FILES: [(&str, &[u8]); 3] = [
    ("lib/deep/libacme.so", b"\x7fELF and so on"),
    ("LICENSE", b""),
    ("registry.yaml", b"schema_version: \"1.0\"\n"),
];

fn packed() -> Vec<u8> {
    let mut bytes = Vec::new();
    write(
        &mut bytes,
        "acme-1.0",
        FILES.map(|(path, bytes)| (Path::new(path), bytes)),
    )
    .unwrap();
    bytes
}

/// An archive of entries with these headers, as a hand that means harm writes it: names go in unchecked.
fn forged(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut archive = Builder::new(Vec::new());
    for (path, kind, bytes) in entries {
        let mut header = Header::new_ustar();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o777);
        if matches!(kind, EntryType::Symlink | EntryType::Link) {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        archive.append(&header, *bytes).unwrap();
    }
    archive.into_inner().unwrap()
}

/// Unpacks; returns the folder that holds the temporary folder, and what came of it.
fn unpacked(bytes: &[u8]) -> (tempfile::TempDir, Result<PathBuf, ArchiveError>) {
    let folder = tempfile::tempdir().unwrap();
    let (file, into) = (folder.path().join("archive"), folder.path().join("into"));
    fs::write(&file, bytes).unwrap();
    fs::create_dir(&into).unwrap();
    let result = unpack(&file, &into);
    (folder, result)
}

/// Everything below the folder, apart from the archive.
fn left(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.retain(|path| path != "archive");
    found.sort();
    found
}

#[test]
fn what_goes_in_comes_out() {
    let (folder, result) = unpacked(&packed());
    let package = result.unwrap();
    assert_eq!(package, folder.path().join("into/acme-1.0"));
    for (path, bytes) in FILES {
        assert_eq!(fs::read(package.join(path)).unwrap(), bytes, "{path}");
    }
    assert_eq!(left(folder.path()).len(), FILES.len());
    assert!(is_one(&folder.path().join("archive")));
    assert!(!is_one(&package.join("registry.yaml")) && !is_one(&package.join("LICENSE")));
}

#[test]
fn the_bytes_depend_on_the_files_alone() {
    let bytes = packed();
    assert_eq!(bytes, packed());
    // No name, no time in the head of the compressed file (RFC 1952).
    assert_eq!(bytes[3..8], [0; 5]);
    let mut archive = Archive::new(GzDecoder::new(&bytes[..]));
    for entry in archive.entries().unwrap() {
        let header = entry.unwrap().header().clone();
        let owner = (header.uid().unwrap(), header.gid().unwrap());
        assert_eq!(
            (header.mtime().unwrap(), owner, header.mode().unwrap()),
            (0, (0, 0), 0o644)
        );
    }
}

#[test]
fn an_archive_without_compression_is_one_too() {
    let bytes = forged(&[
        ("acme/", EntryType::Directory, b""),
        ("acme/registry.yaml", EntryType::Regular, b"x"),
    ]);
    let (folder, result) = unpacked(&bytes);
    assert!(is_one(&folder.path().join("archive")));
    assert_eq!(fs::read(result.unwrap().join("registry.yaml")).unwrap(), b"x");
}

#[test]
fn nothing_leaves_the_folder_or_is_a_link() {
    let good = ("acme/registry.yaml", EntryType::Regular, &b"x"[..]);
    for (path, kind, problem) in [
        ("../outside", EntryType::Regular, "not a path inside"),
        ("acme/../../outside", EntryType::Regular, "not a path inside"),
        ("/tmp/outside", EntryType::Regular, "not a path inside"),
        ("acme/..\\outside", EntryType::Regular, "not a path inside"),
        ("C:/outside", EntryType::Regular, "not a path inside"),
        ("acme/line\nbreak", EntryType::Regular, "not a path inside"),
        ("", EntryType::Regular, "not a path inside"),
        ("..", EntryType::Directory, "not a path inside"),
        ("outside", EntryType::Regular, "outside the folder"),
        ("other/outside", EntryType::Regular, "outside the folder"),
        ("acme", EntryType::Regular, "outside the folder"),
        ("acme/link", EntryType::Symlink, "neither a file nor a folder"),
        ("acme/link", EntryType::Link, "neither a file nor a folder"),
        ("acme/device", EntryType::Char, "neither a file nor a folder"),
        ("acme/pipe", EntryType::Fifo, "neither a file nor a folder"),
        ("acme/long", EntryType::GNULongName, "neither a file nor a folder"),
        ("acme/pax", EntryType::XHeader, "neither a file nor a folder"),
        ("acme/sparse", EntryType::GNUSparse, "neither a file nor a folder"),
        ("acme/registry.yaml", EntryType::Regular, "there twice"),
        ("acme/REGISTRY.yaml", EntryType::Regular, "there twice"),
    ] {
        let (folder, result) = unpacked(&forged(&[good, (path, kind, b"")]));
        let error = result.unwrap_err();
        assert!(error.to_string().contains(problem), "{path:?}: {error}");
        assert_eq!(left(folder.path()), ["into/acme/registry.yaml"], "{path:?}");
        let first = "into/acme/registry.yaml";
        assert_eq!(
            fs::read(folder.path().join(first)).unwrap(),
            b"x",
            "{path:?} overwrote it"
        );
    }
}

#[test]
fn a_file_is_no_folder() {
    let bytes = forged(&[
        ("acme/registry.yaml", EntryType::Regular, b"x"),
        ("acme/registry.yaml/more", EntryType::Regular, b"y"),
    ]);
    let (folder, result) = unpacked(&bytes);
    assert!(matches!(result, Err(ArchiveError::Io(_))), "{result:?}");
    assert_eq!(left(folder.path()), ["into/acme/registry.yaml"]);
}

#[test]
fn what_is_no_package_is_told() {
    let other = forged(&[("acme/readme", EntryType::Regular, b"x")]);
    for bytes in [other, forged(&[])] {
        assert!(matches!(unpacked(&bytes).1, Err(ArchiveError::NoPackage)));
    }
}

#[test]
fn damage_is_found_wherever_it_is() {
    let bytes = packed();
    for cut in 0..bytes.len() {
        assert!(unpacked(&bytes[..cut]).1.is_err(), "cut at {cut} of {}", bytes.len());
    }
    let mut wrong = bytes.clone();
    let check_sum = wrong.len() - 6;
    wrong[check_sum] ^= 1;
    assert!(unpacked(&wrong).1.is_err(), "another check sum");
}

#[test]
fn limits_hold() {
    let names: Vec<String> = (0..=MOST_ENTRIES).map(|index| format!("acme/{index}")).collect();
    let many: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), EntryType::Regular, &b""[..]))
        .collect();
    assert!(matches!(unpacked(&forged(&many)).1, Err(ArchiveError::TooLarge)));
    let folder = tempfile::tempdir().unwrap();
    // More than it may hold by what the header says, and a long tail behind a small package.
    let large = forged(&[("acme/registry.yaml", EntryType::Regular, &[0; 4_096])]);
    assert!(matches!(
        read(&large[..], folder.path(), 4_000),
        Err(ArchiveError::TooLarge)
    ));
    let small = forged(&[("acme/registry.yaml", EntryType::Regular, b"x")]);
    let tail = (&small[..]).chain(io::repeat(0).take(1 << 20));
    let result = read(tail, &folder.path().join("tail"), 1 << 16);
    assert!(matches!(result, Err(ArchiveError::TooLarge)), "{result:?}");
}
