//! The guard's engine, without an SDK: its transcripts, and what they leave out.
#![cfg(feature = "std")]
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "documents")]
mod documents;
mod exchange;
mod handler;
mod ledger;
#[cfg(feature = "documents")]
mod ledger_vectors;
mod matching;
mod messages;
mod random;
mod transcripts;
mod world;
