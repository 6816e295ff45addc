//! The answer to a refused handle.

use std::fmt;

use rmcp::ErrorData;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use sealwax_mcp::Reply;

use crate::refusal::error_data;

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
