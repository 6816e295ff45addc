//! What building the bindings takes beside cargo: `cargo xtask <task>`.

mod panics;
mod unused;
mod wasm;

use std::process::ExitCode;

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    let outcome = match task.as_deref() {
        Some("wasm") => wasm::build(),
        _ => Err("usage: cargo xtask wasm".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
