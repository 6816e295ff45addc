//! A server behind a guard.

#![expect(
    deprecated,
    reason = "what the server inside still offers is passed on"
)]

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
    CompleteRequestParams, CompleteResult, CustomNotification, CustomRequest, CustomResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams,
    GetSkillResult, GetTaskParams, GetTaskResult, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
    ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult, ReadResourceRequestParams,
    ReadResourceResponse, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use sealwax::Carried;
use serde::Deserialize as _;
use serde_json::Value;

use crate::Guard;
use crate::message::REPLAYED;
use crate::metadata::Metadata;
use crate::wire::{Incoming, Outgoing};

/// What [`Guard::protect`] returns: serve it in place of the server inside.
///
/// It is a [`ServerHandler`], because that is what `StreamableHttpService` takes. Every method goes
/// to the server inside; those that carry tokens go through the guard.
#[derive(Clone, Debug)]
pub struct Protected<S> {
    guard: Guard,
    inner: S,
}

impl<S> Protected<S> {
    pub(crate) fn new(guard: Guard, inner: S) -> Self {
        Self { guard, inner }
    }

    /// The server inside.
    #[must_use]
    pub fn inner(&self) -> &S {
        &self.inner
    }
}

/// The `initialize` that would follow.
fn replayed(params: &Value) -> Result<InitializeRequestParams, ErrorData> {
    let params = InitializeRequestParams::deserialize(params);
    params.map_err(|_| ErrorData::invalid_params("Invalid params", None))
}

/// Methods whose messages carry tokens.
macro_rules! carry {
    ($($name:ident($method:literal, $params:ty) -> $result:ty;)*) => {$(
        async fn $name(
            &self,
            request: $params,
            context: RequestContext<RoleServer>,
        ) -> Result<$result, ErrorData> {
            let handler = |request, context| self.inner.$name(request, context);
            self.carried($method, request, context, handler).await
        }
    )*};
}

/// Methods whose messages do not, but may be of a session.
macro_rules! forward {
    ($($name:ident($method:literal $(, $params:ty)?) -> $result:ty;)*) => {$(
        forward!(@ $name, $method, ($($params)?), $result);
    )*};
    (@ $name:ident, $method:literal, (), $result:ty) => {
        async fn $name(&self, context: RequestContext<RoleServer>) -> Result<$result, ErrorData> {
            let handler = |context| self.inner.$name(context);
            self.guard.in_session($method, None, context, handler).await
        }
    };
    (@ $name:ident, $method:literal, ($params:ty), $result:ty) => {
        async fn $name(
            &self,
            request: $params,
            context: RequestContext<RoleServer>,
        ) -> Result<$result, ErrorData> {
            let handler = |context| self.inner.$name(request, context);
            self.guard.in_session($method, None, context, handler).await
        }
    };
}

/// Notifications: one with a bad session is dropped.
macro_rules! notify {
    ($($name:ident($($params:ty)?);)*) => {$(
        notify!(@ $name, ($($params)?));
    )*};
    (@ $name:ident, ()) => {
        async fn $name(&self, context: NotificationContext<RoleServer>) {
            if self.guard.notified(&context).await {
                self.inner.$name(context).await;
            }
        }
    };
    (@ $name:ident, ($params:ty)) => {
        async fn $name(&self, params: $params, context: NotificationContext<RoleServer>) {
            if self.guard.notified(&context).await {
                self.inner.$name(params, context).await;
            }
        }
    };
}

impl<S: ServerHandler> Protected<S> {
    /// Through the session first, which holds for all that the request carries.
    async fn carried<Q, A, H>(
        &self,
        method: &str,
        request: Q,
        context: RequestContext<RoleServer>,
        handler: impl FnOnce(Q, RequestContext<RoleServer>) -> H,
    ) -> Result<A, ErrorData>
    where
        Q: Incoming,
        A: Outgoing + Metadata,
        H: Future<Output = Result<A, ErrorData>>,
    {
        let call = Carried::by(method).filter(|_| method == "tools/call");
        let tool = call.and_then(|carried| request.target(&carried).map(str::to_owned));
        let handler = |context| self.guard.carry(method, request, context, handler);
        self.guard
            .in_session(method, tool.as_deref(), context, handler)
            .await
    }
}

impl<S: ServerHandler> ServerHandler for Protected<S> {
    carry! {
        call_tool("tools/call", CallToolRequestParams) -> CallToolResponse;
        get_prompt("prompts/get", GetPromptRequestParams) -> GetPromptResponse;
        read_resource("resources/read", ReadResourceRequestParams) -> ReadResourceResponse;
        list_tools("tools/list", Option<PaginatedRequestParams>) -> ListToolsResult;
        list_prompts("prompts/list", Option<PaginatedRequestParams>) -> ListPromptsResult;
        list_resources("resources/list", Option<PaginatedRequestParams>) -> ListResourcesResult;
        list_resource_templates("resources/templates/list", Option<PaginatedRequestParams>)
            -> ListResourceTemplatesResult;
        list_skills("skills/list", Option<PaginatedRequestParams>) -> ListSkillsResult;
        read_resource_directory("resources/directory/read", ReadResourceDirectoryRequestParams)
            -> ReadResourceDirectoryResult;
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if let Some(answer) = self.guard.session_request(&request, &context).await {
            return answer;
        }
        let method = request.method.clone();
        let handler = |request, context| self.inner.on_custom_request(request, context);
        self.carried(&method, request, context, handler).await
    }

    forward! {
        ping("ping") -> ();
        complete("completion/complete", CompleteRequestParams) -> CompleteResult;
        set_level("logging/setLevel", SetLevelRequestParams) -> ();
        subscribe("resources/subscribe", SubscribeRequestParams) -> ();
        unsubscribe("resources/unsubscribe", UnsubscribeRequestParams) -> ();
        get_task("tasks/get", GetTaskParams) -> GetTaskResult;
        update_task("tasks/update", UpdateTaskParams) -> ();
        cancel_task("tasks/cancel", CancelTaskParams) -> ();
        get_skill("skills/get", GetSkillRequestParams) -> GetSkillResult;
    }

    notify! {
        on_cancelled(CancelledNotificationParam);
        on_progress(ProgressNotificationParam);
        on_initialized();
        on_roots_list_changed();
        on_custom_notification(CustomNotification);
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let handler = |context| self.inner.initialize(request, context);
        let guard = &self.guard;
        let mut result = guard
            .in_session("initialize", None, context, handler)
            .await?;
        guard.offer_sessions(&mut result.capabilities);
        Ok(result)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let guard = &self.guard;
        if let Some(params) = context.meta.get(REPLAYED) {
            let begun = self.initialize(replayed(params)?, context).await?;
            let versions = vec![begun.protocol_version];
            return Ok(DiscoverResult::new(versions, begun.capabilities));
        }
        let handler = |context| self.inner.discover(context);
        let mut result = guard
            .in_session("server/discover", None, context, handler)
            .await?;
        guard.offer_sessions(&mut result.capabilities);
        Ok(result)
    }

    /// rmcp does not show the request of a subscription, so a session is not looked at.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.inner.listen(context).await
    }

    fn get_info(&self) -> ServerConfig {
        let mut info = self.inner.get_info();
        self.guard.offer_sessions(&mut info.capabilities);
        info
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.inner.get_tool(name)
    }

    fn negotiate_initialize(
        &self,
        request: &InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.inner.negotiate_initialize(request)?;
        self.guard.offer_sessions(&mut result.capabilities);
        Ok(result)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.inner.supported_protocol_versions()
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.inner.accepted_subscription_filter(requested)
    }
}
