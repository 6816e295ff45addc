//! What goes to logs and to those who count, beside the steps.

use serde::{Deserialize, Serialize};

use super::read::{parse, read};
use super::write;
use crate::event::{Happened, TokenEvent};
use crate::exchange::Exchange;
use crate::guard::Guard;
use crate::log::Fault;
use crate::members::{PrincipalParts, is_false};
use crate::step::Item;
use sealwax::{Error, Principal};

/// A mistake that an adapter found by itself.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Fault"))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Found<'a> {
    code: &'a str,
    kind: Item,
    message: &'a str,
    #[serde(default)]
    method: Option<&'a str>,
    #[serde(default)]
    target: Option<&'a str>,
    #[serde(default)]
    id: Option<&'a str>,
    #[serde(borrow, default)]
    principal: Option<PrincipalParts<'a>>,
}

/// Something that happened to a token that was not refused.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TokenEvent"))]
#[serde(rename_all = "camelCase")]
pub(super) struct Counted<'a> {
    event: Happened,
    kind: Item,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    age: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    custom_method: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
}

impl<'a> Counted<'a> {
    pub fn all(events: &'a [TokenEvent]) -> Vec<Self> {
        events.iter().map(Self::new).collect()
    }

    fn new(event: &'a TokenEvent) -> Self {
        let named = event.principal.as_deref().and_then(Principal::parts);
        Self {
            event: event.event,
            kind: event.item,
            key_id: event.key_id.map(|id| id.to_string()),
            id: event.id.as_deref(),
            age: event.age,
            method: event.method.as_deref(),
            custom_method: event.custom_method,
            target: event.target.as_deref(),
            issuer: named.and_then(|named| named.issuer),
            client: named.and_then(|named| named.client),
            subject: named.and_then(|named| named.subject),
        }
    }
}

/// Returns what happened to tokens since the last step that was a document, as a JSON array: after
/// [`Next::Deliver`](super::Next::Deliver) and [`Next::Respond`](super::Next::Respond) with a text.
#[must_use]
pub fn events(exchange: &mut Exchange) -> String {
    write(&Counted::all(&exchange.events()))
}

/// Returns the entry of the log for a mistake that the adapter found by itself.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid document.
#[inline(never)]
pub fn report(guard: &Guard, document: &str) -> Result<String, Error> {
    let document = parse(document)?;
    let found: Found<'_> = read(&document)?;
    let principal = found.principal.map(PrincipalParts::principal).transpose()?;
    let fault = Fault {
        method: found.method,
        target: found.target,
        principal: principal.as_ref(),
        id: found.id.map(Into::into),
        ..Fault::new(found.kind, found.message)
    };
    Ok(write(&guard.report(found.code, fault)))
}
