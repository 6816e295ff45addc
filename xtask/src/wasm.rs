//! `cargo xtask wasm`: the WebAssembly module and its glue, in `build/wasm`.
//!
//! The library wasm-bindgen-cli-support replaces the wasm-bindgen command: it needs no
//! installation, and the lock file keeps it in step with the crate.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use walrus::{FunctionBuilder, Module, ValType};
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

/// What seals and opens tokens: one call each, which checks the stack first.
const CHECKED: [&str; 3] = ["requestContext", "view_open", "view_seal"];
/// Room on the stack, in calls of `checkStack`: as `pkg/src/module.ts` has it.
const ROOM: i32 = 32;
/// Returned by a module that an earlier fault ended (`bindings/wasm/src/shared.rs`).
const ENDED: i32 = -2;

/// Has an export check the stack before anything else. In Rust the check would come too late: what borrows the object and
/// moves the stack pointer would have begun.
fn check_stack(module: &mut Module, name: &str) -> Result<()> {
    let check = module.exports.get_func("checkStack")?;
    let inner = module.exports.get_func(name)?;
    let kind = module.types.get(module.funcs.get(inner).ty());
    let (params, results) = (kind.params().to_vec(), kind.results().to_vec());
    let given: Vec<_> = params.iter().map(|of| module.locals.add(*of)).collect();
    let mut outer = FunctionBuilder::new(&mut module.types, &params, &results);
    let mut body = outer.func_body();
    body.i32_const(ROOM).call(check).if_else(
        ValType::I32,
        |inside| {
            for one in &given {
                inside.local_get(*one);
            }
            inside.call(inner);
        },
        |ended| {
            ended.i32_const(ENDED);
        },
    );
    let outer = outer.finish(given, &mut module.funcs);
    module.exports.remove(name)?;
    module.exports.add(name, outer);
    Ok(())
}

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
        if package == "sealwax-wasm" {
            for export in CHECKED {
                check_stack(bound.wasm_mut(), export)?;
            }
        }
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
