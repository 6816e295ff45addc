//! A server with data-layer sessions.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use sealwax::Codec;
use sealwax_rmcp::{Guard, GuardBuilder, Session, Sessions, from_claims};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::clients::{Client, SESSION, call_in, client, legacy};
use crate::serving::{Refusals, fresh, serve, text};

#[derive(Clone)]
struct Server;

#[derive(Deserialize, JsonSchema)]
struct Write {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Flood {
    bytes: usize,
}

#[tool_router]
impl Server {
    #[tool(description = "Needs a session by its argument")]
    async fn read(&self, session: Session<String>) -> CallToolResult {
        let (value, ulid) = (session.value(), session.ulid());
        CallToolResult::structured(
            json!({"value": value, "ulid": ulid, "generation": session.generation()}),
        )
    }

    #[tool(description = "Needs a session by the guard's options")]
    async fn needy(&self) -> CallToolResult {
        text("fine")
    }

    #[tool(description = "Needs none")]
    async fn free(&self, context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
        let session = Session::<String>::of(&context.extensions)?;
        Ok(text(&format!("{:?}", session.map(|it| it.value().clone()))))
    }

    #[tool(description = "Writes, and has metadata of its own")]
    async fn write(
        &self,
        mut session: Session<String>,
        Parameters(Write { text: to }): Parameters<Write>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        session.write(to.clone())?;
        assert_eq!(session.value(), &to);
        let again = Session::<String>::of(&context.extensions)?.unwrap();
        assert_eq!((again.value(), again.id()), (&to, session.id()));
        let mut result = text("written");
        let mut meta = MetaObject::new();
        meta.0.insert("com.example/other".into(), json!(1));
        result.meta = Some(meta);
        Ok(result)
    }

    #[tool(description = "Writes more than fits")]
    async fn flood(
        &self,
        mut session: Session<String>,
        Parameters(Flood { bytes }): Parameters<Flood>,
    ) -> Result<CallToolResult, ErrorData> {
        session.write("x".repeat(bytes))?;
        Ok(text("never seen"))
    }

    #[tool(description = "Another session that begins as this one is")]
    async fn fork(
        &self,
        session: Session<String>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let forked = session.fork(&context)?;
        Ok(CallToolResult::structured(json!({ "session": forked })))
    }
}

#[tool_handler]
impl ServerHandler for Server {
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

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if Session::<String>::of(&context.extensions)?.is_some() {
            return Err(ErrorData::invalid_request("a list saw a session", None));
        }
        let mut list = ListResourcesResult::with_all_items(vec![]);
        list.cache_scope = Some(CacheScope::Public);
        list.ttl_ms = Some(60_000);
        Ok(list)
    }

    /// A custom list and another custom method, which any cache may serve.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let session = Session::<String>::of(&context.extensions)?;
        if session.is_some() != (request.method == "notes/count") {
            return Err(ErrorData::invalid_request("a list saw a session", None));
        }
        let public = json!({"resultType": "complete", "cacheScope": "public", "ttlMs": 60_000});
        Ok(CustomResult::new(public))
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let result = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(result
            .with_cache_scope(CacheScope::Public)
            .with_ttl_ms(60_000))
    }

    fn get_info(&self) -> ServerConfig {
        let offers = ServerCapabilities::builder().enable_tools();
        let mut offers = offers.enable_resources().build();
        let own = ("com.example/own".into(), JsonObject::new());
        offers.experimental = Some([own].into());
        ServerConfig::new(offers)
    }
}

#[derive(Clone)]
pub struct Rows;

#[tool_router]
impl Rows {
    #[tool(description = "Which row")]
    async fn row(&self, mut session: Session<()>) -> CallToolResult {
        assert!(session.write(()).is_err());
        text(&session.ulid())
    }
}

#[tool_handler]
impl ServerHandler for Rows {}

pub struct Running {
    pub uri: String,
    pub refusals: Refusals,
}

pub async fn start_with(
    codec: Codec,
    options: impl FnOnce(GuardBuilder) -> GuardBuilder,
    sessions: impl FnOnce(Sessions) -> Sessions,
) -> Running {
    let refusals = Refusals::default();
    let builder = Guard::builder(codec, from_claims).on_refused(refusals.hook());
    let begin = |_, params: Option<Value>| async move {
        let begin = params.and_then(|it| it["begin"].as_str().map(str::to_owned));
        match begin.as_deref() {
            Some("never") => Err(ErrorData::invalid_params("never", None)),
            _ => Ok(begin.unwrap_or_else(|| "new".into())),
        }
    };
    let sessions = sessions(Sessions::new(begin).require_tools(["needy"]));
    let guard = options(builder).sessions(sessions).build().unwrap();
    let uri = serve(guard.protect(Server)).await;
    Running { uri, refusals }
}

pub async fn start() -> Running {
    start_with(fresh(), |guard| guard, |sessions| sessions).await
}

pub async fn connect(revision: &str, uri: &str, user: &str) -> Client {
    match revision {
        "2026-07-28" => client(uri, user).await,
        _ => legacy(uri, user).await,
    }
}

pub async fn write(client: &Client, to: &str, session: &Value) -> Value {
    let result = call_in(client, "write", json!({"text": to}), session).await;
    let result = result.unwrap();
    let left = result["_meta"][SESSION].clone();
    assert_eq!(left["sessionId"], session["sessionId"]);
    assert!(left["expiresAt"].is_string(), "{left}");
    left
}

pub fn not_found(session: &Value) -> Value {
    let id = &session["sessionId"];
    json!({"code": -32043, "message": "Session not found", "data": {"sessionId": id}})
}
