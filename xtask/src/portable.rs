//! `cargo xtask portable`: the C library as one WebAssembly module, in `build/portable`.
//!
//! `bindings/c/portable.md` describes it. Of the two builds, one takes its cipher from the host.

use std::process::Command;
use std::{env, fs};

use crate::module::{Result, nameless_sources, root, run, wasm_opt};

const TARGET: &str = "wasm32-wasip1";
/// What Node 20, Wasmtime, wasm2go and Endive read. They are listed one by one, because with
/// `--all-features` wasm-opt writes what none of them does.
const FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];
/// Large functions stay by themselves, even if they are called once: HotSpot compiles none of over 8,000 bytes.
const OPTIMIZED: [&str; 4] = [
    "-O3",
    "--one-caller-inline-max-function-size",
    "200",
    "--strip-target-features",
];
/// Deep documents still get their error and not a trap (bindings/c/tests/portable); Rust takes 1 MiB
/// by default, of which each instance has a copy.
const STACK: usize = 128 << 10;

/// The modules: the file, and whether its host brings the cipher.
const MODULES: [(&str, bool); 2] = [("sealwax-portable", false), ("sealwax-portable-host", true)];

/// Builds the module of this name.
pub fn build(name: &str) -> Result<()> {
    let (_, host_cipher) = MODULES
        .iter()
        .find(|(module, _)| *module == name)
        .ok_or_else(|| format!("expected one of {MODULES:?}, found {name}"))?;
    let root = root();
    let mut flags = vec![
        format!("-Clink-arg=-zstack-size={STACK}"),
        // HotSpot never compiles a method of over 8,000 bytes, as the unrolled SHA-256 is.
        "--cfg=sha2_backend_soft=\"compact\"".to_owned(),
    ];
    if *host_cipher {
        flags.push("--cfg=sealwax_host_cipher".to_owned());
    }
    flags.extend(nameless_sources()?);
    // A folder of its own for each: no other build waits for this one, or takes its place.
    let target = root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()));
    let target = target.join(name);
    run(Command::new(env!("CARGO"))
        .current_dir(&root)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
        .args(["build", "--quiet", "--package=sealwax-c", "--lib"])
        .args(["--no-default-features", "--profile=portable"])
        .args(["--target", TARGET, "--target-dir"])
        .arg(&target))?;
    let out = root.join("build/portable");
    fs::create_dir_all(&out)?;
    run(wasm_opt()
        .args(FEATURES)
        .args(OPTIMIZED)
        .arg(target.join(TARGET).join("portable/sealwax.wasm"))
        .arg("-o")
        .arg(out.join(name).with_extension("wasm")))
}
