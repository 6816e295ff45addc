//! The engine for other languages: JSON documents in and out (docs/engine.md has their form).
//!
//! Input of a client never makes these functions fail: an unreadable document, such as one with a
//! lone surrogate, is answered as a malformed message. Mistakes of the adapter are errors.

mod event;
mod handle;
mod ledger;
mod read;
mod redis;
mod report;
mod revocation;
#[cfg(test)]
mod schemas;
mod settings;
mod sqlite;
mod step;
#[cfg(test)]
mod types;

use serde::Serialize;

pub use event::{on, told};
pub use handle::{fork, handle, link};
pub use ledger::{evaluate, run};
pub use redis::{answered, machine};
pub use report::{events, report};
pub use revocation::revoke;
pub use settings::guard;
pub use sqlite::{sqlite, sqlite_answered};
pub use step::begun;
pub(crate) use step::written;

use sealwax::Error;

const NO_DOCUMENT: Error = Error::InvalidArgument(std::borrow::Cow::Borrowed(
    "engine: expected a document as docs/engine.md specifies",
));

/// Writes strings, numbers and structs of these, which always serialize.
fn write(document: &impl Serialize) -> String {
    serde_json::to_string(document).unwrap_or_default()
}
