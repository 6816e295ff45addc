//! What goes to logs and to those who count, beside the steps. Its documents are made and read by hand:
//! derived, that would be 8 kB more of WebAssembly.

use serde_json::{Map, Value};

use super::read::{self, parse};
use super::{NO_DOCUMENT, write};
use crate::exchange::Exchange;
use crate::guard::Guard;
use crate::reply::event::TokenEvent;
use crate::reply::log::{Fault, Origin, Refused};
use crate::reply::step::Item;
use sealwax::Error;

/// Returns an entry of the log.
pub(super) fn entry(refused: Refused<'_>) -> Value {
    let mut document = Document::of(&refused.origin);
    document.put("time", Some(&refused.time));
    document.put("level", Some(refused.level.name()));
    document.put("code", Some(refused.code));
    document.put("kind", Some(refused.item.name()));
    document.put("id", refused.id.as_deref());
    document.put("message", Some(&refused.message));
    document.put("line", Some(&refused.line));
    document.0.into()
}

/// Returns an event.
fn event(event: &TokenEvent) -> Value {
    let mut document = Document::of(&event.origin);
    let key_id = event.key_id.map(|id| id.to_string());
    document.put("event", Some(event.event.name()));
    document.put("kind", Some(event.item.name()));
    document.put("keyId", key_id.as_deref());
    document.put("id", event.id.as_deref());
    if let Some(age) = event.age {
        document.0.insert("age".into(), age.into());
    }
    document.0.into()
}

struct Document(Map<String, Value>);

impl Document {
    fn of(origin: &Origin) -> Self {
        let mut document = Self(Map::new());
        for (name, text) in origin.texts() {
            document.put(name, text);
        }
        if origin.has_custom_method() {
            document.0.insert("customMethod".into(), true.into());
        }
        document
    }

    #[inline(never)]
    fn put(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.0.insert(name.into(), text.into());
        }
    }
}

/// Returns what happened since the last call.
pub(super) fn happened(exchange: &mut Exchange) -> Vec<Value> {
    exchange.events().iter().map(event).collect()
}

/// Returns what happened to tokens since the last step that was a document, as a JSON array: for steps in their short form.
#[must_use]
pub fn events(exchange: &mut Exchange) -> String {
    write(&happened(exchange))
}

/// Returns the entry of the log for a mistake that the adapter found by itself.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid document.
#[inline(never)]
pub fn report(guard: &Guard, document: &str) -> Result<String, Error> {
    let document = parse(document)?;
    let text = |name| text(&document, name);
    let (Some(code), Some(item), Some(message)) = (
        text("code"),
        text("kind").and_then(Item::named),
        text("message"),
    ) else {
        return Err(NO_DOCUMENT);
    };
    let mut fault = Fault::new(item, message);
    fault.id = text("id").map(Into::into);
    let named = |name| text(name).map(Into::into);
    fault.origin = Origin::new(named("method"), named("target"));
    if let Some(principal) = document.get("principal").filter(|one| !one.is_null()) {
        fault.origin.principal = Some(read::principal(principal)?.into());
    }
    Ok(write(&entry(guard.report(code, fault))))
}

#[inline(never)]
fn text<'a>(document: &'a Value, name: &str) -> Option<&'a str> {
    document.get(name).and_then(Value::as_str)
}
