//! Why something was refused: for the author's hook and log. The client gets the fixed answer.

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use sealwax::mcp::Reply;
use sealwax::{Error, Inspected, Principal, Profile};
use serde_json::Value;

use crate::Kind;

/// What the hook of [`GuardBuilder::on_refused`](crate::GuardBuilder::on_refused) is told. It
/// holds no token and no payload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The code of [`sealwax::Error::code`], `not_accepted` or `accept_unavailable`;
    /// of a ledger `used`, `ended`, `revoked`, `unknown`, `expired`, `stale`, `ledger_unavailable` or
    /// `ledger_unconfirmed`.
    pub code: &'static str,
    /// What was to be opened or sealed.
    pub kind: Kind,
    /// The id of the token, in hex digits, where it can be told. Only an opened token is known to
    /// be ours; of others this is what they say.
    pub token_id: Option<String>,
    /// The principal of the request, where it is known.
    pub principal: Option<Principal>,
    /// The reason, for a log.
    pub message: String,
}

impl Refusal {
    pub(crate) fn log(&self) {
        tracing::warn!(
            code = self.code,
            kind = self.kind.name(),
            token_id = self.token_id,
            "refused: {}",
            self.message
        );
    }
}

/// What is known of what the adapter itself found wrong.
pub(crate) struct About<'a> {
    pub kind: Kind,
    pub profile: Profile,
    pub principal: Option<&'a Principal>,
    pub token_id: Option<String>,
    pub session_id: Option<&'a str>,
}

impl<'a> About<'a> {
    pub(crate) fn new(kind: Kind, profile: Profile, principal: Option<&'a Principal>) -> Self {
        Self {
            kind,
            profile,
            principal,
            token_id: None,
            session_id: None,
        }
    }

    pub(crate) fn refusal(self, error: &Error) -> Refusal {
        Refusal {
            code: error.code(),
            kind: self.kind,
            token_id: self.token_id,
            principal: self.principal.cloned(),
            message: error.to_string(),
        }
    }
}

/// What rmcp sends for an answer of the engine's.
pub(crate) fn error_data(reply: Reply) -> ErrorData {
    match reply.error {
        Some(error) => {
            let data = error.data.and_then(|data| serde_json::to_value(data).ok());
            ErrorData::new(ErrorCode(error.code), error.message, data)
        }
        None => internal(),
    }
}

/// The server's own trouble.
pub(crate) fn internal() -> ErrorData {
    // Which has an error, so this ends.
    error_data(Profile::DataLayer.internal_error().into())
}

/// Foreign text for a message: a JSON string of 64 characters at most, in ASCII. It may repeat what a
/// client sent, which must neither end a line of a log nor fill it.
pub(crate) fn said(text: impl ToString) -> String {
    let text: String = text.to_string().chars().take(64).collect();
    let json = Value::from(text).to_string();
    let mut ascii = String::with_capacity(json.len());
    for character in json.chars() {
        if matches!(character, ' '..='~') {
            ascii.push(character);
        } else {
            let units = &mut [0; 2];
            for unit in character.encode_utf16(units) {
                ascii.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    ascii
}

/// The id that a text claims, if it is a sealed token at all.
pub(crate) fn token_id(token: &str) -> Option<String> {
    match sealwax::inspect(token) {
        Ok(Inspected::Token { token_id, .. }) => Some(token_id.to_string()),
        _ => None,
    }
}
