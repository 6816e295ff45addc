//! `cargo xtask portable`: the C library as one WebAssembly module, in `build/portable`.
//!
//! `bindings/c/portable.md` describes it. Of the two builds, one takes its cipher from the host.

use std::env;
use std::fs;
use std::process::Command;

use crate::module::{Result, nameless_sources, root, run, wasm_opt};

const TARGET: &str = "wasm32-wasip1";
/// What Node 20, wazero, wasm2go and Endive read. They are listed one by one, because with
/// `--all-features` wasm-opt writes what none of them does.
const FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];
/// Deep documents still get their error and not a trap (bindings/c/tests/portable); Rust takes 1 MiB by default,
/// of which each instance has a copy.
const STACK: usize = 128 << 10;

/// The modules: the file, and whether the host brings the cipher.
const MODULES: [(&str, bool); 2] = [("sealwax-portable.wasm", false), ("sealwax-portable-host.wasm", true)];

/// Builds the modules; in the profile `dev`, which tests have, without the last optimisations.
pub fn build(profile: &str) -> Result<()> {
    let root = root();
    let out = root.join("build/portable");
    fs::create_dir_all(&out)?;
    for (module, host_cipher) in MODULES {
        let mut flags = vec![format!("-Clink-arg=-zstack-size={STACK}")];
        // HotSpot never compiles a method of over 8,000 bytes, as the unrolled SHA-256 is.
        flags.push("--cfg=sha2_backend_soft=\"compact\"".into());
        if host_cipher {
            flags.push("--cfg=sealwax_host_cipher".into());
        }
        flags.extend(nameless_sources()?);
        run(Command::new(env!("CARGO"))
            .current_dir(&root)
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
            .args(["build", "--package=sealwax-c", "--no-default-features"])
            .args(["--profile=portable", "--target", TARGET]))?;
        let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
        let compiled = root.join(target).join(TARGET).join("portable/sealwax.wasm");
        run(wasm_opt().args(FEATURES).args(["-O3", "--strip-target-features"]).arg(compiled).arg("-o").arg(out.join(module)))?;
    }
    Ok(())
}
