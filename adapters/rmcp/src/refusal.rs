//! Refusals, for the author's hook and log. The client gets a fixed answer.

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use sealwax::{Error, Inspected, Principal};
use sealwax_mcp::{Profile, Refused, Reply};
use serde_json::Value;
use tracing::field::display;

use crate::Kind;

/// A refusal, as [`GuardBuilder::on_refused`](crate::GuardBuilder::on_refused) reports it. It contains no token
/// and no payload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The code of [`sealwax::Error::code`], `invalid_request`, `unauthenticated`, `not_accepted` or
    /// `accept_unavailable`; with a ledger also `used`, `ended`, `revoked`, `unknown`, `expired`, `stale`,
    /// `ledger_unavailable` or `ledger_unconfirmed`.
    pub code: &'static str,
    /// The kind of token that was to be opened or sealed.
    pub kind: Kind,
    /// The id of the token in hex digits, if there is one. Only the id of an opened token is verified; that of
    /// another one is what the token claims.
    pub token_id: Option<String>,
    /// The method of the request, if there is one.
    pub method: Option<String>,
    /// The tool, the prompt or the resource of the request, as the client named it.
    pub target: Option<String>,
    /// The principal of the request, if it is known.
    pub principal: Option<Principal>,
    /// The reason, for the log.
    pub message: String,
}

impl Refusal {
    /// Makes one of what the engine refused.
    pub(crate) fn new(refused: Refused<'static>) -> Self {
        Self {
            code: refused.code,
            kind: refused.item,
            token_id: refused.id,
            method: None,
            target: refused.target,
            principal: None,
            message: refused.message,
        }
    }

    pub(crate) fn log(&self) {
        // A client chose these, and an issuer may let a user choose the others.
        let parts = self.principal.as_ref().and_then(Principal::parts);
        let part = |part: Option<&str>| part.map(said).map(display);
        tracing::warn!(
            code = self.code,
            kind = self.kind.name(),
            token_id = self.token_id,
            method = part(self.method.as_deref()),
            target = part(self.target.as_deref()),
            issuer = part(parts.and_then(|parts| parts.issuer)),
            client = part(parts.and_then(|parts| parts.client)),
            subject = part(parts.and_then(|parts| parts.subject)),
            "refused: {}",
            self.message
        );
    }
}

/// The known facts about an error that the adapter found.
pub(crate) struct About<'a> {
    pub kind: Kind,
    pub profile: Profile,
    pub token_id: Option<String>,
    pub session_id: Option<&'a str>,
}

impl About<'_> {
    pub(crate) fn new(kind: Kind, profile: Profile) -> Self {
        Self {
            kind,
            profile,
            token_id: None,
            session_id: None,
        }
    }

    /// Returns the refusal to report, and the core's answer.
    pub(crate) fn refused(self, error: &Error) -> (Refusal, Reply) {
        let refusal = Refusal {
            code: error.code(),
            kind: self.kind,
            token_id: self.token_id,
            method: None,
            target: None,
            principal: None,
            message: error.to_string(),
        };
        let answer = self.profile.answer(error, self.session_id);
        (refusal, answer.into())
    }
}

/// Reports an error where no guard can: it is only logged.
pub(crate) fn unprotected(kind: Kind, error: &Error) -> ErrorData {
    About::new(kind, Profile::DataLayer).refused(error).0.log();
    internal()
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
