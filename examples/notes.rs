//! Notes: a tool that asks before it deletes, a basket in a handle, and a list in pages. It serves stdio, or HTTP if
//! `PORT` is set. With `NOTES_JWT_SECRET`, HTTP requests need a JWT for this audience, signed with HS256. With `SEALWAX_LEDGER`, the URL of a
//! Redis or Valkey that all replicas share, a confirmation is accepted once. To run it:
//! `SEALWAX_KEYS="$(sealwax keygen)" cargo run -p sealwax-rmcp --example notes`

use std::{collections::BTreeSet, env, sync::Arc, time::Duration};

use axum::{extract::Request, http::StatusCode, middleware::map_request};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use rmcp::handler::server::{tool::InputResponses, wrapper::Parameters};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _, model::*};
use rmcp::{service::RequestContext, tool, tool_handler, tool_router};
use sealwax::Codec;
use sealwax_rmcp::*;
use serde::Deserialize;
use serde_json::{Value, json};

const AUDIENCE: &str = "https://notes.example.com";

#[derive(Clone)]
struct Notes {
    notes: Arc<tokio::sync::Mutex<BTreeSet<u32>>>,
    baskets: SelfContainedHandles,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Note {
    id: u32,
}

#[derive(Deserialize, schemars::JsonSchema)]
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
        state: State<Value>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(asked) = state.get() else {
            let schema = ElicitationSchema::builder().required_bool("confirm");
            let question = ElicitRequestParams::FormElicitationParams {
                meta: None,
                message: format!("Delete note {id}?"),
                requested_schema: schema.build_unchecked(),
            };
            let question = InputRequest::Elicitation(ElicitRequest::new(question));
            let questions = InputRequests::from([("confirm".into(), question)]);
            let next = state.write(&json!({"asked": id}))?;
            return Ok(InputRequiredResult::new(Some(questions), Some(next)).into());
        };
        let answer = answers.as_ref().and_then(|answers| answers.get("confirm"));
        let yes = |it: &Value| it["action"] == "accept" && it["content"]["confirm"] == true;
        let agreed = answer.is_some_and(yes) && asked["asked"] == id;
        self.notes.lock().await.retain(|it| !(agreed && *it == id));
        let text = format!("note {id} {}", if agreed { "deleted" } else { "kept" });
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }

    #[tool(description = "Make an empty basket; its handle changes with every change")]
    async fn new_basket(
        &self,
        ctx: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, HandleRefused> {
        Ok(basket(self.baskets.seal(&ctx, &json!([]))?, &[]))
    }

    #[tool(description = "Add an item to a basket, which gets a new handle")]
    async fn add_to_basket(
        &self,
        Parameters(add): Parameters<Addition>,
        ctx: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, HandleRefused> {
        let mut held = self.baskets.open::<Vec<String>>(&ctx, &add.basket).await?;
        held.value.push(add.item);
        Ok(basket(self.baskets.renew(&ctx, &held).await?, &held.value))
    }
}

fn basket(new: SealedHandle, items: &[String]) -> CallToolResult {
    let (handle, end) = (new.handle, new.expires_at);
    CallToolResult::structured(json!({"basket": handle, "expiresAt": end, "items": items}))
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
        let from = request.and_then(|it| it.cursor?.parse().ok()).unwrap_or(0);
        let note = |n| Resource::new(format!("note:///{n}"), format!("note {n}"));
        let notes = self.notes.lock().await;
        let shown = notes.iter().skip(from).take(10).map(note).collect();
        let mut page = ListResourcesResult::with_all_items(shown);
        page.next_cursor = (from + 10 < notes.len()).then(|| (from + 10).to_string());
        Ok(page)
    }

    async fn read_resource(
        &self,
        ReadResourceRequestParams { uri, .. }: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let notes = self.notes.lock().await;
        let note = notes.iter().find(|n| uri == format!("note:///{n}"));
        let n = note.ok_or(ErrorData::resource_not_found("no such note", None))?;
        let text = ResourceContents::text(format!("This is note {n}."), uri);
        Ok(ReadResourceResult::new(vec![text]).into())
    }
}

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
    let guard = match env::var("SEALWAX_LEDGER") {
        Ok(url) => guard.ledger(ledger::Redis::open(&url)?).build()?,
        Err(_) => guard.build()?,
    };
    let baskets = guard
        .self_contained_handles("basket")
        .ttl(Duration::from_secs(3600));
    let notes = Arc::new(BTreeSet::from_iter(1..=25).into());
    let server = guard.protect(Notes { notes, baskets });
    let Some(port) = port else {
        server.serve(stdio()).await?.waiting().await?;
        return Ok(());
    };
    let stateless = StreamableHttpServerConfig::default().with_legacy_session_mode(false);
    let none = Arc::<NeverSessionManager>::default();
    let mcp = StreamableHttpService::new(move || Ok(server.clone()), none, stateless);
    let mut app = axum::Router::new().route_service("/mcp", mcp);
    if let Some(secret) = secret {
        let key = DecodingKey::from_secret(secret.as_bytes());
        app = app.layer(map_request(move |it| authenticate(key.clone(), it)));
    }
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}
