//! The parts of rmcp's result types that the engine reads and changes.

use rmcp::model::*;
use sealwax_mcp::{HandlerResult as Reported, Outcome, Respond, Scope, Set, TokenFields};
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::SESSION;

/// A result.
pub(crate) trait Outgoing: Sized {
    /// Returns the parts that the engine reads and changes.
    fn places(&mut self) -> Places<'_>;

    /// Returns it as JSON, where the engine asks for the whole of it.
    fn whole(&self) -> Option<String> {
        None
    }

    /// Makes one that the engine answers.
    fn of(_: Value) -> Option<Self> {
        None
    }
}

/// The parts of a result that the engine reads and changes.
pub(crate) enum Places<'a> {
    Typed(Typed<'a>),
    Json(&'a mut Value),
}

/// The places of these parts in one of rmcp's types.
#[derive(Default)]
pub(crate) struct Typed<'a> {
    meta: Option<&'a mut Option<MetaObject>>,
    outcome: Outcome,
    token: Option<&'a mut String>,
    cache_scope: Option<&'a mut CacheScope>,
    ttl_ms: Option<&'a mut u64>,
    capabilities: Option<&'a mut ServerCapabilities>,
    tools: Option<&'a mut Vec<Tool>>,
}

impl<'a> Places<'a> {
    /// Returns the parts that the engine reads. `member` names the member that carries a token, if one does.
    pub(crate) fn reported(self, member: &str) -> Reported<'a> {
        let mut reported = Reported::default();
        match self {
            Self::Typed(places) => {
                reported.outcome = places.outcome;
                reported.token = places.token.map(|token| token.as_str()).into();
                reported.scope = places.cache_scope.map(|scope| match scope {
                    CacheScope::Public => Scope::Public,
                    _ => Scope::Private,
                });
                reported.has_ttl = places.ttl_ms.is_some();
                reported.no_meta = places.meta.is_none();
            }
            Self::Json(result) => {
                if result["resultType"] == "input_required" {
                    reported.outcome = Outcome::InputRequired;
                }
                reported.token = result.get(member).map(Into::into).unwrap_or_default();
                reported.scope = result.get("cacheScope").map(|scope| match scope.as_str() {
                    Some("public") => Scope::Public,
                    _ => Scope::Private,
                });
                reported.has_ttl = result.get("ttlMs").is_some();
            }
        }
        reported
    }

    /// Applies the engine's changes.
    pub(crate) fn respond(self, changes: Respond, fields: Option<TokenFields>) {
        match self {
            Self::Typed(places) => {
                if let (Some(place), Some(token)) = (places.token, changes.token) {
                    *place = token;
                }
                if let (Some(place), Some(_)) = (places.cache_scope, changes.cache_scope) {
                    *place = CacheScope::Private;
                }
                if let (Some(place), Some(ttl_ms)) = (places.ttl_ms, changes.ttl_ms) {
                    *place = ttl_ms;
                }
                if let (Some(capabilities), true) = (places.capabilities, changes.declare) {
                    // rmcp's type has this place alone.
                    let experimental = capabilities.experimental.get_or_insert_default();
                    experimental.entry("sessions".into()).or_default();
                }
                if let (Some(place), Some(tools)) = (places.tools, changes.tools) {
                    // They are those of the server, and one of the engine's.
                    *place = Vec::deserialize(*tools).unwrap_or_default();
                }
                if let (Some(meta), Some(metadata)) = (places.meta, changes.metadata) {
                    let meta = meta.get_or_insert_default();
                    meta.0.insert(SESSION.into(), json!(metadata));
                }
            }
            Self::Json(result) => set(result, changes.set(fields)),
        }
    }
}

fn set(result: &mut Value, changes: Vec<Set<'_>>) {
    for Set(path, value) in changes {
        let place = path.iter().fold(&mut *result, |place, name| {
            if !place.is_object() {
                *place = json!({});
            }
            &mut place[name]
        });
        *place = json!(value);
    }
}

macro_rules! places {
    ($($result:ident($this:ident) { $($place:ident: $how:expr),* })*) => {$(
        impl Outgoing for $result {
            fn places(&mut self) -> Places<'_> {
                let $this = self;
                Places::Typed(Typed {
                    meta: Some(&mut $this.meta),
                    $($place: $how,)*
                    ..Typed::default()
                })
            }
        }
    )*};
    (plain: $($result:ident)*) => { places! { $($result(it) {})* } };
    (cached: $($result:ident)*) => {
        places! { $($result(it) {
            cache_scope: it.cache_scope.as_mut(),
            ttl_ms: it.ttl_ms.as_mut()
        })* }
    };
    (lists: $($list:ident)*) => {
        places! { $($list(it) {
            token: it.next_cursor.as_mut(),
            cache_scope: it.cache_scope.as_mut(),
            ttl_ms: it.ttl_ms.as_mut()
        })* }
    };
}

places! {
    plain: CallToolResult CompleteResult CreateTaskResult GetPromptResult GetTaskResult
}

places! {
    cached: GetSkillResult ReadResourceResult
}

places! {
    lists: ListPromptsResult ListResourceTemplatesResult ListResourcesResult ListSkillsResult
}

impl Outgoing for ListToolsResult {
    fn places(&mut self) -> Places<'_> {
        Places::Typed(Typed {
            meta: Some(&mut self.meta),
            token: self.next_cursor.as_mut(),
            cache_scope: self.cache_scope.as_mut(),
            ttl_ms: self.ttl_ms.as_mut(),
            tools: Some(&mut self.tools),
            ..Typed::default()
        })
    }

    fn whole(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }
}

places! {
    InputRequiredResult(it) {
        outcome: Outcome::InputRequired,
        token: it.request_state.as_mut()
    }
    InitializeResult(it) { capabilities: Some(&mut it.capabilities) }
    DiscoverResult(it) {
        cache_scope: Some(&mut it.cache_scope),
        ttl_ms: Some(&mut it.ttl_ms),
        capabilities: Some(&mut it.capabilities)
    }
}

macro_rules! responses {
    ($($response:ident { $($kind:ident)* } $(of: $of:expr)?;)*) => {$(
        impl Outgoing for $response {
            fn places(&mut self) -> Places<'_> {
                match self {
                    $(Self::$kind(result) => result.places(),)*
                    // rmcp has added a variant: the contract test fails, too.
                    _ => Places::Typed(Typed::default()),
                }
            }

            $(fn of(result: Value) -> Option<Self> {
                ($of)(result)
            })?
        }
    )*};
}

responses! {
    CallToolResponse { Complete InputRequired Task } of: |result: Value| {
        match result["resultType"] == "input_required" {
            true => read::<InputRequiredResult, _>(result),
            false => read::<CallToolResult, _>(result),
        }
    };
    GetPromptResponse { Complete InputRequired };
    ReadResourceResponse { Complete InputRequired } of: read::<ReadResourceResult, _>;
}

fn read<R: DeserializeOwned, A: From<R>>(result: Value) -> Option<A> {
    serde_json::from_value::<R>(result).ok().map(Into::into)
}

/// An empty result, which has no metadata in rmcp; README.md lists the methods.
impl Outgoing for () {
    fn places(&mut self) -> Places<'_> {
        Places::Typed(Typed::default())
    }
}

impl Outgoing for CustomResult {
    fn places(&mut self) -> Places<'_> {
        match self.0.is_object() {
            true => Places::Json(&mut self.0),
            false => Places::Typed(Typed::default()),
        }
    }

    fn whole(&self) -> Option<String> {
        Some(self.0.to_string())
    }

    fn of(result: Value) -> Option<Self> {
        Some(Self::new(result))
    }
}
