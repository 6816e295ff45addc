//! Why something was refused: for the author's hook and log. The client gets the fixed answer.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use sealwax::{Answer, Error, Inspected, Principal, Profile, RpcError};

use serde_json::{Value, json};

use crate::{Guard, Kind};

/// What the hook of [`GuardBuilder::on_refused`](crate::GuardBuilder::on_refused) is told. It
/// holds no token and no payload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The code of [`sealwax::Error::code`], or `not_accepted` or `accept_unavailable`.
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

/// Why, and whose fault: which decides the answer.
#[derive(Debug)]
pub(crate) enum Reason {
    /// The core's word; a refusal of what came, or a mistake of ours.
    Error(Error),
    /// What was to leave could not be sealed: never the client's fault.
    NotSealed(Error),
    /// The author's `accept` said no.
    NotAccepted,
    /// The author's `accept` failed or was too late.
    AcceptUnavailable(Cow<'static, str>),
}

impl From<Error> for Reason {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Reason {
    fn code(&self) -> &'static str {
        match self {
            Self::Error(error) | Self::NotSealed(error) => error.code(),
            Self::NotAccepted => "not_accepted",
            Self::AcceptUnavailable(_) => "accept_unavailable",
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Error(error) => error.to_string(),
            Self::NotSealed(error) => format!("not sealed: {error}"),
            Self::NotAccepted => "used, or ended: accept said no".into(),
            Self::AcceptUnavailable(why) => format!("accept: {why}"),
        }
    }

    pub(crate) fn answer(&self, profile: Profile, session_id: Option<&str>) -> Answer {
        match self {
            Self::Error(error) => error.answer(profile, session_id),
            Self::NotAccepted => profile.refusal(session_id),
            Self::NotSealed(_) | Self::AcceptUnavailable(_) => profile.internal_error(),
        }
    }
}

/// What a refusal is about, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct About<'a> {
    pub principal: Option<&'a Principal>,
    /// The text that came, to read the token id from.
    pub token: Option<&'a str>,
    /// The id of what was opened.
    pub token_id: Option<String>,
}

impl Guard {
    /// Tells the log and the hook, and gives the answer.
    pub(crate) fn refuse(&self, kind: Kind, reason: &Reason, about: About<'_>) -> Answer {
        self.refuse_as(kind, kind.profile(), None, reason, about)
    }

    /// In the words of `profile`, which may repeat the session id that came.
    pub(crate) fn refuse_as(
        &self,
        kind: Kind,
        profile: Profile,
        session_id: Option<&str>,
        reason: &Reason,
        about: About<'_>,
    ) -> Answer {
        let refusal = Refusal {
            code: reason.code(),
            kind,
            token_id: about.token_id.or_else(|| token_id(about.token?)),
            principal: about.principal.cloned(),
            message: reason.message(),
        };
        log(&refusal);
        if let Some(hook) = &self.settings().on_refused
            && catch_unwind(AssertUnwindSafe(|| hook(&refusal))).is_err()
        {
            tracing::error!("on_refused panicked; the answer is the same");
        }
        reason.answer(profile, session_id)
    }
}

pub(crate) fn log(refusal: &Refusal) {
    tracing::warn!(
        code = refusal.code,
        kind = refusal.kind.name(),
        token_id = refusal.token_id,
        "refused: {}",
        refusal.message
    );
}

/// The whole message, where no rmcp sends it.
pub(crate) fn rpc_error(id: &Value, error: &ErrorData) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

/// The answer to a request to end what nothing would remember to have ended.
pub(crate) fn method_not_found() -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Method not found", None)
}

/// What rmcp sends for it.
pub(crate) fn error_data(answer: Answer) -> ErrorData {
    match answer {
        Answer::Error(RpcError {
            code,
            message,
            data,
            ..
        }) => {
            let data = data.and_then(|data| serde_json::to_value(data).ok());
            ErrorData::new(ErrorCode(code), message, data)
        }
        _ => ErrorData::internal_error("Internal error", None),
    }
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

fn token_id(token: &str) -> Option<String> {
    match sealwax::inspect(token) {
        Ok(Inspected::Token { token_id, .. }) => Some(token_id.to_string()),
        _ => None,
    }
}
