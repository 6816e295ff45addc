//! The build steps of the bindings besides cargo: `cargo xtask <task>`.

mod counted;
mod module;
mod portable;
mod wasm;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["wasm", profile @ ("dev" | "release")] => wasm::build(profile),
        ["counted", from, to] => counted::build(from, to),
        ["portable", module] => portable::build(module),
        _ => Err(
            "usage: cargo xtask wasm dev|release | counted <from> <to> | portable <module>".into(),
        ),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
