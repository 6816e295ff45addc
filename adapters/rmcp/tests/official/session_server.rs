//! A server with data-layer sessions.

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use sealwax::Codec;
use sealwax_rmcp::{Guard, GuardBuilder, Session, Sessions, from_claims};
use serde_json::{Value, json};

use crate::serving::{Refusals, fresh, serve, text};

#[derive(Clone)]
struct Server;

#[tool_router]
impl Server {
    #[tool(description = "Needs a session by its argument")]
    async fn read(&self, session: Session<String>) -> CallToolResult {
        let (value, ulid) = (session.value(), session.ulid());
        CallToolResult::structured(
            json!({"value": value, "ulid": ulid, "generation": session.generation()}),
        )
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
    let sessions = sessions(Sessions::new(begin));
    let guard = options(builder).sessions(sessions).build().unwrap();
    let uri = serve(guard.protect(Server)).await;
    Running { uri, refusals }
}

pub async fn start() -> Running {
    start_with(fresh(), |guard| guard, |sessions| sessions).await
}
