//! The store machine with a file of SQLite.

use serde::Serialize;
use serde_json::Value;

use super::ledger::command_of;
use super::read::parse;
use super::{NO_DOCUMENT, write};
use crate::ledger::sqlite::{Answer, Next, Statement, StoreMachine};
use sealwax::Error;

/// What a file's client does next: exactly one of these.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SqliteStep {
    /// Run these statements, in order, until one fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Vec<Statement>>,
    /// Wait for so many milliseconds, without stopping others.
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<u64>,
    /// The ledger's reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<Vec<String>>,
    /// Why nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

/// Begins the store machine about a command, or about opening a file: see [`StoreMachine`].
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid document.
#[inline(never)]
pub fn sqlite(document: &str) -> Result<(StoreMachine, String), Error> {
    let document = parse(document)?;
    let (machine, next) = match document["script"] {
        Value::Null => StoreMachine::open(document["durable"] != Value::Bool(false)),
        _ => StoreMachine::begin(command_of(&document)?),
    };
    Ok((machine, written(next)))
}

/// Reports what became of the last step: see [`StoreMachine::on`].
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid document.
#[inline(never)]
pub fn sqlite_answered(machine: &mut StoreMachine, document: &str) -> Result<String, Error> {
    let document = parse(document)?;
    let answer = match (&document["error"], &document["rows"]) {
        (Value::String(why), _) => Answer::Error(why.clone()),
        (_, Value::Array(rows)) => {
            let row = |row: &Value| match row {
                Value::Null => Ok(None),
                Value::String(text) => Ok(Some(text.clone())),
                _ => Err(NO_DOCUMENT),
            };
            Answer::Rows(rows.iter().map(row).collect::<Result<_, _>>()?)
        }
        _ => return Err(NO_DOCUMENT),
    };
    Ok(written(machine.on(answer)))
}

fn written(next: Next) -> String {
    let mut step = SqliteStep::default();
    match next {
        Next::Run(statements) => step.run = Some(statements),
        Next::Wait(time) => step.wait = u64::try_from(time.as_millis()).ok(),
        Next::Done(reply) => step.done = Some(reply),
        Next::Failed(why) => step.failed = Some(why),
    }
    write(&step)
}
