//! The limits of text fields, and of ids and handles: 1,024 bytes.

use super::error::Error;

/// The limit of a text field in bytes (audience, label, session id, principal, method, target).
pub(crate) const FIELD_LIMIT: usize = 1024;

/// The limit of an id or a handle in characters; a longer text is not examined.
pub(crate) const IDENTIFIER_LIMIT: usize = 1024;

/// Checks a text field that may be empty.
pub(crate) fn check(field: &str, text: &str) -> Result<(), Error> {
    if text.len() > FIELD_LIMIT {
        let found = text.len();
        return Err(Error::argument(format!(
            "{field}: expected at most {FIELD_LIMIT} bytes, found {found}"
        )));
    }
    Ok(())
}

/// Checks a text field that must not be empty.
pub(crate) fn require(field: &str, text: &str) -> Result<(), Error> {
    if text.is_empty() {
        return Err(Error::argument(format!(
            "{field}: expected 1 to {FIELD_LIMIT} bytes, found none"
        )));
    }
    check(field, text)
}

/// Checks the length of received text, before anything is decoded.
pub(crate) fn at_most(what: &'static str, found: usize, limit: usize) -> Result<(), Error> {
    if found > limit {
        return Err(Error::TooLarge { what, found, limit });
    }
    Ok(())
}
