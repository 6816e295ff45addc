//! The guard's engine, without an SDK: its transcripts, and what they leave out.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

mod answers;
#[path = "../../../tests/common/mod.rs"]
mod common;
#[cfg(feature = "documents")]
mod documents;
mod exchange;
#[cfg(feature = "documents")]
#[path = "../scenario/frames.rs"]
mod frames;
mod ledger;
#[cfg(feature = "sqlite")]
mod ledger_file;
mod ledger_vectors;
#[cfg(feature = "documents")]
mod machines;
#[cfg(feature = "documents")]
mod wire;
