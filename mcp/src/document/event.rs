//! Events: the outcomes of steps.

use serde::Deserialize;

use super::read::{self, parse, read};
use super::step;
use crate::exchange::Exchange;
use crate::message::input::{ClientValue, Event, Failed, HandlerResult, Outcome, Scope};
use crate::reply::step::{OUT_OF_ORDER, Question};
use sealwax::{Error, Principal};

/// What became of a delivered message.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Event"))]
#[serde(rename_all = "camelCase")]
pub(super) enum Reported<'a> {
    /// What was delivered failed: what was expected, and the type of what was found.
    Broke(String),
    #[serde(borrow)]
    Result(ResultFacts<'a>),
}

/// A result that the SDK is about to send.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct ResultFacts<'a> {
    #[serde(borrow)]
    members: ResultMembers<'a>,
    /// The SDK leaves no place for `_meta` in it.
    no_meta: bool,
    /// It is a JSON-RPC error.
    error: bool,
}

/// The members that `deliver` asked for, as the result has them.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct ResultMembers<'a> {
    #[serde(borrow)]
    result_type: ClientValue<'a>,
    #[serde(borrow)]
    cache_scope: ClientValue<'a>,
    #[serde(borrow)]
    ttl_ms: ClientValue<'a>,
    #[serde(borrow)]
    request_state: ClientValue<'a>,
    #[serde(borrow)]
    next_cursor: ClientValue<'a>,
}

/// Reports what became of a delivered message. `value` is the whole result of `initialize`, as JSON.
///
/// # Errors
///
/// As [`Exchange::on`], and [`Error::InvalidArgument`] for an invalid event.
#[inline(never)]
pub fn on(exchange: &mut Exchange, document: &str, value: Option<&str>) -> Result<String, Error> {
    let document = parse(document)?;
    let event = match read(&document)? {
        Reported::Broke(why) => Event::Broke(why),
        Reported::Result(result) => Event::Result(result.of(value)),
    };
    reported(exchange, event)
}

/// Reports the answer to what was asked, as JSON, or why there is none.
///
/// # Errors
///
/// As [`Exchange::on`], and [`Error::InvalidArgument`] for a principal that is no JSON.
#[inline(never)]
pub fn told(exchange: &mut Exchange, answer: Result<&str, Failed>) -> Result<String, Error> {
    let event = match exchange.asked().ok_or(OUT_OF_ORDER)? {
        Question::Principal => Event::Principal(match answer {
            Ok(principal) => caller(principal)?,
            Err(failed) => Err(failed),
        }),
        Question::Ledger => Event::Ledger(answer.map(reply)),
        Question::Initial => Event::Begun(answer),
        Question::Confirm => Event::Worded(answer),
        Question::Elicit => Event::Elicited(answer),
        Question::Replay => Event::Replayed(answer),
        Question::Body => return Err(OUT_OF_ORDER),
        Question::ListTools => Event::Listed(answer),
    };
    reported(exchange, event)
}

fn reported(exchange: &mut Exchange, event: Event<'_>) -> Result<String, Error> {
    // An exchange that ends forgets them.
    let fields = exchange.token_fields();
    let step = exchange.on(event)?;
    Ok(step::written(exchange, fields, &step))
}

/// Reads the caller, or that the author's function found none.
fn caller(principal: &str) -> Result<Result<Option<Principal>, Failed>, Error> {
    let found = read::value(principal)?;
    if found.is_null() {
        return Ok(Ok(None));
    }
    let wrong = |error: Error| Failed::Wrong(error.to_string());
    Ok(read::principal(&found).map(Some).map_err(wrong))
}

/// Reads whatever a store replied: what is no text is no reply of a ledger.
fn reply(reply: &str) -> Vec<String> {
    let reply = read::value(reply).unwrap_or_default();
    let items = reply.as_array().into_iter().flatten();
    let texts = items.map(|item| item.as_str().unwrap_or_default());
    texts.map(Into::into).collect()
}

impl<'a> ResultFacts<'a> {
    fn of(self, whole: Option<&'a str>) -> HandlerResult<'a> {
        let members = self.members;
        HandlerResult {
            outcome: match self.error {
                true => Outcome::Error,
                false => Outcome::of(members.result_type),
            },
            // A method has one of them.
            token: match members.request_state {
                ClientValue::Absent => members.next_cursor,
                token => token,
            },
            scope: Scope::of(members.cache_scope),
            has_ttl: members.ttl_ms != ClientValue::Absent,
            no_meta: self.no_meta,
            whole,
        }
    }
}
