//! The script of a handler, in terms of the crate's public API.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax_rmcp::{ReferenceHandle, Refused, SealedHandle, Session, State};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::scripted_server::{Running, Server};

type Context = RequestContext<RoleServer>;

impl Server {
    /// Runs the operations, and returns the handler's result.
    async fn run(
        &self,
        carried: Option<(&str, Option<String>)>,
        extensions: &Extensions,
        request: Option<&Context>,
    ) -> Result<Value, ErrorData> {
        let session = self.session("session", &Value::Null, extensions, request)?;
        let operations = {
            let mut scene = self.stage.lock();
            scene.found.delivered = json!({"session": session});
            if let Some((member, carried)) = carried {
                scene.found.delivered[member] = json!(carried);
            }
            scene.event["handler"]
                .as_array()
                .cloned()
                .unwrap_or_default()
        };
        let mut returned = json!({});
        for operation in &operations {
            match operation[0].as_str().unwrap() {
                "return" => {
                    returned = self.stage.lock().world.resolved(&operation[1]);
                    with_states(&mut returned, request)?;
                }
                "result" => returned = Self::result_of_session(request)?,
                "throw" => {
                    return Err(ErrorData::new(ErrorCode(-32000), "the handler's own", None));
                }
                _ => {
                    let did = self.operate(operation, extensions, request).await;
                    self.stage.lock().found.did.push(did);
                }
            }
        }
        let during = self.stage.lock().event["during"].clone();
        let played: BoxFuture<'_, _> = Box::pin(self.play(&during));
        let wrong = played.await.err();
        self.stage.lock().found.wrong = wrong;
        Ok(returned)
    }

    /// Plays what happens while this handler runs.
    async fn play(&self, events: &Value) -> Result<(), String> {
        Running::during(self).play(events).await
    }

    /// The result of a tool that is made from its session's value.
    fn result_of_session(request: Option<&Context>) -> Result<Value, ErrorData> {
        let session = Session::<Value>::of(&request.unwrap().extensions)?.unwrap();
        let result = session
            .result(|value| CallToolResult::success(vec![ContentBlock::text(value.to_string())]));
        Ok(json!(result))
    }

    async fn operate(
        &self,
        operation: &Value,
        extensions: &Extensions,
        request: Option<&Context>,
    ) -> Value {
        let name = operation[0].as_str().unwrap();
        let did = match (name, request) {
            ("state", Some(request)) => {
                State::<Value>::of(request).map(|state| match state.get() {
                    Some(state) => state.to_string().into(),
                    None => Value::Null,
                })
            }
            ("update", Some(request)) => Self::update(operation, request),
            ("session" | "write" | "fork", _) => {
                self.session(name, &operation[1], extensions, request)
            }
            (_, Some(request)) => return self.handle(operation, request).await,
            _ => panic!("no notification does {name}"),
        };
        // A mistake of the author is reported like every failure of a request.
        did.unwrap_or_else(|_| {
            let reported = self.stage.lock().found.reported.pop().unwrap();
            json!({"error": reported["code"]})
        })
    }

    fn session(
        &self,
        name: &str,
        value: &Value,
        extensions: &Extensions,
        request: Option<&Context>,
    ) -> Result<Value, ErrorData> {
        match self.held_by_server {
            false => in_session(name, value.clone(), extensions, request),
            true => in_session(name, (), extensions, request),
        }
    }

    /// Adds to the number of a session. With `fails`, the function panics at a newer value.
    fn update(operation: &Value, request: &Context) -> Result<Value, ErrorData> {
        let added = operation[1].as_i64().unwrap();
        let fails = operation[2]["fails"] == true;
        let calls = AtomicUsize::new(0);
        let mut session = Session::<Value>::of(&request.extensions)?.unwrap();
        session.update(move |value| {
            let calls = calls.fetch_add(1, Ordering::Relaxed);
            assert!(!fails || calls == 0, "as the transcript wants it");
            *value = json!(value.as_i64().unwrap() + added);
        })?;
        Ok("ok".into())
    }

    async fn handle(&self, operation: &Value, context: &Context) -> Value {
        let options = operation.as_array().unwrap().last().unwrap();
        let handle_type = operation[1].as_str().unwrap();
        let third = self.stage.lock().world.resolved(&operation[2]);
        let sent = third.as_str().unwrap_or_default();
        let handles = self.guard.reference_handles(handle_type);
        let handles = match options["maxAge"].as_u64() {
            Some(age) => handles.max_age(Duration::from_secs(age)),
            None => handles,
        };
        let held = self.guard.self_contained_handles(handle_type);
        let held = if options["once"] == true {
            held.single_use()
        } else {
            held
        };
        let ended = |()| json!("ok");
        let did = match operation[0].as_str().unwrap() {
            "mint" => handles.mint(context).map(told),
            "check" => handles.check(context, sent).await.map(told),
            "seal" => held
                .seal(context, &third)
                .map(|it: SealedHandle| json!({"handle": it.handle})),
            "open" => {
                let opened = held.open::<Value>(context, sent).await;
                opened.map(|held| json!({"value": held.value, "generation": held.generation}))
            }
            "renew" => match held.open::<Value>(context, sent).await {
                Ok(mut opened) => {
                    opened.value = operation[3].clone();
                    let renewed = held.renew(context, &opened).await;
                    renewed.map(|it| json!({"handle": it.handle}))
                }
                Err(refused) => Err(refused),
            },
            "end" if options["selfContained"] == true => held.end(context, sent).await.map(ended),
            "end" => handles.end(context, sent).await.map(ended),
            other => panic!("no operation is named {other}"),
        };
        match did {
            Ok(did) => {
                let name = options["as"].as_str();
                if let (Some(name), Some(handle)) = (name, did["handle"].as_str()) {
                    let handles = &mut self.stage.lock().world.handles;
                    handles.insert(name.into(), handle.into());
                }
                did
            }
            Err(refused) => failed(refused),
        }
    }
}

