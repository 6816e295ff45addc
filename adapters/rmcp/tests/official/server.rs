//! A server with tokens of every kind, over HTTP.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use sealwax::Principal;
use sealwax_mcp::Profile;
use sealwax_rmcp::{
    Guard, GuardBuilder, HandleRefused, ReferenceHandle, ReferenceHandles, SelfContainedHandles,
    Session, Sessions, State, from_claims,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::clients::{Client, answer, call, json_of};
use crate::serving::{Refusals, fresh, serve};

const HOUR: Duration = Duration::from_secs(3600);

thread_local! {
    /// When a handler last returned. Every test and its server are on one thread.
    pub static RETURNED: Cell<Option<Instant>> = const { Cell::new(None) };
}

#[derive(Clone)]
pub struct Server {
    pub guard: Guard,
    pub handle_type: &'static str,
}

#[derive(Deserialize, JsonSchema)]
struct Sent {
    handle: String,
}

fn row(row: ReferenceHandle) -> CallToolResult {
    let (handle, ulid, expires_at) = (row.handle, row.ulid, row.expires_at);
    CallToolResult::structured(json!({"handle": handle, "ulid": ulid, "expiresAt": expires_at}))
}

#[tool_router]
impl Server {
    fn rows(&self) -> ReferenceHandles {
        self.guard.reference_handles(self.handle_type).max_age(HOUR)
    }

    fn held(&self) -> SelfContainedHandles {
        let held = self.guard.self_contained_handles(self.handle_type);
        held.max_age(HOUR).ttl(HOUR / 60)
    }

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
        self.rows().mint(&ctx).map(row)
    }

    #[tool(description = "Whose row a handle is")]
    async fn check(
        &self,
        Parameters(sent): Parameters<Sent>,
        ctx: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, HandleRefused> {
        self.rows().check(&ctx, &sent.handle).await.map(row)
    }

    #[tool(description = "Reads another position than it writes")]
    async fn page(&self, ctx: RequestContext<RoleServer>) -> Result<CallToolResult, HandleRefused> {
        let pages = self.guard.pages();
        pages.position::<u32>(&ctx).await?;
        let next = pages.cursor(&ctx, "no number")?;
        Ok(CallToolResult::structured(json!({ "next": next })))
    }

    #[tool(description = "A new handle that holds something")]
    async fn hold(&self, ctx: RequestContext<RoleServer>) -> Result<CallToolResult, HandleRefused> {
        let sealed = self.held().seal(&ctx, "something")?;
        let (handle, expires_at) = (sealed.handle, sealed.expires_at);
        Ok(CallToolResult::structured(
            json!({"handle": handle, "expiresAt": expires_at}),
        ))
    }

    #[tool(description = "What a handle holds")]
    async fn look(
        &self,
        Parameters(sent): Parameters<Sent>,
        ctx: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, HandleRefused> {
        let held = self.held().open::<String>(&ctx, &sent.handle).await?;
        Ok(CallToolResult::structured(
            json!({"value": held.value, "expiresAt": held.expires_at}),
        ))
    }

    #[tool(description = "What was negotiated")]
    async fn who(&self, context: RequestContext<RoleServer>) -> CallToolResult {
        CallToolResult::structured(json!({"negotiated": self.guard.negotiated(&context)}))
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
        RETURNED.set(Some(Instant::now()));
        let next_cursor = Some("page 2".into());
        Ok(ListToolsResult {
            next_cursor,
            ..ListToolsResult::default()
        })
    }

    /// Hands out handles.
    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let sealed = self.held().seal(&context, "something")?;
        let opened = self.held().open::<String>(&context, &sealed.handle).await?;
        assert_eq!(opened.value, "something");
        self.rows().mint(&context)?;
        let listed = ListResourcesResult::default();
        Ok(listed
            .with_cache_scope(CacheScope::Public)
            .with_ttl_ms(60_000))
    }

    #[expect(deprecated, reason = "a method whose result rmcp leaves empty")]
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if request.level == LoggingLevel::Error
            && let Some(mut session) = Session::<String>::of(&context.extensions)?
        {
            session.write("lost".into())?;
        }
        Ok(())
    }

    /// What fits none of rmcp's types comes here, too.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let params = request.params.unwrap_or_default();
        let result = match request.method.as_str() {
            "bad/list" => json!({"nextCursor": 2}),
            "notes/list" => json!({"nextCursor": "2"}),
            "notes/read" => {
                let session = Session::<String>::of(&context.extensions)?;
                let session = session.ok_or(ErrorData::invalid_request("no session", None))?;
                json!({"saw": session.value(), "id": session.id(), "ulid": session.ulid(), "cacheScope": "public", "ttlMs": 60_000})
            }
            _ if params["requestState"].is_string() => json!({"saw": params["requestState"]}),
            _ => json!({"resultType": "input_required", "requestState": "kept"}),
        };
        RETURNED.set(Some(Instant::now()));
        Ok(CustomResult::new(result))
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let result = DiscoverResult::from_server_info(versions, self.get_info());
        let result = result.with_cache_scope(CacheScope::Public);
        Ok(result.with_ttl_ms(60_000))
    }

    fn get_info(&self) -> ServerConfig {
        let mut offers = ServerCapabilities::builder().enable_tools().build();
        let own = ("com.example/own".into(), JsonObject::new());
        offers.experimental = Some([own].into());
        ServerConfig::new(offers)
    }
}

pub async fn tool(client: &Client, tool: &'static str, args: Value) -> Value {
    json_of(client.call_tool(call(tool, args)).await).unwrap()
}

/// Returns the answer to a request that failed in the server.
pub fn internal(profile: Profile) -> Value {
    answer(profile.internal_error())
}

/// The principal of a bearer token that says `alice`.
pub fn alice() -> Principal {
    let alice = Principal::subject("alice").with_client("cli");
    alice.with_issuer("https://idp.example.com")
}

/// A running server.
pub struct Running {
    pub uri: String,
    pub refusals: Refusals,
}

/// Starts a server with its own key, and the principal from claims.
pub async fn start() -> Running {
    start_as(Guard::builder(fresh(), from_claims)).await
}

pub async fn start_as(builder: GuardBuilder) -> Running {
    let refusals = Refusals::default();
    let builder = builder.on_refused(refusals.hook());
    let guard = builder.sessions(sessions()).build().unwrap();
    let uri = serve(guard.protect(server(&guard, "basket"))).await;
    Running { uri, refusals }
}

/// They begin with a text, or are refused.
pub fn sessions() -> Sessions {
    Sessions::new(|_, params: Option<Value>| async move {
        match params.unwrap_or_default()["begin"].as_str() {
            Some("panic") => panic!("a secret"),
            Some("never") => Err(ErrorData::invalid_params("never", None)),
            begin => Ok(begin.unwrap_or("new").to_owned()),
        }
    })
}

/// With handles of one type of this guard.
pub fn server(guard: &Guard, handle_type: &'static str) -> Server {
    Server {
        guard: guard.clone(),
        handle_type,
    }
}
