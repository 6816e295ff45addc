//! The folders of `src/` are layers: the format names nothing above it, and the public types name nothing of
//! the protocol.

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

/// The protocol's types that the crate root exports.
const PROTOCOL: [&str; 7] = [
    "Answer",
    "Carried",
    "ErrorData",
    "Profile",
    "RpcError",
    "TextContent",
    "ToolResult",
];

#[test]
fn the_format_names_nothing_above_it() {
    let mut lines = 0;
    let folders = ["src/format", "src/format/cipher"];
    for file in folders.into_iter().flat_map(files) {
        // These only make the format faster; it is complete without them.
        let faster = ["canonical.rs", "by_ring.rs", "by_simd128.rs", "chacha20.rs"];
        if !faster.iter().any(|name| file.ends_with(name)) {
            lines += fs::read_to_string(&file).unwrap().lines().count();
        }
        let words = words(&file);
        assert!(!words.iter().any(|word| word == "crate::"), "{file:?}");
        let climbs = words.windows(3).any(|three| three == ["super::"; 3]);
        assert!(!climbs, "{file:?}");
    }
    assert!(lines <= 1500, "to be read in an evening: {lines} lines");
}

#[test]
fn public_types_do_not_name_the_protocol() {
    let contents = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")).unwrap();
    assert!(contents.contains(&format!("pub use mcp::{{{}}};", PROTOCOL.join(", "))));
    for file in files("src") {
        let is_table_of_contents = file.ends_with("lib.rs");
        for word in words(&file) {
            let names = word == "mcp::" || PROTOCOL.contains(&word.as_str());
            assert!(is_table_of_contents || !names, "{file:?}: {word}");
        }
    }
}
