//! What the command `sealwax` does, without input and output, for the programs that are it: `sealwax`, `npx sealwax` and
//! `python -m sealwax`.
//!
//! A program parses its arguments as `commands.json` says, and begins a [`Run`]. The run says what to read, to ask a store
//! or to write, until it is done; the program does it, and prints. [`document`] is the same by JSON.
//!
//! This crate is for these programs: its functions may change in any release, the command by its changelog.
#![forbid(unsafe_code)]

pub mod document;
mod duration;
mod failure;
mod input;
mod inspect;
mod key_file;
mod keys;
mod ledger;
mod options;
mod run;
mod step;
mod texts;
mod tokens;

pub use run::Run;
pub use step::{Answer, Ask, Done, Request, Step, Write};

/// The commands, their options and their help: what programs build their parsers from.
pub const COMMANDS: &str = include_str!("../commands.json");
