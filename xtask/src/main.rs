//! What building the bindings takes beside cargo: `cargo xtask <task>`.

fn main() {}
