//! A server with all features that the official conformance suite tests, from `features.json`. It
//! prints `listening on http://127.0.0.1:…/mcp` to stderr. To start it:
//!
//! ```sh
//! PORT=0 cargo run -p sealwax-rmcp --example conformance-server
//! ```
//!
//! With `--bare` no guard protects it; with `--stateless` it keeps no sessions for older
//! revisions, and the guard does. Its key is its own: it makes one.

// Logs and questions to the client belong to the revisions up to 2025-11-25.
#![allow(deprecated)]

mod tools;

use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::sync::{Arc, LazyLock};

use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax::{Codec, Key, KeyRing};
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{Guard, anonymous};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use tools::text;

const TTL_MS: u64 = 60_000;

/// What the suite asks for: what the protocol lists, and what is returned, by name.
#[expect(clippy::expect_used, reason = "the file is beside this one")]
static FEATURES: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("features.json")).expect("JSON in features.json")
});

type Page = Option<PaginatedRequestParams>;
type Context = RequestContext<RoleServer>;
type Answer<T> = Result<T, ErrorData>;

#[derive(Clone)]
struct Conformance {
    bare: bool,
    stateless: bool,
    subscribers: Arc<Mutex<HashMap<String, SubscriptionSink>>>,
}

impl ServerHandler for Conformance {
    fn get_info(&self) -> ServerConfig {
        let offers = made(FEATURES["capabilities"].clone()).unwrap_or_default();
        ServerConfig::new(offers).with_server_info(Implementation::new("conformance", "1.0.0"))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tools: Vec<Tool> = made(FEATURES["tools"].clone()).ok()?;
        tools.into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(&self, _: Page, _: Context) -> Answer<ListToolsResult> {
        listed("tools")
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Answer<CallToolResponse> {
        let name = &*request.name;
        if let Some(result) = FEATURES["results"].get(name) {
            return Ok(complete::<CallToolResult>(result.clone())?.into());
        }
        if let Some(question) = FEATURES["questions"].get(name) {
            // The answer could not come back.
            if self.stateless {
                let why = "a stateless server cannot ask";
                return Ok(CallToolResult::error(vec![ContentBlock::text(why)]).into());
            }
            let arguments = request.arguments.unwrap_or_default();
            let question = made(filled(question, &arguments))?;
            let answer = context.peer.send_request(question).await;
            return Ok(answer.map_or_else(
                |error| CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into(),
                |answer| text(format!("the client answered {}", json!(answer))).into(),
            ));
        }
        if !name.starts_with("test_input_required_") {
            return Ok(self.tool(name, &context).await?.into());
        }
        let (state, answers) = (request.request_state.as_deref(), request.input_responses);
        let question = self.next(name, state, answers, &context)?;
        Ok(question.map_or_else(|| text("state-ok").into(), Into::into))
    }

    async fn list_prompts(&self, _: Page, _: Context) -> Answer<ListPromptsResult> {
        listed("prompts")
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Answer<GetPromptResponse> {
        if let Some(messages) = FEATURES["messages"].get(&request.name) {
            let arguments = request.arguments.unwrap_or_default();
            let messages = made(filled(messages, &arguments))?;
            return Ok(GetPromptResult::new(messages).into());
        }
        let (state, answers) = (request.request_state.as_deref(), request.input_responses);
        let question = self.next(&request.name, state, answers, &context)?;
        let message = PromptMessage::new_text(Role::User, "with that context");
        let last = || GetPromptResult::new(vec![message]).into();
        Ok(question.map_or_else(last, Into::into))
    }

    async fn list_resources(&self, _: Page, _: Context) -> Answer<ListResourcesResult> {
        listed("resources")
    }

    async fn list_resource_templates(
        &self,
        _: Page,
        _: Context,
    ) -> Answer<ListResourceTemplatesResult> {
        listed("resourceTemplates")
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Answer<ReadResourceResponse> {
        let uri = &request.uri;
        let id = uri.strip_prefix("test://template/");
        let id = id.and_then(|rest| rest.strip_suffix("/data"));
        let content = match (FEATURES["contents"].get(uri), id) {
            (Some(content), _) => content.clone(),
            (None, Some(id)) => {
                let id = JsonObject::from_iter([("id".to_owned(), json!(id))]);
                filled(&FEATURES["template"], &id)
            }
            (None, None) => {
                let data = Some(json!({ "uri": uri }));
                return Err(ErrorData::resource_not_found("no such resource", data));
            }
        };
        let read = ReadResourceResult::new(vec![made(content)?]).with_ttl_ms(TTL_MS);
        Ok(read.with_cache_scope(CacheScope::Public).into())
    }

    async fn complete(&self, request: CompleteRequestParams, _: Context) -> Answer<CompleteResult> {
        let values = vec![format!("{}is", request.argument.value)];
        let values = CompletionInfo::new(values);
        let values = values.map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(values))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Answer<()> {
        Ok(())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Answer<()> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Answer<()> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        let id = format!("{:p}", &context);
        let sink = context.sink().clone();
        self.subscribers.lock().await.insert(id.clone(), sink);
        context.cancelled().await;
        self.subscribers.lock().await.remove(&id);
        Ok(())
    }
}

/// A whole list of `features.json`.
fn listed<T: DeserializeOwned>(name: &str) -> Answer<T> {
    complete(json!({ name: FEATURES[name], "ttlMs": TTL_MS, "cacheScope": "public" }))
}

/// A result of rmcp, from its JSON.
fn complete<T: DeserializeOwned>(mut value: Value) -> Answer<T> {
    value["resultType"] = json!("complete");
    made(value)
}

/// A type of rmcp, from its JSON.
fn made<T: DeserializeOwned>(value: Value) -> Answer<T> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A value of `features.json`, with the placeholders of its texts filled in.
fn filled(template: &Value, values: &JsonObject) -> Value {
    match template {
        Value::String(text) => {
            let fill = |text: String, (name, value): (&String, &Value)| {
                text.replace(&format!("{{{name}}}"), value.as_str().unwrap_or_default())
            };
            Value::String(values.iter().fold(text.clone(), fill))
        }
        Value::Array(items) => items.iter().map(|item| filled(item, values)).collect(),
        Value::Object(members) => {
            let fill = |(name, value): (&String, &Value)| (name.clone(), filled(value, values));
            Value::Object(members.iter().map(fill).collect())
        }
        other => other.clone(),
    }
}

/// The service of a server, with the SDK's own sessions for older revisions or without.
fn routes<S>(server: S, stateless: bool) -> axum::Router
where
    S: ServerHandler + Clone,
{
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(!stateless);
    let new = move || Ok(server.clone());
    if stateless {
        let none = Arc::<NeverSessionManager>::default();
        let service = StreamableHttpService::new(new, none, config);
        axum::Router::new().route_service("/mcp", service)
    } else {
        let sessions = Arc::<LocalSessionManager>::default();
        let service = StreamableHttpService::new(new, sessions, config);
        axum::Router::new().route_service("/mcp", service)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let has = |flag| env::args().any(|argument| argument == flag);
    let (bare, stateless) = (has("--bare"), has("--stateless"));
    let codec = Codec::new(
        KeyRing::new([Key::generate()?])?,
        "https://conformance.example.com",
    )?;
    let guard = Guard::builder(codec, anonymous)
        .ledger(Memory::default())
        .build()?;
    let server = Conformance {
        bare,
        stateless,
        subscribers: Arc::default(),
    };
    let app = match (bare, stateless) {
        (true, _) => routes(server, stateless),
        (false, true) => routes(guard.protect(server), true).layer(guard.layer()),
        (false, false) => routes(guard.protect(server), false),
    };
    let port = env::var("PORT").unwrap_or_default().parse().unwrap_or(0);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}
