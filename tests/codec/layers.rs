//! The format names nothing above it.

use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder).unwrap();
    let files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    assert!(files.len() > 2);
    files
}

/// The words of a file's code without its comments; `::` stays with the word before it.
fn words(file: &Path) -> Vec<String> {
    let code = fs::read_to_string(file).unwrap();
    let code: Vec<_> = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let code = code.join(" ").replace("::", ":: ");
    code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_format_names_nothing_above_it() {
    let mut lines = 0;
    let folders = ["src/format", "src/format/cipher"];
    for file in folders.into_iter().flat_map(files) {
        // These make the format faster, wipe what it leaves, or test it; it is complete without them.
        let beside = [
            "canonical.rs",
            "by_ring.rs",
            "by_simd128.rs",
            "chacha20.rs",
            "wipe.rs",
            "wycheproof.rs",
        ];
        if !beside.iter().any(|name| file.ends_with(name)) {
            lines += fs::read_to_string(&file).unwrap().lines().count();
        }
        let words = words(&file);
        assert!(!words.iter().any(|word| word == "crate::"), "{file:?}");
        let climbs = words.windows(3).any(|three| three == ["super::"; 3]);
        assert!(!climbs, "{file:?}");
    }
    assert!(lines <= 1550, "to be read in an evening: {lines} lines");
}
