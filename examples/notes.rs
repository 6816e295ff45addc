//! Notes: a tool that asks before it deletes, a basket in a handle, and a list in pages. It keeps
//! nothing between requests, and any replica that has its keys can go on, in any language.
//!
//! ```sh
//! export SEALWAX_KEYS="$(sealwax keygen)"
//! cargo run --example notes            # on stdio
//! PORT=8000 cargo run --example notes  # on http://127.0.0.1:8000/mcp
//! ```
//!
//! With `NOTES_JWT_SECRET`, HTTP asks for a bearer token: a JWT signed by HS256.

use std::env;
use std::error::Error;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::{StatusCode, header::AUTHORIZATION};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use rmcp::handler::server::{tool::InputResponses, wrapper::Parameters};
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _, tool, tool_handler, tool_router,
};
use schemars::JsonSchema;
use sealwax::{Codec, KeyRing};
use sealwax_rmcp::{
    Guard, HeldHandles, Refused, SealedHandle, State, VerifiedClaims, anonymous, from_claims,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const NOTES: usize = 25;
const PAGE: usize = 10;

#[derive(Clone)]
struct Notes {
    baskets: HeldHandles,
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    id: u32,
}

#[derive(Serialize, Deserialize)]
struct Asked {
    asked: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Addition {
    basket: String,
    item: String,
}

#[tool_router]
impl Notes {
    #[tool(description = "Delete a note, once the user has confirmed it")]
    async fn delete_note(
        &self,
        Parameters(Note { id }): Parameters<Note>,
        InputResponses(answers): InputResponses,
        state: State<Asked>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(Asked { asked }) = state.get() else {
            let next = state.write(&Asked { asked: id })?;
            return Ok(InputRequiredResult::new(Some(confirm(id)), Some(next)).into());
        };
        let answer = answers
            .unwrap_or_default()
            .remove("confirm")
            .unwrap_or_default();
        let confirmed = answer["action"] == "accept" && answer["content"]["confirm"] == true;
        let done = if confirmed && *asked == id {
            "deleted"
        } else {
            "kept"
        };
        let text = ContentBlock::text(format!("note {id} {done}"));
        Ok(CallToolResult::success(vec![text]).into())
    }

    #[tool(description = "Make an empty basket; its handle changes with every change")]
    async fn new_basket(&self, ctx: RequestContext<RoleServer>) -> Result<CallToolResult, Refused> {
        let items = Vec::new();
        Ok(basket(self.baskets.seal(&ctx, &items)?, &items))
    }

    #[tool(description = "Add an item to a basket, which gets a new handle")]
    async fn add_to_basket(
        &self,
        Parameters(add): Parameters<Addition>,
        ctx: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Refused> {
        let mut held = self.baskets.open::<Vec<String>>(&ctx, &add.basket).await?;
        held.value.push(add.item);
        Ok(basket(self.baskets.renew(&ctx, &held)?, &held.value))
    }
}

fn confirm(id: u32) -> InputRequests {
    let question = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("Delete note {id}?"),
        requested_schema: ElicitationSchema::builder()
            .required_bool("confirm")
            .build_unchecked(),
    };
    let question = InputRequest::Elicitation(ElicitRequest::new(question));
    InputRequests::from([("confirm".into(), question)])
}

fn basket(sealed: SealedHandle, items: &[String]) -> CallToolResult {
    let SealedHandle {
        handle, expires_at, ..
    } = sealed;
    CallToolResult::structured(json!({"basket": handle, "expiresAt": expires_at, "items": items}))
}

#[tool_handler]
impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_resources()
                .build(),
        )
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let start = request
            .and_then(|page| page.cursor?.parse().ok())
            .unwrap_or(0);
        let end = NOTES.min(start + PAGE);
        let note = |n| Resource::new(format!("note:///{n}"), format!("note {n}"));
        let mut page = ListResourcesResult::with_all_items((start + 1..=end).map(note).collect());
        page.next_cursor = (end < NOTES).then(|| end.to_string());
        Ok(page)
    }
}

/// Verifies the bearer token and leaves its claims where the guard finds them.
async fn authenticate(
    key: DecodingKey,
    mut request: Request,
    next: Next,
) -> Result<Response, StatusCode> {
    let header = request
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let token = header.and_then(|value| value.strip_prefix("Bearer "));
    let claims = decode::<Value>(
        token.unwrap_or_default(),
        &key,
        &Validation::new(Algorithm::HS256),
    );
    let claims = claims.map_err(|_| StatusCode::UNAUTHORIZED)?.claims;
    request.extensions_mut().insert(VerifiedClaims(claims));
    Ok(next.run(request).await)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let codec = Codec::new(KeyRing::from_env()?, "https://notes.example.com")?;
    let (port, secret) = (env::var("PORT").ok(), env::var("NOTES_JWT_SECRET").ok());
    let guard = match (&port, &secret) {
        (Some(_), Some(_)) => Guard::builder(codec, from_claims).build()?,
        _ => Guard::builder(codec, anonymous).build()?,
    };
    let baskets = guard.held_handles("basket");
    let server = guard.protect(Notes { baskets });
    let Some(port) = port else {
        server.serve(stdio()).await?.waiting().await?;
        return Ok(());
    };
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false);
    let sessions = Arc::new(NeverSessionManager::default());
    let mcp = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let mut app = axum::Router::new().route_service("/mcp", mcp);
    if let Some(secret) = secret {
        let key = DecodingKey::from_secret(secret.as_bytes());
        app = app.layer(from_fn(move |request, next| {
            authenticate(key.clone(), request, next)
        }));
    }
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}
