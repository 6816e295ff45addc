//! A server with data-layer sessions.

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax::Codec;
use sealwax_rmcp::{Guard, Session, Sessions, from_claims};
use serde_json::{Value, json};

use crate::serving::{Refusals, serve};

#[derive(Clone)]
pub struct Server;

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
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let list = ListResourcesResult::with_all_items(vec![]);
        Ok(list
            .with_cache_scope(CacheScope::Public)
            .with_ttl_ms(60_000))
    }

    /// Needs a session.
    async fn on_custom_request(
        &self,
        _: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let session = Session::<String>::of(&context.extensions)?;
        let session = session.ok_or_else(|| ErrorData::invalid_request("no session", None))?;
        Ok(CustomResult::new(
            json!({"saw": session.value(), "id": session.id(), "ulid": session.ulid(),
                "cacheScope": "public", "ttlMs": 60_000}),
        ))
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let result = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(result
            .with_cache_scope(CacheScope::Public)
            .with_ttl_ms(60_000))
    }

    fn get_info(&self) -> ServerConfig {
        let mut offers = ServerCapabilities::builder().enable_resources().build();
        let own = ("com.example/own".into(), JsonObject::new());
        offers.experimental = Some([own].into());
        ServerConfig::new(offers)
    }
}

pub struct Running {
    pub uri: String,
    pub refusals: Refusals,
}

/// Its sessions begin with a text, or are refused.
pub async fn start(codec: Codec) -> Running {
    let sessions = Sessions::new(|_, params: Option<Value>| async move {
        match params.unwrap_or_default()["begin"].as_str() {
            Some("panic") => panic!("a secret"),
            Some("never") => Err(ErrorData::invalid_params("never", None)),
            begin => Ok(begin.unwrap_or("new").to_owned()),
        }
    });
    let refusals = Refusals::default();
    let guard = Guard::builder(codec, from_claims).on_refused(refusals.hook());
    let guard = guard.sessions(sessions).build().unwrap();
    let uri = serve(guard.protect(Server)).await;
    Running { uri, refusals }
}
