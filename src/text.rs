//! The rule for text fields: at most 1,024 bytes, whatever they name; and for long texts; and our own as JSON.

use alloc::format;
use alloc::string::String;

use serde::Serialize;

use crate::Error;

/// The most bytes of a text field (audience, label, session id, principal, method, target).
pub(crate) const LIMIT: usize = 1024;

/// The most bytes that are looked at of a text off the wire which has no limit of its own.
pub(crate) const WIRE_LIMIT: usize = 2 << 20;

/// Checks a text off the wire before anything is done with it.
pub(crate) fn check_wire(what: &'static str, text: &str) -> Result<(), Error> {
    if text.len() > WIRE_LIMIT {
        return Err(Error::TooLarge {
            what,
            found: text.len(),
            limit: WIRE_LIMIT,
        });
    }
    Ok(())
}

/// Checks a text field that may be empty.
pub(crate) fn check(field: &str, text: &str) -> Result<(), Error> {
    if text.len() > LIMIT {
        let found = text.len();
        return Err(Error::argument(format!(
            "{field}: expected at most {LIMIT} bytes, found {found}"
        )));
    }
    Ok(())
}

/// Checks a text field that must say something.
pub(crate) fn require(field: &str, text: &str) -> Result<(), Error> {
    if text.is_empty() {
        return Err(Error::argument(format!(
            "{field}: expected 1 to {LIMIT} bytes, found none"
        )));
    }
    check(field, text)
}

/// The JSON of one of our own types, structs of texts and numbers, which all have one.
pub(crate) fn json_text<T: Serialize>(ours: &T) -> String {
    serde_json::to_string(ours).unwrap_or_default()
}
