//! Sessions: a counter, and a draft between `begin` and `end`, in one value that the client holds sealed. It serves
//! stdio, or HTTP if `PORT` is set. With `NOTES_JWT_SECRET`, HTTP requests need a JWT for this audience, signed with HS256. With
//! `SEALWAX_LEDGER`, the URL of a Redis or Valkey that all replicas share, sessions can be deleted, and parallel calls all
//! count. To run it:
//! `SEALWAX_KEYS="$(sealwax keygen)" cargo run -p sealwax-rmcp --example sessions`

use std::{env, sync::Arc};

use axum::{extract::Request, http::StatusCode, middleware::map_request};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{ErrorData, ServerHandler, ServiceExt as _, model::*, tool, tool_handler, tool_router};
use sealwax::Codec;
use sealwax_rmcp::ledger::Redis;
use sealwax_rmcp::{Guard, Session, Sessions, VerifiedClaims, anonymous, from_claims};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const AUDIENCE: &str = "https://counter.example.com";

#[derive(Clone)]
struct Counter;

/// The value of a session. `draft` is set between `begin` and `end`.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Work {
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    draft: Option<String>,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

#[tool_router]
impl Counter {
    #[tool(description = "Counts: always one more than last time in this session")]
    async fn count(&self, mut session: Session<Work>) -> Result<CallToolResult, ErrorData> {
        log("count", &session);
        let mut work = session.value().clone();
        work.count += 1;
        let count = work.count;
        session.write(work)?;
        Ok(text(count))
    }

    #[tool(description = "Begins a draft")]
    async fn begin(&self, mut session: Session<Work>) -> Result<CallToolResult, ErrorData> {
        log("begin", &session);
        set_draft(&mut session, Some(String::new()))?;
        Ok(text("begun"))
    }

    #[tool(description = "Reads the draft as it is so far")]
    async fn read(&self, session: Session<Work>) -> CallToolResult {
        log("read", &session);
        session.value().draft.as_ref().map_or_else(no_draft, text)
    }

    #[tool(description = "Adds text to the draft")]
    async fn write(
        &self,
        Parameters(added): Parameters<Text>,
        mut session: Session<Work>,
    ) -> Result<CallToolResult, ErrorData> {
        log("write", &session);
        let Some(draft) = session.value().draft.clone() else {
            return Ok(no_draft());
        };
        set_draft(&mut session, Some(draft + &added.text))?;
        Ok(text("written"))
    }

    #[tool(description = "Ends the draft, and returns it")]
    async fn end(&self, mut session: Session<Work>) -> Result<CallToolResult, ErrorData> {
        log("end", &session);
        let Some(draft) = session.value().draft.clone() else {
            return Ok(no_draft());
        };
        set_draft(&mut session, None)?;
        Ok(text(draft))
    }
}

fn set_draft(session: &mut Session<Work>, draft: Option<String>) -> Result<(), ErrorData> {
    let count = session.value().count;
    session.write(Work { count, draft })
}

/// Logs the ulid, and never the session id.
fn log(tool: &str, session: &Session<Work>) {
    let (ulid, generation) = (session.ulid(), session.generation());
    eprintln!("{tool} session={ulid} generation={generation}");
}

fn text(text: impl ToString) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text.to_string())])
}

fn no_draft() -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text("no draft: call begin first")])
}

#[tool_handler(name = "counter", version = "1.0.0")]
impl ServerHandler for Counter {}

/// Verifies the bearer token, and leaves its claims where the guard finds them.
async fn authenticate(key: DecodingKey, mut request: Request) -> Result<Request, StatusCode> {
    let header = request.headers().get("authorization");
    let token = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let mut rules = Validation::new(Algorithm::HS256);
    rules.set_audience(&[AUDIENCE]);
    rules.set_required_spec_claims(&["exp", "aud"]);
    let token = decode::<Value>(token.unwrap_or_default(), &key, &rules);
    let claims = VerifiedClaims(token.map_err(|_| StatusCode::UNAUTHORIZED)?.claims);
    request.extensions_mut().insert(claims);
    Ok(request)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let codec = Codec::from_env(AUDIENCE)?;
    let (port, secret) = (env::var("PORT").ok(), env::var("NOTES_JWT_SECRET").ok());
    let guard = match (&port, &secret) {
        (Some(_), Some(_)) => Guard::builder(codec, from_claims),
        _ => Guard::builder(codec, anonymous),
    };
    let sessions = Sessions::new(|_, _| async { Ok(Work::default()) });
    let guard = guard.sessions(sessions.require_methods(["tools/call"]));
    let guard = match env::var("SEALWAX_LEDGER") {
        Ok(url) => guard.ledger(Redis::open(&url)?).build()?,
        Err(_) => guard.build()?,
    };
    let server = guard.protect(Counter);
    let Some(port) = port else {
        let streams = guard.streams().wrap(stdio());
        server.serve(streams).await?.waiting().await?;
        return Ok(());
    };
    let stateless = StreamableHttpServerConfig::default().with_legacy_session_mode(false);
    let none = Arc::<NeverSessionManager>::default();
    let mcp = StreamableHttpService::new(move || Ok(server.clone()), none, stateless);
    let mcp = axum::Router::new().route_service("/mcp", mcp);
    let mut app = mcp.layer(guard.layer()); // Mcp-Session-Id, for revisions up to 2025-11-25
    if let Some(secret) = secret {
        let key = DecodingKey::from_secret(secret.as_bytes());
        let auth = move |request| authenticate(key.clone(), request);
        app = app.layer(map_request(auth));
    }
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}
