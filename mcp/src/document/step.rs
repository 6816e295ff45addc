//! Steps, with the refusals on the way.

use serde::Serialize;
use serde_json::Value;

use super::report::{entry, happened};
use super::write;
use crate::exchange::Exchange;
use crate::ledger::Script;
use crate::message::members::{Millis, is_false};
use crate::message::token_fields::TokenFields;
use crate::reply::set::Set;
use crate::reply::step::{Called, Deliver, Elicitation, HandleResult, Question, Reply, Step};
use crate::request::session::Session;
use sealwax::Kind;

/// A step, and the refusals on the way.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Step"))]
pub(super) struct Document<'a> {
    #[serde(flatten)]
    step: Next<'a>,
    /// Of `deliver`: the members of the result to hand over.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    members: &'static [&'static str],
    /// The members to set: of `params` if it is `deliver`, of the result if it is `respond`. Paths, and their values.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<(Vec<String>, serde_json::Value)>"))]
    set: Vec<Set<'a>>,
    /// Of `deliver`: to report the whole result.
    #[serde(skip_serializing_if = "is_false")]
    whole: bool,
    /// Of `deliver`.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<OpenedSession<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<super::schemas::Refused>"))]
    refused: Vec<Value>,
    /// What happened to tokens that were not refused.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<super::schemas::TokenEvent>"))]
    events: Vec<Value>,
}

/// What an adapter does next.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(
    tag = "step",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
enum Next<'a> {
    Ask {
        name: Question,
        // A command for the ledger, without `flatten`: that is more code than these four.
        #[serde(skip_serializing_if = "Option::is_none")]
        script: Option<Script>,
        #[serde(skip_serializing_if = "Option::is_none")]
        keys: Option<&'a [String]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        args: Option<&'a [String]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<&'a Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        within_ms: Option<u64>,
    },
    Deliver(&'a Deliver),
    Respond {
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(
            test,
            schemars(with = "Option<std::collections::BTreeMap<String, String>>")
        )]
        headers: Option<Headers<'a>>,
    },
    Reply(&'a Reply),
    Done(&'a HandleResult),
    Drop,
    /// A line that was the SDK's answer to `replay`.
    Replayed,
}

/// The data-layer session of a request. Where the server holds its value, that is null.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OpenedSession<'a> {
    id: &'a str,
    ulid: String,
    generation: u32,
    value: Option<&'a str>,
}

impl<'a> OpenedSession<'a> {
    fn new(session: &'a Session) -> Self {
        Self {
            id: session.id(),
            ulid: session.ulid(),
            generation: session.generation(),
            value: session.value(),
        }
    }
}

/// Returns what an exchange begins with: its first step as a document, together with the refusals on the way.
#[must_use]
#[inline(never)]
pub fn begun((mut exchange, step): (Exchange, Step)) -> (Exchange, String) {
    let fields = exchange.token_fields();
    let step = written(&mut exchange, fields, &step);
    (exchange, step)
}

/// Returns a step as a document. `fields` are those of the exchange before the step, which may have ended it.
pub(crate) fn written(exchange: &mut Exchange, fields: Option<TokenFields>, step: &Step) -> String {
    let refused = exchange.refused().into_iter().map(entry).collect();
    let events = happened(exchange);
    let (mut members, mut session) = (&[][..], None);
    let (mut set, mut whole) = (Vec::new(), false);
    let called = exchange.called();
    let params = match step {
        Step::Word(called) => Some(called.params()),
        Step::Elicit(elicitation) => Some(elicitation.params.clone()),
        Step::List(list) => list.params(),
        _ => None,
    };
    let step = match (step, step.asks()) {
        (step, Some(name)) => ask(name, step, params.as_ref()),
        (Step::Deliver(delivered), _) => {
            members = fields.map_or(&[], self::members);
            session = exchange.session().map(OpenedSession::new);
            set = called.as_ref().map(Called::set).unwrap_or_default();
            whole = exchange.reports_whole();
            Next::Deliver(delivered)
        }
        (Step::Respond(respond), _) => {
            set = respond.set(fields);
            let header = respond.header.as_deref();
            Next::Respond {
                headers: header.map(|session_id| Headers { session_id }),
            }
        }
        (Step::Reply(reply), _) => Next::Reply(reply),
        (Step::Done(made), _) => Next::Done(made),
        (Step::Replayed, _) => Next::Replayed,
        _ => Next::Drop,
    };
    Document {
        step,
        members,
        set,
        whole,
        session,
        refused,
        events,
    }
    .written()
}

fn ask<'a>(name: Question, step: &'a Step, params: Option<&'a Value>) -> Next<'a> {
    let (command, within) = match step {
        Step::Ledger(command) => (Some(command), Some(command.within)),
        Step::Elicit(_) => (None, Some(Elicitation::WITHIN)),
        Step::List(list) => (None, Some(list.within)),
        _ => (None, None),
    };
    Next::Ask {
        name,
        script: command.map(|command| command.script),
        keys: command.map(|command| &*command.keys),
        args: command.map(|command| &*command.args),
        params,
        within_ms: within.map(Millis::of),
    }
}

impl Document<'_> {
    /// Large by itself, so it is never inlined (see `Exchange::take`).
    #[inline(never)]
    fn written(&self) -> String {
        write(self)
    }
}

/// Returns the members of the result that the engine reads. A message without token fields has none.
fn members(fields: TokenFields) -> &'static [&'static str] {
    match fields.kind {
        Kind::RequestState => &["resultType", "cacheScope", "ttlMs", "requestState"],
        _ => &["resultType", "cacheScope", "ttlMs", "nextCursor"],
    }
}

#[derive(Serialize)]
struct Headers<'a> {
    #[serde(rename = "Mcp-Session-Id")]
    session_id: &'a str,
}
