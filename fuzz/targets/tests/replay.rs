//! Runs every kept input through its target, on stable Rust.

use std::fs;
use std::path::Path;

use sealwax_fuzz_targets::TARGETS;

/// The inputs of a target, one a line, in hex.
fn inputs(name: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../inputs")
        .join(name)
        .with_extension("hex");
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .map(|line| base16ct::lower::decode_vec(line).unwrap())
        .collect()
}

#[test]
fn kept_inputs_pass_and_reach_what_they_are_about() {
    for (name, run) in TARGETS {
        let inputs = inputs(name);
        let reached = inputs.iter().filter(|input| run(input)).count();
        println!("{name}: {reached} of {} inputs", inputs.len());
        // Most try what must be refused.
        assert!(reached >= 10, "{name}: {reached}");
    }
}
