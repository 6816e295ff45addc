//! A server that takes the user from a JWT, which docs/start/rust.md names.

use std::{env, sync::Arc};

use axum::{Router, extract::Request, http::StatusCode, middleware::map_request};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use sealwax::Codec;
use sealwax_rmcp::{Guard, VerifiedClaims, from_claims};
use serde_json::Value;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::{fmt, prelude::*};

const AUDIENCE: &str = "https://notes.example.com";

#[derive(Clone)]
struct Notes;

#[tool_router]
impl Notes {
    #[tool(description = "Counts the notes")]
    async fn count_notes(&self) -> String {
        "25".to_owned()
    }
}

#[tool_handler]
impl ServerHandler for Notes {}

/// Verifies the bearer token, and leaves its claims where the guard finds them.
async fn authenticate(key: DecodingKey, mut request: Request) -> Result<Request, StatusCode> {
    let header = request.headers().get("authorization");
    let token = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let mut rules = Validation::new(Algorithm::HS256);
    rules.set_issuer(&["https://idp.example.com"]);
    rules.set_audience(&[AUDIENCE]);
    rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    let token = decode::<Value>(token.unwrap_or_default(), &key, &rules);
    let claims = VerifiedClaims(token.map_err(|_| StatusCode::UNAUTHORIZED)?.claims);
    request.extensions_mut().insert(claims);
    Ok(request)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let log = fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let refusals = Targets::new().with_target("sealwax_rmcp", LevelFilter::WARN);
    tracing_subscriber::registry()
        .with(log)
        .with(refusals)
        .init();
    let codec = Codec::from_env(AUDIENCE)?;
    let guard = Guard::builder(codec, from_claims).build()?;
    let server = guard.protect(Notes);
    let stateless = StreamableHttpServerConfig::default().with_legacy_session_mode(false);
    let none = Arc::<NeverSessionManager>::default();
    let mcp = StreamableHttpService::new(move || Ok(server.clone()), none, stateless);

    let key = DecodingKey::from_secret(env::var("NOTES_JWT_SECRET")?.as_bytes());
    let app = Router::new().route_service("/mcp", mcp);
    let app = app.layer(map_request(move |it| authenticate(key.clone(), it)));
    let address = ("127.0.0.1", env::var("PORT")?.parse()?);
    let listener = tokio::net::TcpListener::bind(address).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}
