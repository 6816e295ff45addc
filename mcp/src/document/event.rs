//! Events: the outcomes of steps.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::read::{self, parse, read};
use super::{NO_DOCUMENT, step};
use crate::exchange::Exchange;
use crate::input::{ClientValue, Event, Failed, HandlerResult, Outcome, Scope};
#[cfg(test)]
use crate::members::PrincipalParts;
use sealwax::Error;

/// The outcome of a step.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Event"))]
#[serde(rename_all = "camelCase")]
pub(super) enum Reported<'a> {
    #[cfg_attr(test, schemars(with = "Caller"))]
    Principal(IgnoredAny),
    #[cfg_attr(test, schemars(with = "OrFailed<Vec<String>>"))]
    Ledger(IgnoredAny),
    #[cfg_attr(test, schemars(with = "OrFailed<Nothing>"))]
    Begun(Nothing),
    NotResumed(String),
    #[serde(borrow)]
    Result(ResultFacts<'a>),
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Nothing {}

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

/// Reports the outcome of the last step. `value` is the first value of a session, or the whole
/// result of `initialize`, as JSON.
///
/// # Errors
///
/// As [`Exchange::on`], and [`Error::InvalidArgument`] for an invalid event.
#[inline(never)]
pub fn on(exchange: &mut Exchange, document: &str, value: Option<&str>) -> Result<String, Error> {
    let document = parse(document)?;
    // An exchange that ends forgets them.
    let fields = exchange.token_fields();
    let step = exchange.on(event(&document, value)?)?;
    Ok(step::written(exchange, fields, &step))
}

fn event<'a>(document: &'a Value, value: Option<&'a str>) -> Result<Event<'a>, Error> {
    let members = document
        .as_object()
        .and_then(|members| members.iter().next());
    let (name, details) = members.ok_or(NO_DOCUMENT)?;
    if let Some(why) = details.get("failed").and_then(Value::as_str) {
        let failed = Failed(why.into());
        return Ok(match name.as_str() {
            "principal" => Event::Principal(Err(failed)),
            "ledger" => Event::Ledger(Err(failed)),
            "begun" => Event::Begun(Err(failed)),
            _ => return Err(NO_DOCUMENT),
        });
    }
    if name == "ledger" {
        // Whatever a store replied: what is no text is no reply of a ledger.
        let items = details.as_array().into_iter().flatten();
        let texts = items.map(|item| item.as_str().unwrap_or_default().into());
        return Ok(Event::Ledger(Ok(texts.collect())));
    }
    Ok(match read(document)? {
        Reported::Principal(_) => Event::Principal(match details.get("nobody") {
            Some(Value::Bool(true)) => Ok(None),
            _ => read::principal(details)
                .map(Some)
                .map_err(|error| Failed(error.to_string())),
        }),
        Reported::Ledger(_) => return Err(NO_DOCUMENT),
        Reported::Begun(Nothing {}) => Event::Begun(Ok(value.ok_or(NO_DOCUMENT)?)),
        Reported::NotResumed(why) => Event::NotResumed(Failed(why)),
        Reported::Result(result) => Event::Result(result.of(value)),
    })
}

impl<'a> ResultFacts<'a> {
    fn of(self, initialized: Option<&'a str>) -> HandlerResult<'a> {
        let members = self.members;
        let members = Members {
            result_type: members.result_type,
            cache_scope: members.cache_scope,
            has_ttl: members.ttl_ms != ClientValue::Absent,
            // A method has one of them.
            token: match members.request_state {
                ClientValue::Absent => members.next_cursor,
                token => token,
            },
        };
        let mut result = members.result();
        if self.error {
            result.outcome = Outcome::Error;
        }
        HandlerResult {
            no_meta: self.no_meta,
            initialized,
            ..result
        }
    }
}

/// The members of a result that `deliver` asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Members<'a> {
    /// `resultType`.
    pub result_type: ClientValue<'a>,
    /// `cacheScope`.
    pub cache_scope: ClientValue<'a>,
    /// Whether there is a `ttlMs`.
    pub has_ttl: bool,
    /// The member that [`TokenFields::result`](crate::TokenFields::result) names.
    pub token: ClientValue<'a>,
}

impl<'a> Members<'a> {
    pub(super) fn result(self) -> HandlerResult<'a> {
        HandlerResult {
            outcome: match self.result_type.text() {
                Some("input_required") => Outcome::InputRequired,
                _ => Outcome::Complete,
            },
            token: self.token,
            scope: match self.cache_scope {
                ClientValue::Absent => None,
                ClientValue::Text("public") => Some(Scope::Public),
                _ => Some(Scope::Private),
            },
            has_ttl: self.has_ttl,
            ..HandlerResult::default()
        }
    }
}

/// A value, or why there is none.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[schemars(untagged, inline)]
#[expect(dead_code, reason = "for its schema")]
enum OrFailed<T> {
    Found(T),
    Failed(Failure),
}

/// The failure of an author's function or of a store, in the adapter's own words.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "for its schema")]
struct Failure {
    failed: String,
}

/// The caller of a request, or that the author's function found none.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[schemars(untagged, inline)]
#[expect(dead_code, reason = "for its schema")]
enum Caller {
    Found(PrincipalParts<'static>),
    Nobody(Nobody),
    Failed(Failure),
}

#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "for its schema")]
struct Nobody {
    nobody: bool,
}
