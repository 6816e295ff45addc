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

use crate::Guard;

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

/// Methods whose messages carry tokens.
macro_rules! carry {
    ($($name:ident($method:literal, $params:ty) -> $result:ty;)*) => {$(
        async fn $name(
            &self,
            request: $params,
            context: RequestContext<RoleServer>,
        ) -> Result<$result, ErrorData> {
            let handler = |request, context| self.inner.$name(request, context);
            self.guard.carry($method, request, context, handler).await
        }
    )*};
}

/// Methods whose messages do not.
macro_rules! forward {
    ($($name:ident($($params:ty)?; $context:ty) $(-> $result:ty)?;)*) => {$(
        forward!(@ $name, $context, ($($params)?), ($($result)?));
    )*};
    (@ $name:ident, $context:ty, (), ($($result:ty)?)) => {
        async fn $name(&self, context: $context) $(-> Result<$result, ErrorData>)? {
            self.inner.$name(context).await
        }
    };
    (@ $name:ident, $context:ty, ($params:ty), ($($result:ty)?)) => {
        async fn $name(
            &self,
            request: $params,
            context: $context,
        ) $(-> Result<$result, ErrorData>)? {
            self.inner.$name(request, context).await
        }
    };
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
        let method = request.method.clone();
        let handler = |request, context| self.inner.on_custom_request(request, context);
        self.guard.carry(&method, request, context, handler).await
    }

    forward! {
        ping(; RequestContext<RoleServer>) -> ();
        initialize(InitializeRequestParams; RequestContext<RoleServer>) -> InitializeResult;
        discover(; RequestContext<RoleServer>) -> DiscoverResult;
        complete(CompleteRequestParams; RequestContext<RoleServer>) -> CompleteResult;
        set_level(SetLevelRequestParams; RequestContext<RoleServer>) -> ();
        listen(; SubscriptionContext) -> ();
        subscribe(SubscribeRequestParams; RequestContext<RoleServer>) -> ();
        unsubscribe(UnsubscribeRequestParams; RequestContext<RoleServer>) -> ();
        get_task(GetTaskParams; RequestContext<RoleServer>) -> GetTaskResult;
        update_task(UpdateTaskParams; RequestContext<RoleServer>) -> ();
        cancel_task(CancelTaskParams; RequestContext<RoleServer>) -> ();
        get_skill(GetSkillRequestParams; RequestContext<RoleServer>) -> GetSkillResult;
        on_cancelled(CancelledNotificationParam; NotificationContext<RoleServer>);
        on_progress(ProgressNotificationParam; NotificationContext<RoleServer>);
        on_initialized(; NotificationContext<RoleServer>);
        on_roots_list_changed(; NotificationContext<RoleServer>);
        on_custom_notification(CustomNotification; NotificationContext<RoleServer>);
    }

    fn get_info(&self) -> ServerConfig {
        self.inner.get_info()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.inner.get_tool(name)
    }

    fn negotiate_initialize(
        &self,
        request: &InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorData> {
        self.inner.negotiate_initialize(request)
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
