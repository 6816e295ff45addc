//! The handlers of the server, which do what they are told.

use std::sync::Mutex;

use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax_rmcp::{Guard, Session, State};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::control::{say, waiting};
use crate::handles::handle;
use crate::stage::stage;

pub type Context = RequestContext<RoleServer>;

#[derive(Clone)]
pub struct Server(pub Guard);

/// The code of the author's mistake in an operation, which only the report has. Without an operation, `None`.
static MISTAKE: Mutex<Option<&'static str>> = Mutex::new(None);

/// Takes a refusal for the mistake, while an operation runs.
pub fn is_mistake(code: &'static str) -> bool {
    let mut mistake = MISTAKE.lock().unwrap();
    mistake.as_mut().map(|mistake| *mistake = code).is_some()
}

fn of_author(operation: impl FnOnce() -> Result<Value, ErrorData>) -> Value {
    *MISTAKE.lock().unwrap() = Some("");
    let did = operation();
    let code = MISTAKE.lock().unwrap().take();
    assert_eq!(code == Some(""), did.is_ok(), "a mistake is reported");
    did.unwrap_or_else(|_| json!({"error": code}))
}

impl Server {
    /// Runs until it is told to return or to fail.
    async fn run(&self, mut seen: Value, context: &Context) -> Result<Value, ErrorData> {
        seen["session"] = session("session", &Value::Null, context)?;
        let mut waiting = waiting(seen);
        while let Some(mut told) = waiting.recv().await {
            let done = match told["do"].as_str().unwrap() {
                "return" => {
                    let mut result = told["result"].take();
                    with_states(&mut result, context)?;
                    return Ok(result);
                }
                "throw" => break,
                "state" => of_author(|| {
                    let state = State::<Value>::of(context)?;
                    Ok(state.get().map(Value::to_string).into())
                }),
                "idempotencyKey" => of_author(|| Ok(self.0.idempotency_key(context)?.into())),
                "sessionId" => json!(self.0.session_id(context)),
                name @ ("session" | "write" | "fork") => {
                    of_author(|| session(name, &told["given"][0], context))
                }
                _ => handle(&self.0, &told, context).await,
            };
            say(&json!({"done": done}));
        }
        Err(ErrorData::new(ErrorCode(-32000), "the handler's own", None))
    }
}

fn session(name: &str, value: &Value, context: &Context) -> Result<Value, ErrorData> {
    let Some(mut session) = Session::<Value>::of(&context.extensions)? else {
        return Ok(Value::Null);
    };
    match name {
        "write" => session.write(value.clone()).map(|()| "ok".into()),
        "fork" => session.fork(context).map(|forked| json!(forked)),
        _ => Ok(json!({"value": session.value(), "generation": session.generation()})),
    }
}

/// Replaces each `{"$state": value}` by what an author gets for that value.
fn with_states(value: &mut Value, context: &Context) -> Result<(), ErrorData> {
    if let Some(state) = value.get("$state") {
        *value = State::<Value>::of(context)?.write(state)?.into();
    }
    let inside: Vec<_> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(members) => members.values_mut().collect(),
        _ => Vec::new(),
    };
    let mut inside = inside.into_iter();
    inside.try_for_each(|value| with_states(value, context))
}

/// Reads a result, to which a transcript need not give its list.
fn read<T: DeserializeOwned>(mut result: Value, list: &str) -> T {
    if result.get(list).is_none() {
        result[list] = json!([]);
    }
    serde_json::from_value(result).unwrap()
}

macro_rules! calls {
    ($($name:ident $params:ident $response:ident $list:literal)*) => {$(
        async fn $name(&self, params: $params, context: Context) -> Result<$response, ErrorData> {
            let mut seen = json!(params);
            // The guard's own tool runs no handler.
            assert_ne!(seen["name"], "sealwax_confirm");
            seen["state"] = json!(params.request_state);
            let result = self.run(seen, &context).await?;
            Ok(if result["resultType"] == "input_required" {
                $response::InputRequired(serde_json::from_value(result).unwrap())
            } else {
                $response::Complete(read(result, $list))
            })
        }
    )*};
}

macro_rules! lists {
    ($($name:ident $result:ident $list:literal)*) => {$(
        async fn $name(
            &self,
            params: Option<PaginatedRequestParams>,
            context: Context,
        ) -> Result<$result, ErrorData> {
            let seen = json!({"cursor": params.and_then(|params| params.cursor)});
            let of_guard = ($list == "tools").then(|| stage().listed(&seen["cursor"]));
            let result = match of_guard.flatten() {
                Some(page) => page?,
                None => self.run(seen, &context).await?,
            };
            Ok(read(result, $list))
        }
    )*};
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        let capabilities = capabilities.enable_prompts().enable_resources();
        ServerConfig::new(capabilities.build())
    }

    calls! {
        call_tool CallToolRequestParams CallToolResponse "content"
        get_prompt GetPromptRequestParams GetPromptResponse "messages"
        read_resource ReadResourceRequestParams ReadResourceResponse "contents"
    }

    lists! {
        list_tools ListToolsResult "tools"
        list_prompts ListPromptsResult "prompts"
        list_resources ListResourcesResult "resources"
        list_resource_templates ListResourceTemplatesResult "resourceTemplates"
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        let seen = json!({"cursor": request.params.unwrap_or_default()["cursor"].as_str()});
        let result = self.run(seen, &context).await?;
        Ok(CustomResult::new(result))
    }

    async fn on_custom_notification(
        &self,
        _: CustomNotification,
        context: NotificationContext<RoleServer>,
    ) {
        let mut request = Context::new(RequestId::Number(0), context.peer);
        request.extensions = context.extensions;
        self.run(json!({}), &request).await.unwrap();
    }
}
