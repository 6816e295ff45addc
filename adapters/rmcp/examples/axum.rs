//! The server of docs/recipes/axum.md.

use std::{env, error::Error, sync::Arc};

use axum::routing::get;
use axum::{Router, extract::Request, http::StatusCode, middleware::map_request};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header, jwk::JwkSet};
use rmcp::handler::server::tool::InputResponses;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler, model::*, tool, tool_handler, tool_router};
use sealwax::Codec;
use sealwax_rmcp::{Guard, State, VerifiedClaims, from_claims};
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};

const AUDIENCE: &str = "https://notes.example.com";

#[derive(Clone)]
struct Notes;

#[tool_router]
impl Notes {
    #[tool(description = "Deletes all notes")]
    async fn clear(
        &self,
        InputResponses(answers): InputResponses,
        state: State<bool>,
    ) -> Result<CallToolResponse, ErrorData> {
        if state.get().is_none() {
            let question = ElicitRequestParams::FormElicitationParams {
                meta: None,
                message: "Delete all notes?".into(),
                requested_schema: ElicitationSchema::builder().build_unchecked(),
            };
            let confirm = InputRequest::Elicitation(ElicitRequest::new(question));
            let questions = InputRequests::from([("confirm".into(), confirm)]);
            let next = state.write(&true)?; // sealed
            return Ok(InputRequiredResult::new(Some(questions), Some(next)).into());
        }
        let answer = answers.as_ref().and_then(|answers| answers.get("confirm"));
        let agreed = answer.is_some_and(|answer| answer["action"] == "accept");
        let text = if agreed { "cleared" } else { "kept" };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

#[tool_handler]
impl ServerHandler for Notes {}

/// The identity provider, and its public keys.
struct Provider {
    issuer: String,
    keys: JwkSet,
}

/// Verifies the bearer token, and leaves its claims where the guard finds them.
async fn authenticate(
    provider: Arc<Provider>,
    mut request: Request,
) -> Result<Request, StatusCode> {
    let header = request.headers().get("authorization");
    let token = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let claims = token.and_then(|token| verified(&provider, token));
    let claims = claims.ok_or(StatusCode::UNAUTHORIZED)?;
    request.extensions_mut().insert(VerifiedClaims(claims));
    Ok(request)
}

fn verified(provider: &Provider, token: &str) -> Option<Value> {
    let key = provider.keys.find(&decode_header(token).ok()?.kid?)?;
    let mut rules = Validation::new(Algorithm::RS256);
    rules.set_issuer(&[&provider.issuer]);
    rules.set_audience(&[AUDIENCE]);
    rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    let token = decode(token, &DecodingKey::from_jwk(key).ok()?, &rules);
    Some(token.ok()?.claims)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let codec = Codec::from_env(AUDIENCE)?;
    let guard = Guard::builder(codec, from_claims).build()?;
    let server = guard.protect(Notes);
    let stateless = StreamableHttpServerConfig::default().with_legacy_session_mode(false);
    let none = Arc::<NeverSessionManager>::default();
    let mcp = StreamableHttpService::new(move || Ok(server.clone()), none, stateless);

    let issuer = env::var("ISSUER")?;
    let keys = reqwest::get(format!("{issuer}/jwks.json")).await?;
    let keys = serde_json::from_slice(&keys.bytes().await?)?;
    let provider = Arc::new(Provider { issuer, keys });
    let app = Router::new()
        .route_service("/mcp", mcp)
        .layer(map_request(move |it| authenticate(provider.clone(), it)))
        .route("/healthz", get(async || "ok")); // after the layer: it needs no token

    let address = ("127.0.0.1", env::var("PORT")?.parse()?);
    let listener = tokio::net::TcpListener::bind(address).await?;
    let mut stop = signal(SignalKind::terminate())?;
    let stopped = async move { _ = stop.recv().await };
    axum::serve(listener, app)
        .with_graceful_shutdown(stopped)
        .await?;
    Ok(())
}
