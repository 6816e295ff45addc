//! Notes: a tool that asks before it deletes, a basket in a handle, and a list in pages. It keeps
//! nothing between requests: any replica with its keys can go on, in any language.
//!
//!     SEALWAX_KEYS="$(sealwax keygen)" cargo run -p sealwax-rmcp --example notes
//!
//! That is on stdio; with `PORT`, on <http://127.0.0.1:PORT/mcp>, where with `NOTES_JWT_SECRET` it
//! asks for a bearer token: a JWT by HS256.

use std::{env, sync::Arc, time::Duration};

use axum::http::{StatusCode, header::AUTHORIZATION};
use axum::{extract::Request, middleware};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use rmcp::handler::server::{tool::InputResponses, wrapper::Parameters};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _, model::*};
use rmcp::{service::RequestContext, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use sealwax::{Codec, KeyRing};
use sealwax_rmcp::{Guard, HeldHandles, Refused, SealedHandle, State};
use sealwax_rmcp::{VerifiedClaims, anonymous, from_claims};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
        let answer = answers.as_ref().and_then(|answers| answers.get("confirm"));
        let agreed =
            answer.is_some_and(|it| it["action"] == "accept" && it["content"]["confirm"] == true);
        let text = match agreed && *asked == id {
            true => format!("note {id} deleted"),
            false => format!("note {id} kept"),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }

    #[tool(description = "Make an empty basket; its handle changes with every change")]
    async fn new_basket(&self, ctx: RequestContext<RoleServer>) -> Result<CallToolResult, Refused> {
        Ok(basket(self.baskets.seal(&ctx, &json!([]))?, &[]))
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

fn basket(new: SealedHandle, items: &[String]) -> CallToolResult {
    let (handle, end) = (new.handle, new.expires_at);
    CallToolResult::structured(json!({"basket": handle, "expiresAt": end, "items": items}))
}

fn confirm(id: u32) -> InputRequests {
    let schema = ElicitationSchema::builder().required_bool("confirm");
    let question = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("Delete note {id}?"),
        requested_schema: schema.build_unchecked(),
    };
    let question = InputRequest::Elicitation(ElicitRequest::new(question));
    InputRequests::from([("confirm".into(), question)])
}

#[tool_handler]
impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        let offers = ServerCapabilities::builder().enable_tools();
        let offers = offers.enable_resources().build();
        ServerConfig::new(offers).with_server_info(Implementation::new("notes", "1.0.0"))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let from = request.and_then(|page| page.cursor?.parse().ok());
        let from = from.unwrap_or(0);
        let to = 25.min(from + 10);
        let note = |n| Resource::new(format!("note:///{n}"), format!("note {n}"));
        let mut page = ListResourcesResult::with_all_items((from + 1..=to).map(note).collect());
        page.next_cursor = (to < 25).then(|| to.to_string());
        Ok(page)
    }
}

/// Verifies the bearer token, and leaves its claims where the guard finds them.
async fn authenticate(key: DecodingKey, mut request: Request) -> Result<Request, StatusCode> {
    let header = request.headers().get(AUTHORIZATION);
    let token = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let rules = Validation::new(Algorithm::HS256);
    let token = decode::<Value>(token.unwrap_or_default(), &key, &rules);
    let claims = VerifiedClaims(token.map_err(|_| StatusCode::UNAUTHORIZED)?.claims);
    request.extensions_mut().insert(claims);
    Ok(request)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let codec = Codec::new(KeyRing::from_env()?, "https://notes.example.com")?;
    let (port, secret) = (env::var("PORT").ok(), env::var("NOTES_JWT_SECRET").ok());
    let guard = match (&port, &secret) {
        (Some(_), Some(_)) => Guard::builder(codec, from_claims).build()?,
        _ => Guard::builder(codec, anonymous).build()?,
    };
    let baskets = guard.held_handles("basket").ttl(Duration::from_secs(3600));
    let server = guard.protect(Notes { baskets });
    let Some(port) = port else {
        server.serve(stdio()).await?.waiting().await?;
        return Ok(());
    };
    let stateless = StreamableHttpServerConfig::default().with_legacy_session_mode(false);
    let sessions = Arc::<NeverSessionManager>::default();
    let mcp = StreamableHttpService::new(move || Ok(server.clone()), sessions, stateless);
    let mut app = axum::Router::new().route_service("/mcp", mcp);
    if let Some(secret) = secret {
        let key = DecodingKey::from_secret(secret.as_bytes());
        let authenticated = move |request| authenticate(key.clone(), request);
        app = app.layer(middleware::map_request(authenticated));
    }
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}
