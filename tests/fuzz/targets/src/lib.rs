//! What is fuzzed: each target takes any bytes, panics if a promise does not hold, and returns whether the input reached
//! what the target is about, so that a corpus that has grown stale is seen.
//!
//! `../fuzz_targets` runs them under libFuzzer, `tests/replay.rs` on the inputs that are kept, with stable Rust.

mod abi;
#[path = "../../../../tests/codec/alter.rs"]
mod alter;
mod arguments;
mod engine;
mod foreign;
mod leaks;
mod wire;
mod world;

pub use abi::beside;

/// The name of a target, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]) -> bool);

/// All targets, in the order in which they run.
pub const TARGETS: [Target; 5] = [
    ("foreign", foreign::run),
    ("arguments", arguments::run),
    ("engine", engine::run),
    ("wire", wire::run),
    ("abi", abi::run),
];

/// Runs a target by its name.
///
/// # Panics
///
/// If there is none of this name, or a promise does not hold.
pub fn run(name: &str, input: &[u8]) -> bool {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, run) = target.expect("a target");
    run(input)
}

/// Reads an input as a structure; `None` if it is none.
fn read<'a, T: arbitrary::Arbitrary<'a>>(input: &'a [u8]) -> Option<T> {
    T::arbitrary_take_rest(arbitrary::Unstructured::new(input)).ok()
}
