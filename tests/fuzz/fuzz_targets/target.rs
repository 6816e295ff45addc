//! The target that the environment's `TARGET` names.
#![no_main]

use std::sync::LazyLock;

static NAME: LazyLock<String> =
    LazyLock::new(|| std::env::var("TARGET").expect("a target's name in TARGET"));

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    sealwax_fuzz_targets::run(&NAME, input);
});
