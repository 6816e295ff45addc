//! The parts of rmcp's result types that the engine reads and changes.

use rmcp::model::{
    CacheScope, CallToolResponse, CallToolResult, CompleteResult, CreateTaskResult, CustomResult,
    DiscoverResult, GetPromptResponse, GetPromptResult, GetSkillResult, GetTaskResult,
    InitializeResult, InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, MetaObject, ReadResourceResponse,
    ReadResourceResult, ServerCapabilities,
};
use sealwax_mcp::ToolResult;
use sealwax_mcp::{HandlerResult as Reported, Outcome, Respond, Scope};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::message::SESSION;
use crate::params::sent;

/// A result that [`Session::result`](crate::Session::result) can make again: rmcp's result of a tool, a prompt, a resource or
/// a custom request.
pub trait HandlerResult: sealed::Sealed {
    #[doc(hidden)]
    type Served: Send + 'static;

    #[doc(hidden)]
    fn served(self) -> Self::Served;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! handler_results {
    ($($result:ty => $served:ty)*) => {$(
        impl sealed::Sealed for $result {}

        impl HandlerResult for $result {
            type Served = $served;

            fn served(self) -> $served {
                self.into()
            }
        }
    )*};
}

handler_results! {
    CallToolResult => CallToolResponse
    CallToolResponse => CallToolResponse
    GetPromptResult => GetPromptResponse
    GetPromptResponse => GetPromptResponse
    ReadResourceResult => ReadResourceResponse
    ReadResourceResponse => ReadResourceResponse
    CompleteResult => CompleteResult
    CustomResult => CustomResult
}

/// A result. `member` names the member that carries a token, if one does.
pub(crate) trait Outgoing: Sized {
    /// Returns the parts that the engine reads.
    fn head(&mut self, member: &str) -> Reported<'_>;

    /// Applies the engine's changes.
    fn leave(&mut self, member: &str, leave: Respond);

    /// Makes the result of a method of the guard itself.
    fn own(_: &str, _modern: bool) -> Option<Self> {
        None
    }

    /// Makes the result of a tool that the engine answers.
    fn told(tool: &ToolResult) -> Option<Self>;
}

/// The places of these parts in one of rmcp's types.
#[derive(Default)]
struct Places<'a> {
    outcome: Outcome,
    token: Option<&'a mut String>,
    scope: Option<&'a mut CacheScope>,
    ttl_ms: Option<&'a mut u64>,
    capabilities: Option<&'a mut ServerCapabilities>,
    meta: Option<&'a mut Option<MetaObject>>,
}

trait Placed: Sized {
    fn places(&mut self) -> Places<'_>;

    fn told(_: &ToolResult) -> Option<Self> {
        None
    }
}

impl<R: Placed> Outgoing for R {
    fn head(&mut self, _: &str) -> Reported<'_> {
        let places = self.places();
        Reported {
            outcome: places.outcome,
            token: places.token.map(|token| token.as_str()).into(),
            scope: places.scope.map(|scope| match scope {
                CacheScope::Public => Scope::Public,
                _ => Scope::Private,
            }),
            has_ttl: places.ttl_ms.is_some(),
            no_meta: places.meta.is_none(),
            initialized: None,
        }
    }

    fn told(tool: &ToolResult) -> Option<Self> {
        Placed::told(tool)
    }

    fn leave(&mut self, _: &str, leave: Respond) {
        let places = self.places();
        if let (Some(place), Some(token)) = (places.token, leave.token) {
            *place = token;
        }
        if let (Some(place), Some(_)) = (places.scope, leave.cache_scope) {
            *place = CacheScope::Private;
        }
        if let (Some(place), Some(ttl_ms)) = (places.ttl_ms, leave.ttl_ms) {
            *place = ttl_ms;
        }
        if let (Some(capabilities), true) = (places.capabilities, leave.declare) {
            declare(capabilities);
        }
        if let (Some(meta), Some(metadata)) = (places.meta, leave.metadata) {
            let meta = meta.get_or_insert_default();
            meta.0.insert(SESSION.into(), json!(metadata));
        }
    }
}

/// Declares sessions where rmcp's type has a place for it.
fn declare(capabilities: &mut ServerCapabilities) {
    let experimental = capabilities.experimental.get_or_insert_default();
    experimental.entry("sessions".into()).or_default();
}

