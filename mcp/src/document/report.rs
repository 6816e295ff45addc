//! What goes to logs and to those who count, beside the steps. Its documents are made and read by hand:
//! derived, that would be 8 kB more of WebAssembly.

use serde_json::{Map, Value};

use super::read::{Reader, parse};
use super::{NO_DOCUMENT, write};
use crate::event::TokenEvent;
use crate::exchange::Exchange;
use crate::guard::Guard;
use crate::log::{Fault, Refused};
use crate::members::PrincipalParts;
use crate::step::Item;
use sealwax::{Error, Principal};

/// Returns an entry of the log.
pub(super) fn entry(refused: Refused<'_>) -> Value {
    object(
        &[
            ("time", Some(&refused.time)),
            ("level", Some(refused.level.name())),
            ("code", Some(refused.code)),
            ("kind", Some(refused.item.name())),
            ("method", refused.method.as_deref()),
            ("target", refused.target.as_deref()),
            ("issuer", refused.issuer.as_deref()),
            ("client", refused.client.as_deref()),
            ("subject", refused.subject.as_deref()),
            ("id", refused.id.as_deref()),
            ("message", Some(&refused.message)),
            ("line", Some(&refused.line)),
        ],
        refused.custom_method,
    )
    .into()
}

/// Returns an event.
pub(super) fn event(event: &TokenEvent) -> Value {
    let named = event.principal.as_deref().and_then(Principal::parts);
    let key_id = event.key_id.map(|id| id.to_string());
    let mut document = object(
        &[
            ("event", Some(event.event.name())),
            ("kind", Some(event.item.name())),
            ("keyId", key_id.as_deref()),
            ("id", event.id.as_deref()),
            ("method", event.method.as_deref()),
            ("target", event.target.as_deref()),
            ("issuer", named.and_then(|named| named.issuer)),
            ("client", named.and_then(|named| named.client)),
            ("subject", named.and_then(|named| named.subject)),
        ],
        event.custom_method,
    );
    if let Some(age) = event.age {
        document.insert("age".into(), age.into());
    }
    document.into()
}

fn object(texts: &[(&str, Option<&str>)], custom_method: bool) -> Map<String, Value> {
    let mut object = Map::new();
    for (name, text) in texts {
        if let Some(text) = text {
            object.insert((*name).into(), (*text).into());
        }
    }
    if custom_method {
        object.insert("customMethod".into(), true.into());
    }
    object
}

/// Returns what happened to tokens since the last step that was a document, as a JSON array: after
/// [`Next::Deliver`](super::Next::Deliver) and [`Next::Respond`](super::Next::Respond) with a text.
#[must_use]
pub fn events(exchange: &mut Exchange) -> String {
    let events: Vec<_> = exchange.events().iter().map(event).collect();
    write(&events)
}

/// Returns the entry of the log for a mistake that the adapter found by itself.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid document.
#[inline(never)]
pub fn report(guard: &Guard, document: &str) -> Result<String, Error> {
    let document = parse(document)?;
    let text = |name: &str| document.get(name).and_then(Value::as_str);
    let (Some(code), Some(item), Some(message)) = (
        text("code"),
        text("kind").and_then(Item::named),
        text("message"),
    ) else {
        return Err(NO_DOCUMENT);
    };
    let principal = document.get("principal").filter(|one| !one.is_null());
    let principal = principal.map(|one| PrincipalParts::read(Reader(one)));
    let principal = principal.transpose()?;
    let fault = Fault {
        method: text("method"),
        target: text("target"),
        principal: principal.as_ref(),
        id: text("id").map(Into::into),
        ..Fault::new(item, message)
    };
    Ok(write(&entry(guard.report(code, fault))))
}

/// The documents' types.
#[cfg(test)]
pub(super) mod types {
    use schemars::JsonSchema;

    use crate::event::Happened;
    use crate::members::PrincipalParts;
    use crate::step::Item;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "for its schema")]
    pub struct Fault {
        code: String,
        kind: Item,
        message: String,
        method: Option<String>,
        target: Option<String>,
        id: Option<String>,
        principal: Option<PrincipalParts<'static>>,
    }

    #[derive(JsonSchema)]
    #[schemars(rename_all = "camelCase")]
    #[expect(dead_code, reason = "for its schema")]
    pub struct TokenEvent {
        event: Happened,
        kind: Item,
        #[schemars(skip_serializing_if = "Option::is_none")]
        key_id: Option<String>,
        #[schemars(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        #[schemars(skip_serializing_if = "Option::is_none")]
        age: Option<u64>,
        #[schemars(skip_serializing_if = "Option::is_none")]
        method: Option<String>,
        #[schemars(skip_serializing_if = "is_false")]
        custom_method: bool,
        #[schemars(skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        #[schemars(skip_serializing_if = "Option::is_none")]
        issuer: Option<String>,
        #[schemars(skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        #[schemars(skip_serializing_if = "Option::is_none")]
        subject: Option<String>,
    }
}
