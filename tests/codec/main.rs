//! The codec: every vector, properties, deliberate damage, limits, and what its types show.
#![allow(missing_docs, clippy::unwrap_used)]

mod alter;
mod altered;
mod canonical;
mod clones;
#[path = "../common/mod.rs"]
mod common;
mod faults;
mod keys;
#[cfg(not(target_family = "wasm"))]
mod keys_file;
mod limits;
mod messages;
mod nonces;
mod oracle;
mod properties;
mod report;
mod requests;
mod sealers;
mod sessions;
#[cfg(feature = "testing")]
mod testing;
mod vectors;
