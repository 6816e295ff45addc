//! The C ABI: types and errors translated, and nothing decided here.
//!
//! `include/sealwax.h` is made from this crate, and its comments are the documentation; the
//! rules that hold for every function stand at its top (`cbindgen.toml`).
#![allow(
    clippy::missing_safety_doc,
    reason = "what a C caller has to keep to is the same everywhere and stands in the header"
)]

// In this order the header shows them.
mod version;

mod status;

mod call;
mod input;
mod output;

mod key;
mod ring;

mod codec;
mod view;

mod size;

mod token;

mod identifier;
mod session;

mod engine;
mod ledger;

mod inspect;
mod request;
