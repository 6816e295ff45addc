//! The server of README.md, whose client is in docs/start/rust.md.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult};
use rmcp::transport::stdio;
use rmcp::{ErrorData, ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use sealwax::Codec;
use sealwax_rmcp::{Guard, State, anonymous};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::{fmt, prelude::*};

#[derive(Clone)]
struct Rounds;

#[tool_router]
impl Rounds {
    #[tool(description = "Takes three rounds")]
    async fn count(&self, state: State<u32>) -> Result<CallToolResponse, ErrorData> {
        let round = state.get().unwrap_or(&0) + 1;
        if round < 3 {
            let next = state.write(&round)?; // sealed, for this user and these arguments
            return Ok(InputRequiredResult::from_request_state(next).into());
        }
        Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into())
    }
}

#[tool_handler]
impl ServerHandler for Rounds {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let log = fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let refusals = Targets::new().with_target("sealwax_rmcp", LevelFilter::WARN);
    tracing_subscriber::registry()
        .with(log)
        .with(refusals)
        .init();
    let codec = Codec::from_env("https://mcp.example.com")?;
    let guard = Guard::builder(codec, anonymous).build()?;
    let running = guard.protect(Rounds).serve(stdio()).await?;
    running.waiting().await?;
    Ok(())
}
