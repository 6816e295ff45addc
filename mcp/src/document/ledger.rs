//! The commands of a ledger.

use serde_json::Value;

use super::read::{parse, read};
use super::{NO_DOCUMENT, write};
use crate::ledger::{Command, Memory};
use sealwax::Error;

/// Evaluates a command in a store's transaction: see [`Command::evaluate`]. `values` is an array of
/// strings and nulls.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid command, and unless there is one value for each key.
#[inline(never)]
pub fn evaluate(document: &str, now: u64, values: &str) -> Result<String, Error> {
    let command = command(document)?;
    let values = serde_json::from_slice(values.as_bytes()).map_err(|_| NO_DOCUMENT)?;
    let values: Vec<Option<&str>> = read(&values)?;
    if values.len() != command.keys.len() {
        return Err(NO_DOCUMENT);
    }
    Ok(write(&command.evaluate(now, &values)))
}

/// Runs a command on a ledger in memory, at `now` in Unix seconds; returns its reply, as a JSON
/// array.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid command.
#[inline(never)]
pub fn run(memory: &mut Memory, document: &str, now: u64) -> Result<String, Error> {
    Ok(write(&memory.run(&command(document)?, now)))
}

fn command(document: &str) -> Result<Command, Error> {
    command_of(&parse(document)?)
}

/// Not inlined, as no reader of a document is: the size of the WebAssembly module counts.
#[inline(never)]
pub(super) fn command_of(document: &Value) -> Result<Command, Error> {
    read(document)
}
