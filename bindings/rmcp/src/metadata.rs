//! Where rmcp keeps the `_meta` of a result.

use rmcp::model::{
    CacheScope, CallToolResponse, CallToolResult, CompleteResult, CreateTaskResult, CustomResult,
    DiscoverResult, GetPromptResponse, GetPromptResult, GetSkillResult, GetTaskResult,
    InitializeResult, InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, MetaObject, ReadResourceResponse,
    ReadResourceResult,
};
use serde_json::{Value, json};

/// A result that has room for metadata.
pub(crate) trait Metadata {
    /// Sets one member of `_meta`; the others stay. False where there is no room for it.
    fn set_meta(&mut self, key: &str, value: Value) -> bool;
}

fn set(meta: &mut Option<MetaObject>, key: &str, value: Value) -> bool {
    meta.get_or_insert_default().0.insert(key.into(), value);
    true
}

/// No cache may serve a result of a session again, though its author allowed it: not to others, nor
/// to its client, which would go back to an older state. What rmcp fills in says the same.
fn not_to_be_cached(scope: &mut Option<CacheScope>, ttl_ms: &mut Option<u64>) {
    if scope.is_some() {
        *scope = Some(CacheScope::Private);
    }
    if ttl_ms.is_some() {
        *ttl_ms = Some(0);
    }
}

macro_rules! metadata {
    (
        $($result:ident)*;
        cached: $($cached:ident)*;
        responses: $($response:ident { $($kind:ident)* })*
    ) => {
        $(impl Metadata for $result {
            fn set_meta(&mut self, key: &str, value: Value) -> bool {
                set(&mut self.meta, key, value)
            }
        })*
        $(impl Metadata for $cached {
            fn set_meta(&mut self, key: &str, value: Value) -> bool {
                not_to_be_cached(&mut self.cache_scope, &mut self.ttl_ms);
                set(&mut self.meta, key, value)
            }
        })*
        $(impl Metadata for $response {
            fn set_meta(&mut self, key: &str, value: Value) -> bool {
                match self {
                    $(Self::$kind(result) => result.set_meta(key, value),)*
                    // A kind that rmcp has added: the canary tells.
                    _ => false,
                }
            }
        })*
    };
}

metadata! {
    CallToolResult CompleteResult CreateTaskResult GetPromptResult GetTaskResult InitializeResult
    InputRequiredResult;
    cached:
    GetSkillResult ListPromptsResult ListResourceTemplatesResult ListResourcesResult
    ListSkillsResult ListToolsResult ReadResourceResult;
    responses:
    CallToolResponse { Complete InputRequired Task }
    GetPromptResponse { Complete InputRequired }
    ReadResourceResponse { Complete InputRequired }
}

impl Metadata for DiscoverResult {
    fn set_meta(&mut self, key: &str, value: Value) -> bool {
        self.cache_scope = CacheScope::Private;
        self.ttl_ms = 0;
        set(&mut self.meta, key, value)
    }
}

/// An empty result, to which rmcp gives no metadata: the README names the methods.
impl Metadata for () {
    fn set_meta(&mut self, _: &str, _: Value) -> bool {
        false
    }
}

impl Metadata for CustomResult {
    fn set_meta(&mut self, key: &str, value: Value) -> bool {
        let Value::Object(result) = &mut self.0 else {
            return false;
        };
        if let Some(scope) = result.get_mut("cacheScope") {
            *scope = json!("private");
        }
        if let Some(ttl_ms) = result.get_mut("ttlMs") {
            *ttl_ms = json!(0);
        }
        match result.entry("_meta").or_insert_with(|| json!({})) {
            Value::Object(meta) => {
                meta.insert(key.into(), value);
            }
            other => *other = json!({ key: value }),
        }
        true
    }
}
