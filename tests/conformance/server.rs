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

mod features;
mod tools;

use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::sync::Arc;

use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax::{Codec, Key, KeyRing};
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{Guard, anonymous};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use features::{FEATURES, TOOLS, each, filled, made, tools};
use tools::text;

const TTL_MS: u64 = 60_000;

#[derive(Clone)]
struct Conformance {
    bare: bool,
    stateless: bool,
    subscribers: Arc<Mutex<HashMap<String, SubscriptionSink>>>,
}

impl ServerHandler for Conformance {
    fn get_info(&self) -> ServerConfig {
        let offers = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging()
            .build();
        ServerConfig::new(offers).with_server_info(Implementation::new("conformance", "1.0.0"))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools().collect())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = &*request.name;
        if let Some(tool) = FEATURES["tools"].get(name) {
            let content = made(tool["result"]["content"].clone())?;
            let failed = tool["result"]["isError"] == true;
            let new = [CallToolResult::success, CallToolResult::error][usize::from(failed)];
            return Ok(new(content).into());
        }
        if let Some(question) = FEATURES["questions"].get(name) {
            // The answer could not come back.
            if self.stateless {
                let why = "a stateless server cannot ask";
                return Ok(CallToolResult::error(vec![ContentBlock::text(why)]).into());
            }
            let arguments = request.arguments.unwrap_or_default();
            let question = made(filled(&question["request"], &arguments))?;
            let answer = context.peer.send_request(question).await;
            return Ok(answer.map_or_else(
                |error| CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into(),
                |answer| text(format!("the client answered {}", json!(answer))).into(),
            ));
        }
        if TOOLS.contains(&name) {
            return Ok(self.tool(name, &context).await?.into());
        }
        let (state, answers) = (request.request_state.as_deref(), request.input_responses);
        let question = self.next(name, state, answers, &context)?;
        Ok(question.map_or_else(|| text("state-ok").into(), Into::into))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let fixed = each(&FEATURES["prompts"]).map(|(name, about)| {
            let names = about["arguments"].as_array().into_iter().flatten();
            let argument = |name: &str| PromptArgument::new(name).with_required(true);
            let arguments = names.filter_map(Value::as_str).map(argument).collect();
            Prompt::new(name, about["description"].as_str(), Some(arguments))
        });
        let asking = each(&FEATURES["rounds"])
            .filter(|(name, _)| name.ends_with("_prompt"))
            .map(|(name, _)| Prompt::new(name, Some("Asks first"), None));
        let prompts = fixed.chain(asking).collect();
        Ok(ListPromptsResult::with_all_items(prompts)
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if let Some(prompt) = FEATURES["prompts"].get(&request.name) {
            let arguments = request.arguments.unwrap_or_default();
            let messages = made(filled(&prompt["messages"], &arguments))?;
            return Ok(GetPromptResult::new(messages).into());
        }
        let (state, answers) = (request.request_state.as_deref(), request.input_responses);
        let question = self.next(&request.name, state, answers, &context)?;
        let message = PromptMessage::new_text(Role::User, "with that context");
        let last = || GetPromptResult::new(vec![message]).into();
        Ok(question.map_or_else(last, Into::into))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = |(uri, content): (&String, &Value)| {
            let mime = content["mimeType"].as_str().unwrap_or_default();
            Resource::new(uri, uri).with_mime_type(mime)
        };
        let resources = each(&FEATURES["resources"]).map(resource).collect();
        Ok(ListResourcesResult::with_all_items(resources)
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let uri = FEATURES["template"]["uriTemplate"].as_str();
        let template = ResourceTemplate::new(uri.unwrap_or_default(), "template");
        let all = ListResourceTemplatesResult::with_all_items(vec![template]);
        Ok(all.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = &request.uri;
        let id = uri.strip_prefix("test://template/");
        let id = id.and_then(|rest| rest.strip_suffix("/data"));
        let content = match (FEATURES["resources"].get(uri), id) {
            (Some(content), _) => content.clone(),
            (None, Some(id)) => {
                let id = JsonObject::from_iter([("id".to_owned(), json!(id))]);
                filled(&FEATURES["template"], &id)
            }
            (None, None) => {
                let data = json!({ "uri": uri });
                return Err(ErrorData::resource_not_found(
                    "no such resource",
                    Some(data),
                ));
            }
        };
        let mut content = content;
        content["uri"] = json!(uri);
        let read = ReadResourceResult::new(vec![made(content)?]).with_ttl_ms(TTL_MS);
        Ok(read.with_cache_scope(CacheScope::Public).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = vec![format!("{}is", request.argument.value)];
        let values = CompletionInfo::new(values);
        let values = values.map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(values))
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let id = format!("{:p}", &context);
        let sink = context.sink().clone();
        self.subscribers.lock().await.insert(id.clone(), sink);
        context.cancelled().await;
        self.subscribers.lock().await.remove(&id);
        Ok(())
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
