//! `cargo xtask wasm`: the WebAssembly module and its glue, in `build/wasm`.
//!
//! The library wasm-bindgen-cli-support replaces the wasm-bindgen command: it needs no
//! installation, and the lock file keeps it in step with the crate.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use wasm_bindgen_cli_support::Bindgen;

use crate::module::{Result, nameless_sources, root, run, wasm_opt};

const TARGET: &str = "wasm32-unknown-unknown";
/// The features of all supported engines: Node 20, the browsers of its time, workerd. They are
/// listed one by one, because with `--all-features` wasm-opt uses some that Node refuses.
const FEATURES: [&str; 7] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
    "--enable-simd",
];
/// Flattening first saves 2 kB. Keeping values in locals for their next use saves bytes, but costs
/// 0.3 kB compressed; inlining large functions that are called once costs 1.2 kB compressed.
const SMALLER: [&str; 9] = [
    "--skip-pass=local-cse",
    "--one-caller-inline-max-function-size",
    "100",
    "--flatten",
    "--rereloop",
    "-Oz",
    "-Oz",
    "--converge",
    "--strip-target-features",
];

/// The modules: the package, the glue and the file of each.
const MODULES: [[&str; 3]; 2] = [
    ["sealwax-wasm", "raw", "sealwax.wasm"],
    ["sealwax-wasm-command", "command", "command.wasm"],
];

/// Builds the modules in the profile `release`, or `dev` for tests: neither small nor fast, and built
/// in a fifth of the time.
pub fn build(profile: &str) -> Result<()> {
    let root = root();
    let out = root.join("build/wasm");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let compiled = compile(&root, profile)?;
    for [package, glue, module] in MODULES {
        let compiled = compiled.join(format!("{}.wasm", package.replace('-', "_")));
        let mut bound = Bindgen::new()
            .input_path(compiled)
            .out_name(glue)
            .typescript(true)
            .web(true)?
            .omit_default_module_path(true)
            .remove_producers_section(true)
            .generate_output()?;
        bound.emit(&out)?;

        // The glue is given a compiled module and never looks for the file, so the file can have a
        // better name.
        let bound = out.join(format!("{glue}_bg.wasm"));
        let module = out.join(module);
        if profile == "dev" {
            fs::rename(&bound, module)?;
        } else {
            run(wasm_opt()
                .args(FEATURES)
                .args(SMALLER)
                .arg(&bound)
                .arg("-o")
                .arg(module))?;
            fs::remove_file(bound)?;
        }
        fs::remove_file(out.join(format!("{glue}_bg.wasm.d.ts")))?;
    }
    Ok(())
}

/// Compiles the modules, and returns the folder that they are in.
fn compile(root: &Path, profile: &str) -> Result<PathBuf> {
    let (profile, folder) = match profile {
        "dev" => ("dev", "debug"),
        _ => ("wasm", "wasm"),
    };
    let mut flags = vec!["-Ctarget-feature=+simd128".to_owned()];
    flags.extend(nameless_sources()?);
    run(Command::new(env!("CARGO"))
        .current_dir(root)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
        .arg("build")
        .args(MODULES.map(|[package, ..]| format!("--package={package}")))
        .args(["--profile", profile, "--target", TARGET])
        // Without any optimisation, the tests would wait for the module.
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1"))?;
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    Ok(root.join(target).join(TARGET).join(folder))
}
