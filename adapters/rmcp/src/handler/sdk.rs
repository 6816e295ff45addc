//! A server that a guard protects.

#![expect(
    deprecated,
    reason = "what the server inside still offers is passed on"
)]

use std::borrow::Cow;

use rmcp::model::*;
use rmcp::service::{NotificationContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::Context;
use crate::guard::Guard;
use crate::transport::stdio::Replayed;

/// A protected server, made by [`Guard::protect`]. Serve it in place of the inner server.
///
/// It is a [`ServerHandler`], as `StreamableHttpService` requires. Every method is passed on to the inner
/// server; those that carry tokens go through the guard.
#[derive(Clone, Debug)]
pub struct Protected<S> {
    guard: Guard,
    inner: S,
}

impl Guard {
    /// Protects `server`: what it sends is sealed, and what comes back is opened and checked. Serve the result
    /// on stdio, or return it from the factory of `StreamableHttpService`.
    pub fn protect<S: ServerHandler>(&self, server: S) -> Protected<S> {
        Protected {
            guard: self.clone(),
            inner: server,
        }
    }
}

impl<S> Protected<S> {
    /// Returns the inner server.
    #[must_use]
    pub fn inner(&self) -> &S {
        &self.inner
    }
}

macro_rules! serve {
    ($($name:ident($method:literal $(, $params:ty)?) -> $result:ty;)*) => {$(
        async fn $name(
            &self,
            $(request: $params,)?
            context: Context,
        ) -> Result<$result, ErrorData> {
            serve!(self, $name, $method, context $(, request: $params)?)
        }
    )*};
    ($self:ident, $name:ident, $method:expr, $context:ident, $request:ident: $params:ty) => {{
        let handler = |request, context| $self.inner.$name(request, context);
        $self.guard.serve(&$self.inner, $method, $request, $context, handler).await
    }};
    ($self:ident, $name:ident, $method:literal, $context:ident) => {{
        let handler = |(), context| $self.inner.$name(context);
        $self.guard.serve(&$self.inner, $method, (), $context, handler).await
    }};
}

macro_rules! notify {
    ($($name:ident($method:literal $(, $params:ident: $type:ty)?);)*) => {$(
        async fn $name(&self, $($params: $type,)? context: NotificationContext<RoleServer>) {
            let handler = |context| self.inner.$name($($params,)? context);
            self.guard.notify($method, context, handler).await;
        }
    )*};
}

impl<S: ServerHandler> ServerHandler for Protected<S> {
    serve! {
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
        complete("completion/complete", CompleteRequestParams) -> CompleteResult;
        set_level("logging/setLevel", SetLevelRequestParams) -> ();
        subscribe("resources/subscribe", SubscribeRequestParams) -> ();
        unsubscribe("resources/unsubscribe", UnsubscribeRequestParams) -> ();
        get_task("tasks/get", GetTaskParams) -> GetTaskResult;
        update_task("tasks/update", UpdateTaskParams) -> ();
        cancel_task("tasks/cancel", CancelTaskParams) -> ();
        get_skill("skills/get", GetSkillRequestParams) -> GetSkillResult;
        initialize("initialize", InitializeRequestParams) -> InitializeResult;
        ping("ping") -> ();
    }

    notify! {
        on_cancelled("notifications/cancelled", params: CancelledNotificationParam);
        on_progress("notifications/progress", params: ProgressNotificationParam);
        on_initialized("notifications/initialized");
        on_roots_list_changed("notifications/roots/list_changed");
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.clone();
        serve!(self, on_custom_request, &method, context, request: CustomRequest)
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        if let Some(Replayed(params)) = context.extensions.get().cloned() {
            let begun = self.initialize(params, context).await?;
            let versions = vec![begun.protocol_version];
            return Ok(DiscoverResult::new(versions, begun.capabilities));
        }
        serve!(self, discover, "server/discover", context)
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        context: NotificationContext<RoleServer>,
    ) {
        let method = notification.method.clone();
        let handler = |context| self.inner.on_custom_notification(notification, context);
        self.guard.notify(&method, context, handler).await;
    }

    /// rmcp hides the request of a subscription, so its session is not checked.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.inner.listen(context).await
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