macro_rules! places {
    ($($result:ident($this:ident) { $($place:ident: $how:expr),* })*) => {$(
        impl Placed for $result {
            fn places(&mut self) -> Places<'_> {
                let $this = self;
                Places {
                    meta: Some(&mut $this.meta),
                    $($place: $how,)*
                    ..Places::default()
                }
            }
        }
    )*};
    (cached: $($result:ident)*) => {
        places! { $($result(it) { scope: it.cache_scope.as_mut(), ttl_ms: it.ttl_ms.as_mut() })* }
    };
    (lists: $($list:ident)*) => {
        places! { $($list(it) {
            token: it.next_cursor.as_mut(),
            scope: it.cache_scope.as_mut(),
            ttl_ms: it.ttl_ms.as_mut()
        })* }
    };
}

macro_rules! responses {
    ($($response:ident { $($kind:ident)* } $(= $told:ident)?)*) => {$(
        impl Placed for $response {
            fn places(&mut self) -> Places<'_> {
                match self {
                    $(Self::$kind(result) => result.places(),)*
                    // rmcp has added a variant: the canary test fails, too.
                    _ => Places::default(),
                }
            }

            $(fn told(tool: &ToolResult) -> Option<Self> {
                $told(tool).map(Into::into)
            })?
        }
    )*};
}

places! {
    CallToolResult(it) {}
    CompleteResult(it) {}
    CreateTaskResult(it) {}
    GetPromptResult(it) {}
    GetTaskResult(it) {}
    InputRequiredResult(it) {
        outcome: Outcome::InputRequired, token: it.request_state.as_mut()
    }
    InitializeResult(it) { capabilities: Some(&mut it.capabilities) }
    DiscoverResult(it) {
        scope: Some(&mut it.cache_scope),
        ttl_ms: Some(&mut it.ttl_ms),
        capabilities: Some(&mut it.capabilities)
    }
}

places! { cached: GetSkillResult ReadResourceResult }

places! {
    lists: ListPromptsResult ListResourceTemplatesResult ListResourcesResult ListSkillsResult
    ListToolsResult
}

responses! {
    CallToolResponse { Complete InputRequired Task } = tool_result
    GetPromptResponse { Complete InputRequired }
    ReadResourceResponse { Complete InputRequired }
}

fn tool_result(tool: &ToolResult) -> Option<CallToolResult> {
    CallToolResult::deserialize(json!(tool)).ok()
}

/// An empty result, which has no metadata in rmcp; README.md lists the methods.
impl Placed for () {
    fn places(&mut self) -> Places<'_> {
        Places::default()
    }
}

impl Outgoing for CustomResult {
    fn head(&mut self, member: &str) -> Reported<'_> {
        Reported {
            outcome: match self.0["resultType"].as_str() {
                Some("input_required") => Outcome::InputRequired,
                _ => Outcome::Complete,
            },
            token: sent(self.0.get(member)),
            scope: self.0.get("cacheScope").map(|scope| match scope.as_str() {
                Some("public") => Scope::Public,
                _ => Scope::Private,
            }),
            has_ttl: self.0.get("ttlMs").is_some(),
            no_meta: !self.0.is_object(),
            initialized: None,
        }
    }

    fn leave(&mut self, member: &str, leave: Respond) {
        let Value::Object(result) = &mut self.0 else {
            return;
        };
        if let Some(token) = leave.token {
            result.insert(member.into(), token.into());
        }
        if leave.cache_scope.is_some() {
            result.insert("cacheScope".into(), "private".into());
        }
        if let Some(ttl_ms) = leave.ttl_ms {
            result.insert("ttlMs".into(), ttl_ms.into());
        }
        if let Some(metadata) = leave.metadata {
            match result.entry("_meta").or_insert_with(|| json!({})) {
                Value::Object(meta) => {
                    meta.insert(SESSION.into(), json!(metadata));
                }
                other => *other = json!({ SESSION: metadata }),
            }
        }
    }

    fn own(json: &str, modern: bool) -> Option<Self> {
        let mut result: Value = serde_json::from_str(json).ok()?;
        if modern {
            result["resultType"] = json!("complete");
        }
        Some(Self::new(result))
    }

    fn told(tool: &ToolResult) -> Option<Self> {
        Some(Self::new(json!(tool)))
    }
}
