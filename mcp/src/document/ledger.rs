//! The commands of a ledger.

use std::time::Duration;

use serde_json::Value;

use super::NO_DOCUMENT;
use super::read::{Document, read, texts};
use super::write::Object;
use crate::ledger::{Command, Fitness, Judgement, Memory, Script, Write};
use sealwax::Error;

/// Judges a command in a store's transaction: see [`Command::judge`]. `values` is an array of
/// strings and nulls.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid command, and unless there is one value for each key.
#[inline(never)]
pub fn judge(document: &str, now: u64, values: &str) -> Result<String, Error> {
    let command = command(document)?;
    let values: Vec<Value> = match serde_json::from_slice(values.as_bytes()) {
        Ok(Value::Array(values)) if values.len() == command.keys.len() => values,
        _ => return Err(NO_DOCUMENT),
    };
    let values: Vec<_> = values.iter().map(Value::as_str).collect();
    let Judgement { reply, writes } = command.judge(now, &values);
    let mut object = Object::default();
    object.put("reply", &reply);
    object.list("writes", writes.iter().map(written));
    Ok(object.written())
}

fn written(write: &Write) -> String {
    let mut object = Object::default();
    object.put("key", &*write.key);
    object.put("value", &write.value);
    object.number("until", write.until);
    object.written()
}

/// Returns the fitness of a server according to its `INFO`: arrays of strings, `refused` and
/// `warned`.
#[must_use]
#[inline(never)]
pub fn fitness(info: &str) -> String {
    let Fitness { refused, warned } = Fitness::of(info);
    let mut object = Object::default();
    object.put("refused", &refused);
    object.put("warned", &warned);
    object.written()
}

/// Runs a command on a ledger in memory, at `now` in Unix seconds; returns its reply, as a JSON
/// array.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid command.
#[inline(never)]
pub fn run(memory: &mut Memory, document: &str, now: u64) -> Result<String, Error> {
    let reply = memory.run(&command(document)?, now);
    serde_json::to_string(&reply).map_err(|_| NO_DOCUMENT)
}

pub(super) fn command(document: &str) -> Result<Command, Error> {
    let document = read(document)?;
    let document = Document(&document);
    let script = Script::ALL
        .into_iter()
        .find(|one| Some(one.name()) == document.text("script"));
    let script = script.ok_or(NO_DOCUMENT)?;
    let [keys, args] = ["keys", "args"].map(|name| texts(document.at(name).0));
    let mut command = Command::new(script, keys, args);
    if let Some(within) = document.number("withinMs") {
        command.within = Duration::from_millis(within);
    }
    Ok(command)
}
