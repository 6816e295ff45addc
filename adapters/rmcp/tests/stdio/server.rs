//! A server with SEP-1359 on stdio, for tests that restart it.

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use sealwax::Codec;
use sealwax_rmcp::{Guard, anonymous};
use serde_json::json;

struct Server;

#[tool_router]
impl Server {
    #[tool(description = "What rmcp knows of the client, and which process this is")]
    async fn who(&self, context: RequestContext<RoleServer>) -> CallToolResult {
        CallToolResult::structured(json!({
            "version": context.protocol_version(),
            "client": context.client_info().map(|client| client.name),
            "elicitation": context.client_capabilities().is_some_and(|it| it.elicitation.is_some()),
            "process": std::process::id(),
        }))
    }
}

#[tool_handler]
impl ServerHandler for Server {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let codec = Codec::from_env("https://mcp.example.com")?;
    let guard = Guard::builder(codec, anonymous).build()?;
    let streams = guard.streams().sep1359().wrap(stdio());
    guard
        .protect(Server)
        .serve(streams)
        .await?
        .waiting()
        .await?;
    Ok(())
}
