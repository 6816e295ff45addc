//! Runs every kept input through its target, on stable Rust.

use std::fs;
use std::path::Path;

use sealwax_fuzz_targets::TARGETS;

/// Every nth of the inputs of a target, one a line, in hex.
fn inputs(name: &str, nth: usize) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../inputs")
        .join(name)
        .with_extension("hex");
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .step_by(nth)
        .map(|line| base16ct::lower::decode_vec(line).unwrap())
        .collect()
}

/// Runs inputs of a target, and returns how many reached what they are about.
fn reached<'a>(name: &str, inputs: impl Iterator<Item = &'a Vec<u8>>) -> usize {
    let (_, run) = TARGETS.iter().find(|(found, _)| *found == name).unwrap();
    inputs.filter(|input| run(input)).count()
}

#[test]
#[cfg_attr(miri, ignore = "it takes hours")]
fn kept_inputs_pass_and_reach_what_they_are_about() {
    for (name, _) in TARGETS {
        let inputs = inputs(name, 1);
        let reached = reached(name, inputs.iter());
        println!("{name}: {reached} of {} inputs", inputs.len());
        // Most try what must be refused.
        assert!(reached >= 10, "{name}: {reached}");
    }
}

/// What a fuzzer does first. Of arguments and of altered tokens, many more are tried so.
#[test]
#[cfg_attr(miri, ignore = "it takes hours")]
fn kept_inputs_that_are_changed_pass() {
    for (name, run) in TARGETS {
        let inputs = inputs(name, 1);
        for (at, input) in inputs.iter().enumerate() {
            let other = &inputs[(at + 1) % inputs.len()];
            let Some(place) = at.checked_rem(input.len()) else {
                continue;
            };
            let (before, after) = input.split_at(place);
            run(&[before, &after[1..]].concat());
            run(&[before, &[after[0] ^ 1 << (at % 8)], &after[1..]].concat());
            run(&[before, &other[place.min(other.len())..]].concat());
        }
    }
}

/// The caller of the C ABI's inputs; of these Miri runs every nth.
fn of_the_abi() -> Vec<Vec<u8>> {
    let nth = option_env!("EVERY").map_or(1, |every| every.parse().unwrap());
    inputs("abi", nth)
}

#[test]
fn what_is_called_as_c_calls_it_keeps_to_the_header() {
    assert!(reached("abi", of_the_abi().iter()) > 0);
}

#[test]
fn threads_share_what_the_header_lets_them() {
    sealwax_fuzz_targets::beside(&of_the_abi());
}
