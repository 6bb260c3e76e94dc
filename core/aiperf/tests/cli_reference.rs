//! `docs/cli.md` is made from the flag table and must be what the table says now.

use std::{env, fs, path::Path};

#[test]
fn docs_cli_md_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let fresh = aiperf_config::reference_markdown();
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, &fresh).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == fresh,
        "docs/cli.md is out of date; refresh it with: UPDATE=1 cargo test --release -p aiperf --test cli_reference"
    );
}
