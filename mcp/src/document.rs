//! The engine for other languages: JSON documents in and out (docs/engine.md has their form).
//!
//! Input of a client never makes these functions fail: an unreadable document, such as one with a
//! lone surrogate, is answered as a malformed message. Mistakes of the adapter are errors.

mod event;
mod handle;
mod ledger;
mod message;
mod redis;
mod settings;
mod step;
#[cfg(test)]
mod types;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use event::on;
pub use handle::{fork, handle};
pub use ledger::{judge, run};
pub use message::{message, revoke, transport};
pub use redis::{answered, dialogue};
pub use settings::guard;

use sealwax::Error;

const NO_DOCUMENT: Error = Error::InvalidArgument(std::borrow::Cow::Borrowed(
    "engine: expected a document as docs/engine.md specifies",
));

/// Reads a document: an object. Its nulls are left out, because they mean the same as nothing.
fn parse(document: &str) -> Result<Value, Error> {
    let mut value = serde_json::from_slice(document.as_bytes()).map_err(|_| NO_DOCUMENT)?;
    without_nulls(&mut value);
    match value {
        document @ Value::Object(_) => Ok(document),
        _ => Err(NO_DOCUMENT),
    }
}

fn without_nulls(value: &mut Value) {
    if let Value::Object(members) = value {
        members.retain(|_, member| {
            without_nulls(member);
            !member.is_null()
        });
    }
}

fn read<'a, T: Deserialize<'a>>(document: &'a Value) -> Result<T, Error> {
    T::deserialize(document).map_err(|_| NO_DOCUMENT)
}

/// Writes strings, numbers and structs of these, which always serialize.
fn write(document: &impl Serialize) -> String {
    serde_json::to_string(document).unwrap_or_default()
}
