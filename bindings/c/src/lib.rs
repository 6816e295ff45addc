//! The C ABI: translates types and errors, and decides nothing.
//!
//! `include/sealwax.h` is generated from this crate, and its comments are the documentation; the
//! rules for all functions are at its top (`cbindgen.toml`).
#![allow(
    clippy::missing_safety_doc,
    unsafe_op_in_unsafe_fn,
    reason = "an exported function is unsafe throughout: what its caller keeps to is the same everywhere and stands in the header"
)]

// The order of the header.
mod version;

mod status;

mod call;
mod input;
mod output;

mod key;
mod key_ring;

mod codec;
mod view;

mod size;

mod token;

mod identifier;
mod session;

mod machine;

mod ledger;

mod inspect;
mod request;

mod testing;

/// cbindgen:ignore
#[cfg(target_family = "wasm")]
mod portable;

/// cbindgen:ignore
#[cfg(target_family = "wasm")]
mod wiping;

/// cbindgen:ignore
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: wiping::Wiping<std::alloc::System> = wiping::Wiping(std::alloc::System);