/// Replaces each `{"$state": value}` by what an author gets for that value.
fn with_states(value: &mut Value, request: Option<&Context>) -> Result<(), ErrorData> {
    if let Some(state) = value.get("$state") {
        *value = State::<Value>::of(request.unwrap())?.write(state)?.into();
    }
    match value {
        Value::Array(items) => items
            .iter_mut()
            .try_for_each(|item| with_states(item, request)),
        Value::Object(members) => members
            .values_mut()
            .try_for_each(|member| with_states(member, request)),
        _ => Ok(()),
    }
}

fn told(handle: ReferenceHandle) -> Value {
    json!({"handle": handle.handle})
}

fn failed(refused: Refused) -> Value {
    let text = refused.to_string();
    let code = ErrorData::from(refused).code;
    if ["This handle is not valid", "Authentication required"]
        .iter()
        .any(|refusal| text.starts_with(refusal))
    {
        assert_eq!(code, ErrorCode(-32602));
        json!({"refused": true})
    } else {
        assert_eq!(code, ErrorCode(-32603));
        json!({"failed": true})
    }
}

fn in_session<T: Serialize + DeserializeOwned>(
    name: &str,
    value: T,
    extensions: &Extensions,
    request: Option<&Context>,
) -> Result<Value, ErrorData> {
    let Some(mut session) = Session::<T>::of(extensions)? else {
        return Ok(Value::Null);
    };
    match name {
        "write" => session.write(value).map(|()| "ok".into()),
        "fork" => session
            .fork(request.unwrap())
            .map(|metadata| json!(metadata)),
        _ => Ok(json!({"value": session.value(), "generation": session.generation()})),
    }
}

fn read<T: DeserializeOwned>(result: Value) -> T {
    serde_json::from_value(result).unwrap()
}

fn asks(result: &Value) -> bool {
    result["resultType"] == "input_required"
}

macro_rules! lists {
    ($($name:ident $result:ident $member:literal)*) => {$(
        async fn $name(
            &self,
            request: Option<PaginatedRequestParams>,
            context: Context,
        ) -> Result<$result, ErrorData> {
            let cursor = request.and_then(|request| request.cursor);
            let carried = Some(("cursor", cursor));
            let mut result = self.run(carried, &context.extensions, Some(&context)).await?;
            if result.get($member).is_none() {
                result[$member] = json!([]);
            }
            Ok(read(result))
        }
    )*};
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder();
        let capabilities = capabilities
            .enable_tools()
            .enable_prompts()
            .enable_resources();
        ServerConfig::new(capabilities.build())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        if self.stage.lock().event["message"]["method"] == "initialize" {
            self.stage.lock().found.delivered = json!({});
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let carried = Some(("state", request.request_state));
        let mut result = self
            .run(carried, &context.extensions, Some(&context))
            .await?;
        if asks(&result) {
            return Ok(CallToolResponse::InputRequired(read(result)));
        }
        if result.get("content").is_none() {
            result["content"] = json!([]);
        }
        Ok(CallToolResponse::Complete(read(result)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let carried = Some(("state", request.request_state));
        let mut result = self
            .run(carried, &context.extensions, Some(&context))
            .await?;
        if asks(&result) {
            return Ok(GetPromptResponse::InputRequired(read(result)));
        }
        if result.get("messages").is_none() {
            result["messages"] = json!([]);
        }
        Ok(GetPromptResponse::Complete(read(result)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let carried = Some(("state", request.request_state));
        let mut result = self
            .run(carried, &context.extensions, Some(&context))
            .await?;
        if asks(&result) {
            return Ok(ReadResourceResponse::InputRequired(read(result)));
        }
        if result.get("contents").is_none() {
            result["contents"] = json!([]);
        }
        Ok(ReadResourceResponse::Complete(read(result)))
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
        let params = request.params.unwrap_or_default();
        let cursor = params["cursor"].as_str().map(Into::into);
        let carried = Some(("cursor", cursor));
        let result = self
            .run(carried, &context.extensions, Some(&context))
            .await?;
        Ok(CustomResult::new(result))
    }

    async fn on_custom_notification(
        &self,
        _: CustomNotification,
        context: NotificationContext<RoleServer>,
    ) {
        self.run(None, &context.extensions, None).await.unwrap();
    }
}
