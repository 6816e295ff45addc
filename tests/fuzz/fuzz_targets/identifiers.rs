#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    sealwax_fuzz_targets::run("identifiers", input);
});
