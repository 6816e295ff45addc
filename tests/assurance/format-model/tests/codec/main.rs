//! The model's verdicts are the codec's: the same texts, made of real tokens, ids and handles, get the same ones.
#![allow(missing_docs, clippy::unwrap_used)]

mod base32;
mod identifiers;
mod sealed;
mod world;
