//! The build steps of the bindings besides cargo: `cargo xtask <task>`.

#[cfg(feature = "wasm")]
mod counted;
mod module;
mod notices;
mod portable;
#[cfg(feature = "wasm")]
mod wasm;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        #[cfg(feature = "wasm")]
        ["wasm", profile @ ("dev" | "release")] => wasm::build(profile),
        #[cfg(feature = "wasm")]
        ["counted", from, to] => counted::build(from, to),
        ["portable", module] => portable::build(module),
        ["notices", package, ref options @ ..] => notices::print(package, options),
        _ => Err(
            "usage: cargo xtask wasm dev|release | counted <from> <to> | portable <module> | notices <package> [options of cargo tree]"
                .into(),
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
