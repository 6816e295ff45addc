//! A server with tokens of every kind but sessions.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use sealwax::Codec;
use sealwax_rmcp::{
    Guard, GuardBuilder, HandleRefused, Pages, ReferenceHandles, SelfContainedHandles, State,
    from_claims,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::clients::{Client, call, json_of};
use crate::serving::{Refusals, fresh, serve};

#[derive(Clone)]
pub struct Server {
    pub handles: ReferenceHandles,
    pub held: SelfContainedHandles,
    pub pages: Pages,
}

#[derive(Deserialize, JsonSchema)]
struct Sent {
    handle: String,
}

#[tool_router]
impl Server {
    #[tool(description = "Asks again and again")]
    async fn count(&self, state: State<u32>) -> Result<CallToolResponse, ErrorData> {
        let rounds = state.into_inner().unwrap_or(0) + 1;
        Ok(InputRequiredResult::from_request_state(rounds.to_string()).into())
    }

    #[tool(description = "Reads another type than it writes")]
    async fn fickle(&self, state: State<u32>) -> Result<CallToolResponse, ErrorData> {
        Ok(InputRequiredResult::from_request_state(state.write("no number")?).into())
    }

    #[tool(description = "A new handle")]
    async fn mint(&self, ctx: RequestContext<RoleServer>) -> Result<CallToolResult, HandleRefused> {
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
    ) -> Result<CallToolResult, HandleRefused> {
        let checked = self.handles.check(&ctx, &sent.handle).await?;
        Ok(CallToolResult::structured(
            json!({"handle": checked.handle, "ulid": checked.ulid, "expiresAt": checked.expires_at}),
        ))
    }

    #[tool(description = "Reads another position than it writes")]
    async fn page(&self, ctx: RequestContext<RoleServer>) -> Result<CallToolResult, HandleRefused> {
        self.pages.position::<u32>(&ctx).await?;
        let next = self.pages.cursor(&ctx, "no number")?;
        Ok(CallToolResult::structured(json!({"next": next})))
    }

    #[tool(description = "A new handle that holds something")]
    async fn hold(&self, ctx: RequestContext<RoleServer>) -> Result<CallToolResult, HandleRefused> {
        let sealed = self.held.seal(&ctx, "something")?;
        Ok(CallToolResult::structured(
            json!({"handle": sealed.handle, "expiresAt": sealed.expires_at}),
        ))
    }

    #[tool(description = "What a handle holds")]
    async fn look(
        &self,
        Parameters(sent): Parameters<Sent>,
        ctx: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, HandleRefused> {
        let held = self.held.open::<String>(&ctx, &sent.handle).await?;
        Ok(CallToolResult::structured(
            json!({"value": held.value, "expiresAt": held.expires_at}),
        ))
    }
}

#[tool_handler]
impl ServerHandler for Server {
    // Not in the macro, so that `#[tool_handler]` finds it and generates none.
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let next_cursor = Some("page 2".into());
        Ok(ListToolsResult {
            next_cursor,
            ..ListToolsResult::default()
        })
    }

    /// What fits none of rmcp's types comes here, too.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let params = request.params.unwrap_or_default();
        Ok(CustomResult::new(match request.method.as_str() {
            "bad/list" => json!({"nextCursor": 2}),
            _ if params["requestState"].is_string() => json!({"saw": params["requestState"]}),
            _ => json!({"resultType": "input_required", "requestState": "kept"}),
        }))
    }
}

pub async fn tool(client: &Client, tool: &'static str, args: Value) -> Value {
    json_of(client.call_tool(call(tool, args)).await).unwrap()
}

/// A running server.
pub struct Running {
    pub uri: String,
    pub refusals: Refusals,
}

/// Starts a server with its own key, and the principal from claims.
pub async fn start(options: impl FnOnce(GuardBuilder) -> GuardBuilder) -> Running {
    start_with(fresh(), options).await
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
    let guard = options(builder.on_refused(refusals.hook()));
    let guard = guard.build().unwrap();
    let uri = serve(guard.protect(server(&guard, "basket"))).await;
    Running { uri, refusals }
}

const HOUR: std::time::Duration = std::time::Duration::from_secs(3600);

/// With handles of one type of this guard.
pub fn server(guard: &Guard, handle_type: &str) -> Server {
    Server {
        handles: guard.reference_handles(handle_type).max_age(HOUR),
        held: guard.self_contained_handles(handle_type).max_age(HOUR),
        pages: guard.pages(),
    }
}
