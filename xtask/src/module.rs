//! What the builds of all modules share.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Binaryen, from npm.
pub fn wasm_opt() -> Command {
    Command::new(root().join("xtask/node_modules/.bin/wasm-opt"))
}

/// Removes the folders of foreign sources from the locations in panics: they reveal where the
/// module was built, and make it differ.
pub fn nameless_sources() -> Result<Vec<String>> {
    let sysroot = Command::new("rustc").arg("--print=sysroot").output()?;
    let sysroot = PathBuf::from(String::from_utf8(sysroot.stdout)?.trim());
    let home = env::var_os("CARGO_HOME").ok_or("CARGO_HOME is not set: run by cargo")?;

    let mut folders = vec![sysroot.join("lib/rustlib/src/rust/library")];
    for registry in fs::read_dir(Path::new(&home).join("registry/src"))? {
        folders.push(registry?.path());
    }
    Ok(folders
        .iter()
        .map(|folder| format!("--remap-path-prefix={}/=", folder.display()))
        .collect())
}

pub fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().display().to_string();
    let status = command
        .status()
        .map_err(|error| format!("{program}: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{program} failed: {status}").into())
    }
}
