//! The dialogue with a file of SQLite.

use serde::{Deserialize, Serialize};

use super::read::{parse, read};
use super::write;
use crate::ledger::sqlite::{Answer, Dialogue, Next, Statement};
use sealwax::Error;

/// What is begun: a file is opened, unless there is a command's `script`.
#[derive(Deserialize)]
struct Begin {
    /// Whether an answered command survives a loss of power: it does if this is absent.
    durable: Option<bool>,
    script: Option<String>,
}

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

/// Begins the dialogue about a command, or about opening a file: see [`Dialogue`].
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid document.
#[inline(never)]
pub fn sqlite(document: &str) -> Result<(Dialogue, String), Error> {
    let document = parse(document)?;
    let Begin { durable, script } = read(&document)?;
    let (dialogue, next) = match script {
        Some(_) => Dialogue::begin(read(&document)?),
        None => Dialogue::open(durable != Some(false)),
    };
    Ok((dialogue, written(next)))
}

/// Reports what became of the last step: see [`Dialogue::on`].
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid document.
#[inline(never)]
pub fn sqlite_answered(dialogue: &mut Dialogue, document: &str) -> Result<String, Error> {
    let answer: Answer = read(&parse(document)?)?;
    Ok(written(dialogue.on(answer)))
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
