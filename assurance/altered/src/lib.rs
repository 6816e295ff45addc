//! Altered tokens, none of which may open; docs/assurance.md has the figures.
#![allow(
    missing_docs,
    missing_debug_implementations,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::new_without_default,
    reason = "for one program and one test"
)]

pub mod cases;
mod change;
mod elsewhere;
mod expected;
mod random;
mod spelling;
pub mod tally;
pub mod world;
