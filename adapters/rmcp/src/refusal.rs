//! What an author gets where something was refused, and what the client hears of it.

use std::fmt;

use http::StatusCode;
use rmcp::ErrorData;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorCode};
use sealwax_mcp::{Profile, Reply};

use crate::Kind;

/// The error of a tool whose handle was refused: the fixed tool result, which tells the model what to do.
///
/// The reason has gone to the hook and the log. A tool written without rmcp's macros converts it into its
/// `CallToolResult`; outside of tools it is an [`ErrorData`].
pub struct HandleRefused(Reply);

impl HandleRefused {
    pub(crate) fn new(reply: Reply) -> Self {
        Self(reply)
    }

    fn text(&self) -> &str {
        let tool = self.0.tool.as_ref();
        tool.map_or("", |tool| &tool.content[0].text)
    }
}

impl From<HandleRefused> for CallToolResult {
    fn from(refused: HandleRefused) -> Self {
        Self::error(vec![ContentBlock::text(refused.text())])
    }
}

impl From<HandleRefused> for CallToolResponse {
    fn from(refused: HandleRefused) -> Self {
        Self::Complete(refused.into())
    }
}

impl From<HandleRefused> for ErrorData {
    fn from(refused: HandleRefused) -> Self {
        error_data(refused.0)
    }
}

impl IntoCallToolResult for HandleRefused {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        Ok(self.into())
    }
}

impl fmt::Display for HandleRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Debug for HandleRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HandleRefused({:?})", self.text())
    }
}

impl std::error::Error for HandleRefused {}

/// A link was refused, or the server failed. Only the guard's log learns the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkRefused {
    /// The status for the browser: 404, or 500 if the fault is the server's.
    pub status: StatusCode,
}

impl LinkRefused {
    pub(crate) fn new(status: Option<u16>) -> Self {
        let status = status.and_then(|status| StatusCode::from_u16(status).ok());
        Self {
            status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}

impl fmt::Display for LinkRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.status.is_server_error() {
            true => "Internal server error",
            false => "Not found",
        })
    }
}

impl std::error::Error for LinkRefused {}

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

    pub(crate) fn id(self, id: Option<String>) -> Self {
        Self { id, ..self }
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

#[cfg(test)]
mod tests {
    use rmcp::model::CallToolResult;
    use sealwax_mcp::{Profile, Reply};

    use super::HandleRefused;

    /// rmcp's macros say so too, but not every tool is written with them.
    #[test]
    fn as_a_result_it_is_an_error() {
        let refused = HandleRefused::new(Reply::from(Profile::Handle.refusal(None)));
        assert_eq!(CallToolResult::from(refused).is_error, Some(true));
    }
}
