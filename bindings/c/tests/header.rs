//! Compares the committed header with the output of cbindgen.

use std::path::Path;

use cbindgen::{Builder, Config};

#[test]
fn the_header_is_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = root.join("include/sealwax.h");
    let config = Config::from_file(root.join("cbindgen.toml")).unwrap();
    let bindings = Builder::new()
        .with_crate(root)
        .with_config(config)
        .generate()
        .unwrap();
    if std::env::var_os("SEALWAX_WRITE_HEADER").is_some() {
        bindings.write_to_file(&header);
    }
    let mut fresh = Vec::new();
    bindings.write(&mut fresh);
    let committed = std::fs::read(header).unwrap_or_default();
    assert!(committed == fresh, "stale header: run `make header`");
}
