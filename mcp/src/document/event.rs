//! Events: the outcomes of steps.

use serde::Deserialize;
use serde_json::{Map, Value};

#[cfg(test)]
use super::types;
use super::{NO_DOCUMENT, parse, read, step};
use crate::exchange::Exchange;
use crate::input::{ClientValue, Event, Failed, HandlerResult, Outcome, Scope, Updated, Verdict};
use crate::members::PrincipalParts;
use sealwax::Error;

/// The outcome of a step.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Event"))]
#[serde(rename_all = "camelCase")]
pub(super) enum Reported {
    #[cfg_attr(test, schemars(with = "types::Caller"))]
    Principal(Value),
    #[cfg_attr(test, schemars(with = "types::OrFailed<Answer>"))]
    Answer(Value),
    #[cfg_attr(test, schemars(with = "types::OrFailed<Vec<String>>"))]
    Ledger(Value),
    #[cfg_attr(test, schemars(with = "types::OrFailed<Again>"))]
    Updated(Value),
    #[cfg_attr(test, schemars(with = "types::OrFailed<Nothing>"))]
    Begun(Value),
    NotResumed(String),
    Result(ResultFacts),
}

/// The failure of an author's function or of a store, in the adapter's own words.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Failure {
    failed: String,
}

/// The author's answer; `no`: the place among those asked for.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
enum Answer {
    Yes,
    No(usize),
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Nothing {}

/// The author's functions were applied; `result` where it was made again.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Again {
    result: Option<ResultFacts>,
}

/// A result that the SDK is about to send.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct ResultFacts {
    /// Those that `deliver` asked for, as values of a client.
    #[cfg_attr(
        test,
        schemars(with = "std::collections::BTreeMap<String, types::ClientText>")
    )]
    members: Map<String, Value>,
    /// The SDK leaves no place for `_meta` in it.
    no_meta: bool,
    /// It is a JSON-RPC error.
    error: bool,
}

/// Reports the outcome of the last step. `value` is the first value of a session, or the whole
/// result of `initialize`, as JSON.
///
/// # Errors
///
/// As [`Exchange::on`], and [`Error::InvalidArgument`] for an invalid event.
#[inline(never)]
pub fn on(exchange: &mut Exchange, document: &str, value: Option<&str>) -> Result<String, Error> {
    let facts;
    let event = match read(&parse(document)?)? {
        Reported::Principal(found) => Event::Principal(caller(&found)),
        Reported::Answer(found) => Event::Answer(match or_failed(&found)? {
            Ok(Answer::Yes) => Verdict::Yes,
            Ok(Answer::No(at)) => Verdict::No(at),
            Err(failed) => Verdict::Unavailable(failed),
        }),
        Reported::Ledger(found) => Event::Ledger(or_failed(&found)?),
        Reported::Updated(found) => Event::Updated(match or_failed::<Again>(&found)? {
            Ok(Again { result }) => {
                facts = result;
                Ok(Updated {
                    value: value.ok_or(NO_DOCUMENT)?,
                    result: facts.as_ref().map(|facts| facts.read(exchange, None)),
                })
            }
            Err(failed) => Err(failed),
        }),
        Reported::Begun(found) => Event::Begun(match or_failed(&found)? {
            Ok(Nothing {}) => Ok(value.ok_or(NO_DOCUMENT)?),
            Err(failed) => Err(failed),
        }),
        Reported::NotResumed(why) => Event::NotResumed(Failed(why)),
        Reported::Result(result) => {
            facts = Some(result);
            Event::Result(
                facts
                    .as_ref()
                    .map_or_else(HandlerResult::default, |facts| facts.read(exchange, value)),
            )
        }
    };
    let step = exchange.on(event)?;
    Ok(step::written(exchange, step))
}

fn or_failed<'a, T: Deserialize<'a>>(found: &'a Value) -> Result<Result<T, Failed>, Error> {
    match read(found) {
        Ok(Failure { failed }) => Ok(Err(Failed(failed))),
        Err(_) => read(found).map(Ok),
    }
}

/// Reads the caller that the author's function found; `nobody` where it found none.
fn caller(found: &Value) -> Result<Option<sealwax::Principal>, Failed> {
    if let Ok(Failure { failed }) = read(found) {
        return Err(Failed(failed));
    }
    if found.get("nobody") == Some(&Value::Bool(true)) {
        return Ok(None);
    }
    let principal = PrincipalParts::read(found);
    principal
        .map(Some)
        .map_err(|error| Failed(error.to_string()))
}

impl ResultFacts {
    fn read<'a>(&'a self, exchange: &Exchange, initialized: Option<&'a str>) -> HandlerResult<'a> {
        let member = |name: &str| {
            self.members
                .get(name)
                .map_or(ClientValue::Absent, Into::into)
        };
        HandlerResult {
            outcome: match member("resultType").text() {
                _ if self.error => Outcome::Error,
                Some("input_required") => Outcome::InputRequired,
                _ => Outcome::Complete,
            },
            token: exchange
                .token_fields()
                .map_or(ClientValue::Absent, |fields| member(fields.result)),
            scope: match member("cacheScope") {
                ClientValue::Absent => None,
                ClientValue::Text("public") => Some(Scope::Public),
                _ => Some(Scope::Private),
            },
            has_ttl: member("ttlMs") != ClientValue::Absent,
            no_meta: self.no_meta,
            initialized,
        }
    }
}
