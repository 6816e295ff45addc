//! `cargo run -p xtask --bin notices -- <package> [options of cargo tree]`: prints the notices that the licences of
//! a package's dependencies require it to include.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde::Deserialize;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The names of licence files.
const NAMES: [&str; 6] = [
    "copying",
    "copyright",
    "licence",
    "license",
    "notice",
    "unlicense",
];
/// For crates without a licence file, and for the standard library.
const MIT: &str = r#"Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."#;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Crate>,
}

#[derive(Deserialize)]
struct Crate {
    name: String,
    version: String,
    license: Option<String>,
    repository: Option<String>,
    authors: Vec<String>,
    /// `None` for crates of the workspace.
    source: Option<String>,
    manifest_path: PathBuf,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (package, options) = arguments
        .split_first()
        .ok_or("usage: notices <package> [options of cargo tree]")?;
    let used = used(package, options)?;
    let metadata: Metadata = serde_json::from_str(&cargo(&["metadata", "--format-version=1"])?)?;
    let mut listed = Vec::new();
    // Many crates share one text.
    let mut texts = BTreeMap::<String, BTreeSet<String>>::new();
    for one in metadata.packages {
        let named = format!("{} {}", one.name, one.version);
        if one.source.is_none() || !used.contains(&named) {
            continue;
        }
        for text in one.texts()? {
            texts.entry(text).or_default().insert(named.clone());
        }
        let license = one.license.as_deref().unwrap_or("see below");
        let home = one.repository.as_deref().unwrap_or_default();
        listed.push(format!("{named}: {license} {home}").trim_end().to_owned());
    }
    listed.push(
        "the Rust standard library: MIT OR Apache-2.0 https://github.com/rust-lang/rust".into(),
    );
    let standard = format!("Copyright (c) The Rust Project Contributors\n\n{MIT}");
    texts
        .entry(standard)
        .or_default()
        .insert("the Rust standard library".into());
    listed.sort();
    println!(
        "{package} is built from these, under their licences:\n\n{}",
        listed.join("\n")
    );
    for (text, crates) in texts {
        let crates = crates.into_iter().collect::<Vec<_>>().join(", ");
        println!("\n{}\nOf {crates}:\n\n{text}", "-".repeat(80));
    }
    Ok(())
}

/// Returns the crates that the package is built from, as "name version"; `cargo metadata` would
/// list those of the whole workspace.
fn used(package: &str, options: &[&str]) -> Result<BTreeSet<String>> {
    let tree = [
        "tree",
        "--edges=normal",
        "--prefix=none",
        "--format={p}",
        "--package",
        package,
    ];
    Ok(cargo(&[&tree, options].concat())?
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.split_once(" v")?;
            Some(format!("{name} {}", rest.split(' ').next()?))
        })
        .collect())
}

fn cargo(arguments: &[&str]) -> Result<String> {
    let ran = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .output()?;
    if ran.status.success() {
        return Ok(String::from_utf8(ran.stdout)?);
    }
    Err(String::from_utf8_lossy(&ran.stderr).into())
}

impl Crate {
    /// Returns the texts of its licences.
    fn texts(&self) -> Result<Vec<String>> {
        let folder = self
            .manifest_path
            .parent()
            .ok_or("a manifest without a folder")?;
        let mut files = Vec::new();
        find(folder, &mut files)?;
        files.sort();
        let mut texts = Vec::new();
        for file in &files {
            let text = fs::read_to_string(file)?;
            let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
            texts.push(lines.join("\n"));
        }
        let license = self.license.as_deref().unwrap_or_default();
        match texts.is_empty() {
            false => Ok(texts),
            true if license.split([' ', '/']).any(|one| one == "MIT") => {
                let holders = match self.authors.is_empty() {
                    true => format!("the authors of {}", self.name),
                    false => self.authors.join(", "),
                };
                Ok(vec![format!("Copyright (c) {holders}\n\n{MIT}")])
            }
            true => Err(format!(
                "{} {}: expected the text of {license:?}, found none",
                self.name, self.version
            )
            .into()),
        }
    }
}

/// Finds the licence files of a crate, including those of code that it bundles.
fn find(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        if path.is_dir() {
            find(&path, found)?;
        } else if NAMES.iter().any(|one| name.starts_with(one)) && !name.ends_with(".rs") {
            found.push(path);
        }
    }
    Ok(())
}
