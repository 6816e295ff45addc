//! The server of the official conformance suite's `input-required-result-*` scenarios, on rmcp
//! with our guard. It prints `listening on http://127.0.0.1:…/mcp` to stderr. To start it:
//!
//! ```sh
//! PORT=0 cargo run -p sealwax-rmcp --example conformance-server
//! ```
//!
//! Its key is its own: it makes one.

use std::env;
use std::error::Error;
use std::sync::Arc;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax::{Codec, Key, KeyRing};
use sealwax_rmcp::{Guard, State, anonymous};
use serde_json::{Value, json};

#[derive(Clone)]
struct Conformance;

/// What a tool of the suite asks in each of its rounds, and whether it keeps a state meanwhile.
fn rounds(tool: &str, context: &RequestContext<RoleServer>) -> Option<(bool, Vec<Value>)> {
    let name = || form("user_name", "What is your name?", "name", "string");
    let sampling = |key: &str, text: &str| {
        let messages = json!([{"role": "user", "content": {"type": "text", "text": text}}]);
        let params = json!({"messages": messages, "maxTokens": 100});
        json!({key: {"method": "sampling/createMessage", "params": params}})
    };
    let roots = || json!({"client_roots": {"method": "roots/list", "params": {}}});
    let confirm = || form("confirm", "Please confirm", "ok", "boolean");
    Some(match tool.strip_prefix("test_input_required_result_")? {
        "elicitation" => (false, vec![name()]),
        "sampling" => (
            false,
            vec![sampling(
                "capital_question",
                "What is the capital of France?",
            )],
        ),
        "list_roots" => (false, vec![roots()]),
        "request_state" | "tampered_state" => (true, vec![confirm()]),
        "multiple_inputs" => {
            let parts = [name(), sampling("greeting", "Generate a greeting"), roots()];
            let all = parts.into_iter().filter_map(|part| match part {
                Value::Object(part) => Some(part),
                _ => None,
            });
            (true, vec![Value::Object(all.flatten().collect())])
        }
        "multi_round" => {
            let step1 = form("step1", "Step 1: What is your name?", "name", "string");
            let step2 = form(
                "step2",
                "Step 2: What is your favorite color?",
                "color",
                "string",
            );
            (true, vec![step1, step2])
        }
        // Only what the client has declared.
        "capabilities" if elicits(context) => (false, vec![name()]),
        "capabilities" => (false, vec![sampling("sample", "Say something")]),
        "prompt" => {
            let message = "What context should the prompt use?";
            (
                false,
                vec![form("user_context", message, "context", "string")],
            )
        }
        _ => return None,
    })
}

fn elicits(context: &RequestContext<RoleServer>) -> bool {
    let declared = context.client_capabilities();
    declared.is_some_and(|declared| declared.elicitation.is_some())
}

fn form(key: &str, message: &str, property: &str, of: &str) -> Value {
    let properties = json!({property: {"type": of}});
    let schema = json!({"type": "object", "properties": properties, "required": [property]});
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    json!({key: {"method": "elicitation/create", "params": params}})
}

/// The next question, or nothing more to ask. The state is the number of the rounds that are over.
fn next(
    tool: &str,
    answers: Option<InputResponses>,
    context: &RequestContext<RoleServer>,
) -> Result<Option<InputRequiredResult>, ErrorData> {
    let unknown = || ErrorData::invalid_params("no such tool or prompt", None);
    let (stateful, rounds) = rounds(tool, context).ok_or_else(unknown)?;
    let state = State::<usize>::of(context)?;
    let answers = answers.unwrap_or_default();
    let answered = |round: &Value| {
        let keys = round.as_object().into_iter().flatten();
        keys.map(|(key, _)| key)
            .all(|key| answers.get(key).is_some_and(Value::is_object))
    };
    let asked = if stateful {
        state.get().copied()
    } else {
        Some(0)
    };
    let over = match asked.and_then(|round| Some((round, rounds.get(round)?))) {
        Some((round, asked)) if answered(asked) => round + 1,
        Some((round, _)) => round,
        None => 0,
    };
    let Some(questions) = rounds.get(over) else {
        return Ok(None);
    };
    let questions = serde_json::from_value(questions.clone())
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let state = stateful.then(|| state.write(&over)).transpose()?;
    Ok(Some(InputRequiredResult::new(Some(questions), state)))
}

impl ServerHandler for Conformance {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_prompts()
                .build(),
        )
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let question = next(&request.name, request.input_responses, &context)?;
        let done = || CallToolResult::success(vec![ContentBlock::text("state-ok")]).into();
        Ok(question.map_or_else(done, Into::into))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let question = next(&request.name, request.input_responses, &context)?;
        let message = PromptMessage::new_text(Role::User, "Do as the context says.");
        let done = || GetPromptResult::new(vec![message]).into();
        Ok(question.map_or_else(done, Into::into))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let ring = KeyRing::new([Key::generate()?])?;
    let codec = Codec::new(ring, "https://conformance.example.com")?;
    let server = Guard::builder(codec, anonymous)
        .build()?
        .protect(Conformance);
    let mcp = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        StreamableHttpServerConfig::default().with_legacy_session_mode(false),
    );
    let port = env::var("PORT").unwrap_or_default().parse().unwrap_or(0);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    Ok(axum::serve(listener, axum::Router::new().route_service("/mcp", mcp)).await?)
}
