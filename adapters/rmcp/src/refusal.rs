//! Refusals, for the author's hook and log. The client gets a fixed answer.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use sealwax::{Error, Inspected, Principal};
use sealwax_mcp::{Fault, Level, Profile, Refused, Reply};
use serde_json::Value;

use crate::Kind;

/// A refusal, as [`GuardBuilder::on_refused`](crate::GuardBuilder::on_refused) reports it. It contains no token
/// and no payload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The time by the codec's clock: `YYYY-MM-DDTHH:MM:SS.mmmZ`.
    pub time: String,
    /// Whether something was refused, or is out of order.
    pub level: Level,
    /// The code of [`sealwax::Error::code`], `invalid_request`, `unauthenticated` or `unconfirmed`; with a ledger also
    /// `used`, `ended`, `revoked`, `unknown`, `expired`, `stale`, `ledger_unavailable` or `ledger_unconfirmed`.
    pub code: &'static str,
    /// The kind of token that was to be opened or sealed.
    pub kind: Kind,
    /// The id of the token in hex digits, if there is one. Only the id of an opened token is verified; that of
    /// another one is what the token claims.
    pub id: Option<String>,
    /// The method of the request, if there is one.
    pub method: Option<Arc<str>>,
    /// Whether the method is none of the protocol's: a client may have made it up.
    pub custom_method: bool,
    /// The tool, the prompt or the resource of the request, as the client named it.
    pub target: Option<Arc<str>>,
    /// The principal of the request, if it is known.
    pub principal: Option<Arc<Principal>>,
    /// The reason, for the log.
    pub message: String,
    /// All of it but time and level, as one line of ASCII: the same in every language.
    pub line: String,
}

impl Refusal {
    pub(crate) fn new(refused: Refused<'static>) -> Self {
        let custom_method = refused.origin.has_custom_method();
        Self {
            time: refused.time,
            level: refused.level,
            code: refused.code,
            kind: refused.item,
            id: refused.id,
            custom_method,
            method: refused.origin.method,
            target: refused.origin.target,
            principal: refused.origin.principal,
            message: refused.message,
            line: refused.line,
        }
    }
}

/// The known facts about an error that the adapter found.
pub(crate) struct About<'a> {
    pub kind: Kind,
    pub profile: Profile,
    pub id: Option<String>,
    pub session_id: Option<&'a str>,
}

impl About<'_> {
    pub(crate) fn new(kind: Kind, profile: Profile) -> Self {
        Self {
            kind,
            profile,
            id: None,
            session_id: None,
        }
    }

    /// Returns the core's answer, and what is reported.
    pub(crate) fn refused(self, error: &Error) -> (Reply, Fault) {
        let answer = self.profile.answer(error, self.session_id);
        let mut fault = Fault::new(self.kind, error.to_string());
        fault.id = self.id;
        (answer.into(), fault)
    }
}

/// Converts an answer of the engine to rmcp's error.
pub(crate) fn error_data(reply: Reply) -> ErrorData {
    match reply.error {
        Some(error) => {
            let data = error.data.and_then(|data| serde_json::to_value(data).ok());
            ErrorData::new(ErrorCode(error.code), error.message, data)
        }
        None => internal(),
    }
}

/// The internal error.
pub(crate) fn internal() -> ErrorData {
    // That answer has an error, so this recursion ends.
    error_data(Profile::DataLayer.internal_error().into())
}

/// Quotes foreign text for a message: a JSON string of at most 64 characters, in ASCII. The text may repeat what
/// a client sent, which must neither break a line of the log nor fill it.
pub(crate) fn said(text: impl ToString) -> String {
    let text: String = text.to_string().chars().take(64).collect();
    let units = Value::from(text).to_string();
    let ascii = units.encode_utf16().map(|unit| match u8::try_from(unit) {
        Ok(byte @ b' '..=b'~') => char::from(byte).to_string(),
        _ => format!("\\u{unit:04x}"),
    });
    ascii.collect()
}

/// Returns the id that a text claims, if it is a sealed token at all.
pub(crate) fn token_id(token: &str) -> Option<String> {
    match sealwax::inspect(token) {
        Ok(Inspected::Token { token_id, .. }) => Some(token_id.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn foreign_text_neither_breaks_a_line_nor_fills_it() {
        assert_eq!(said("a\n\"b\""), r#""a\n\"b\"""#);
        assert_eq!(said("é\u{2028}😀"), r#""\u00e9\u2028\ud83d\ude00""#);
        assert_eq!(said("x".repeat(1000)), format!("\"{}\"", "x".repeat(64)));
    }
}
