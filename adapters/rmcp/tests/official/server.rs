//! A server whose handlers return what they received.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use sealwax::{Codec, Key};
use sealwax_rmcp::{
    Guard, GuardBuilder, ReferenceHandles, Refused, SelfContainedHandles, State, from_claims,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::serving::{Refusals, codec, serve, text};

#[derive(Clone)]
pub struct Server {
    pub handles: ReferenceHandles,
    pub held: SelfContainedHandles,
}

#[derive(Deserialize, JsonSchema)]
struct Delete {
    /// Has a default, and reads `"7"` as `7`.
    #[serde(default = "seven", deserialize_with = "lenient")]
    #[schemars(with = "u32")]
    id: u32,
}

fn seven() -> u32 {
    7
}

fn lenient<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let text = Value::deserialize(from)?.to_string();
    let digits = text.trim_matches('"').trim_end_matches(".0");
    digits.parse().map_err(serde::de::Error::custom)
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Asked {
    asked: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Sent {
    handle: String,
}

#[derive(Deserialize, JsonSchema)]
struct Size {
    bytes: usize,
}

#[tool_router]
impl Server {
    #[tool(description = "Asks before it deletes")]
    async fn delete(
        &self,
        state: State<Asked>,
        Parameters(Delete { id }): Parameters<Delete>,
    ) -> Result<CallToolResponse, ErrorData> {
        match state.get() {
            None => Ok(
                InputRequiredResult::from_request_state(state.write(&Asked { asked: id })?).into(),
            ),
            Some(Asked { asked }) => Ok(text(&format!("deleted {id}, asked for {asked}")).into()),
        }
    }

    #[tool(description = "Asks again and again")]
    async fn count(&self, state: State<u32>) -> Result<CallToolResponse, ErrorData> {
        let rounds = state.into_inner().unwrap_or(0) + 1;
        Ok(InputRequiredResult::from_request_state(rounds.to_string()).into())
    }

    #[tool(description = "Reads another type than it writes")]
    async fn fickle(&self, _: State<u32>) -> Result<CallToolResponse, ErrorData> {
        Ok(InputRequiredResult::from_request_state("no number").into())
    }

    #[tool(description = "Takes any state for what it is")]
    async fn raw(
        &self,
        rmcp::handler::server::tool::RequestState(state): rmcp::handler::server::tool::RequestState,
    ) -> Result<CallToolResponse, ErrorData> {
        match state {
            None => Ok(InputRequiredResult::from_request_state("no JSON").into()),
            Some(state) => Ok(text(&state).into()),
        }
    }

    #[tool(description = "A new handle")]
    async fn mint(&self, ctx: RequestContext<RoleServer>) -> Result<CallToolResult, Refused> {
        let minted = self.handles.mint(&ctx)?;
        Ok(CallToolResult::structured(
            json!({"handle": minted.handle, "ulid": minted.ulid, "expiresAt": minted.expires_at}),
        ))
    }

    #[tool(description = "Whose row a handle is")]
    async fn check(
        &self,
        Parameters(sent): Parameters<Sent>,
        ctx: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Refused> {
        let checked = self.handles.check(&ctx, &sent.handle).await?;
        assert_eq!(checked.handle, sent.handle);
        Ok(CallToolResult::structured(
            json!({"ulid": checked.ulid, "expiresAt": checked.expires_at}),
        ))
    }

    #[tool(description = "Ends a handle")]
    async fn end(
        &self,
        Parameters(sent): Parameters<Sent>,
        ctx: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Refused> {
        self.handles.end(&ctx, &sent.handle).await?;
        Ok(text("ended"))
    }

    #[tool(description = "A new handle that holds a number of bytes")]
    async fn hold(
        &self,
        Parameters(Size { bytes }): Parameters<Size>,
        ctx: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Refused> {
        let sealed = self.held.seal(&ctx, &vec!["x".repeat(bytes)])?;
        Ok(CallToolResult::structured(
            json!({"handle": sealed.handle, "expiresAt": sealed.expires_at}),
        ))
    }

    #[tool(description = "Adds to what a handle holds")]
    async fn add(
        &self,
        Parameters(sent): Parameters<Sent>,
        ctx: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Refused> {
        let mut held = self.held.open::<Vec<String>>(&ctx, &sent.handle).await?;
        held.value.push("more".into());
        let next = self.held.renew(&ctx, &held).await?;
        Ok(CallToolResult::structured(
            json!({"handle": next.handle, "items": held.value, "expiresAt": held.expires_at}),
        ))
    }
}

/// Returns two pages. The plain cursor is `page 2`; the second page repeats it in `_meta`.
fn page(request: Option<PaginatedRequestParams>) -> (Option<String>, Option<MetaObject>) {
    match request.and_then(|request| request.cursor) {
        None => (Some("page 2".into()), None),
        Some(cursor) => {
            let mut saw = JsonObject::new();
            saw.insert("saw".into(), cursor.into());
            (None, Some(MetaObject(saw)))
        }
    }
}

macro_rules! lists {
    ($($name:ident $result:ident)*) => {$(
        async fn $name(
            &self,
            request: Option<PaginatedRequestParams>,
            _: RequestContext<RoleServer>,
        ) -> Result<$result, ErrorData> {
            let (next_cursor, meta) = page(request);
            Ok($result { next_cursor, meta, ..$result::default() })
        }
    )*};
}

#[tool_handler]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .build();
        capabilities.extensions =
            serde_json::from_value(json!({"io.modelcontextprotocol/skills": {}})).unwrap();
        ServerConfig::new(capabilities)
    }

    // Not in the macro, so that `#[tool_handler]` finds it and generates none.
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (next_cursor, meta) = page(request);
        Ok(ListToolsResult {
            next_cursor,
            meta,
            ..ListToolsResult::default()
        })
    }

    lists! {
        list_prompts ListPromptsResult
        list_resources ListResourcesResult
        list_resource_templates ListResourceTemplatesResult
        list_skills ListSkillsResult
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let state = State::<Asked>::of(&context)?;
        if state.get() == Some(&Asked { asked: 1 }) {
            return Ok(GetPromptResult::new(vec![]).into());
        }
        Ok(InputRequiredResult::from_request_state(state.write(&Asked { asked: 1 })?).into())
    }

    async fn read_resource(
        &self,
        _: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let state = State::<Asked>::of(&context)?;
        if state.get() == Some(&Asked { asked: 2 }) {
            return Ok(ReadResourceResult::new(vec![]).into());
        }
        Ok(InputRequiredResult::from_request_state(state.write(&Asked { asked: 2 })?).into())
    }

    /// Custom lists: `notes/list`, `empty/list`, and `bad/list`, whose cursor is no
    /// text; a method that carries no token, `notes/state`; and requests that fit none of rmcp's types.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method == "notes/state" {
            State::<Asked>::of(&context)?;
        }
        if request.method == "resources/read" {
            let saw = request
                .params
                .and_then(|it| it.get("requestState").cloned());
            return Ok(CustomResult::new(match saw {
                None => json!({"resultType": "input_required", "requestState": "kept"}),
                saw => json!({"resultType": "complete", "saw": saw}),
            }));
        }
        if request.method == "empty/list" {
            return Ok(CustomResult::new(json!({"resultType": "complete"})));
        }
        if request.method == "bad/list" {
            return Ok(CustomResult::new(json!({"nextCursor": 2})));
        }
        let saw = request
            .params
            .and_then(|params| params.get("cursor").cloned());
        Ok(CustomResult::new(match (request.method.as_str(), saw) {
            ("notes/list", None) => json!({"resultType": "complete", "nextCursor": "page 2"}),
            (_, saw) => json!({"resultType": "complete", "saw": saw}),
        }))
    }
}

/// A running server.
pub struct Running {
    pub uri: String,
    pub refusals: Refusals,
}

/// Starts a server with its own key, and the principal from claims.
pub async fn start(options: impl FnOnce(GuardBuilder) -> GuardBuilder) -> Running {
    start_with(codec(&[&Key::generate().unwrap()]), options).await
}

pub async fn start_with(
    codec: Codec,
    options: impl FnOnce(GuardBuilder) -> GuardBuilder,
) -> Running {
    start_as(Guard::builder(codec, from_claims), options).await
}

pub async fn start_as(
    builder: GuardBuilder,
    options: impl FnOnce(GuardBuilder) -> GuardBuilder,
) -> Running {
    let refusals = Refusals::default();
    let guard = options(builder.on_refused(refusals.hook()))
        .build()
        .unwrap();
    let handles = guard
        .reference_handles("basket")
        .max_age(std::time::Duration::from_secs(3600));
    let held = guard.self_contained_handles("cart");
    let uri = serve(guard.protect(Server { handles, held })).await;
    Running { uri, refusals }
}
