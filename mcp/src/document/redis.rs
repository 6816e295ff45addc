//! The store machine with a Redis.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::ledger::command_of;
use super::read::{parse, read};
use super::write;
use crate::ledger::redis::{Answer, Next, Plain, Redis, Send, StoreMachine};
use crate::message::members::is_false;
use sealwax::Error;

/// What a store's client does next: exactly one of `send`, `done`, `unfit` and `failed`.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct StoreStep<'a> {
    /// Send this command, and report its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    send: Option<Vec<Cow<'static, str>>>,
    /// Whether on a connection that others do not wait for, the same for the whole store machine.
    #[serde(skip_serializing_if = "is_false")]
    own: bool,
    /// The ledger's reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<Vec<String>>,
    /// With `done` of a check: send these then, together; their answers do not matter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    load: Vec<[&'static str; 3]>,
    /// With `done`: how later commands of this script may be sent without a store machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    plain: Option<Plain>,
    /// Why the server must not be a ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    unfit: Option<String>,
    /// How it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
    /// Settings that may lose records.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warned: &'a [Cow<'static, str>],
}

/// Begins the store machine about a command, or, of a document without one, a check: see [`Redis::begin`], [`Redis::check`].
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid command.
#[inline(never)]
pub fn machine(redis: &Redis, document: &str) -> Result<(StoreMachine, String), Error> {
    let document = parse(document)?;
    let (machine, next) = match document["script"] {
        Value::Null => redis.check(),
        _ => redis.begin(command_of(&document)?),
    };
    let next = written(&machine, next);
    Ok((machine, next))
}

/// Reports the answer to what was sent: see [`StoreMachine::on`].
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid document.
#[inline(never)]
pub fn answered(machine: &mut StoreMachine, document: &str) -> Result<String, Error> {
    let answer: Answer = read(&parse(document)?)?;
    let next = machine.on(answer);
    Ok(written(machine, next))
}

fn written(machine: &StoreMachine, next: Next) -> String {
    let mut step = StoreStep {
        warned: machine.warned(),
        ..StoreStep::default()
    };
    match next {
        Next::Send(Send { args, own }) => (step.send, step.own) = (Some(args), own),
        Next::Done(reply) => {
            (step.done, step.plain) = (Some(reply), machine.plain());
            step.load = machine.loads();
        }
        Next::Unfit(why) => step.unfit = Some(why),
        Next::Failed(why) => step.failed = Some(why),
    }
    write(&step)
}
