//! The server of docs/sessions.md.

use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::transport::stdio;
use rmcp::{ErrorData, ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use sealwax::Codec;
use sealwax_rmcp::{Guard, Session, Sessions, anonymous};

#[derive(Clone)]
struct Counter;

#[tool_router]
impl Counter {
    #[tool(description = "Counts: one more than last time in this session")]
    async fn count(&self, mut session: Session<u64>) -> Result<CallToolResult, ErrorData> {
        let count = session.value() + 1;
        session.write(count)?;
        Ok(CallToolResult::success(vec![ContentBlock::text(
            count.to_string(),
        )]))
    }
}

#[tool_handler]
impl ServerHandler for Counter {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let codec = Codec::from_env("https://counter.example.com")?;
    let sessions = Sessions::new(|_, _| async { Ok(0) }).require_methods(["tools/call"]);
    let guard = Guard::builder(codec, anonymous)
        .sessions(sessions)
        .build()?;
    guard
        .protect(Counter)
        .serve(stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}
