//! Where rmcp keeps the `_meta` of a result.

use rmcp::model::{
    CallToolResponse, CompleteResult, CustomResult, DiscoverResult, GetPromptResponse,
    GetSkillResult, GetTaskResult, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    MetaObject, ReadResourceResponse,
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

macro_rules! metadata {
    ($($result:ident)*; responses: $($response:ident { $($kind:ident)* })*) => {
        $(impl Metadata for $result {
            fn set_meta(&mut self, key: &str, value: Value) -> bool {
                set(&mut self.meta, key, value)
            }
        })*
        $(impl Metadata for $response {
            fn set_meta(&mut self, key: &str, value: Value) -> bool {
                match self {
                    $(Self::$kind(result) => set(&mut result.meta, key, value),)*
                    // A kind that rmcp has added: the canary tells.
                    _ => false,
                }
            }
        })*
    };
}

metadata! {
    CompleteResult DiscoverResult GetSkillResult GetTaskResult InitializeResult ListPromptsResult
    ListResourceTemplatesResult ListResourcesResult ListSkillsResult ListToolsResult;
    responses:
    CallToolResponse { Complete InputRequired Task }
    GetPromptResponse { Complete InputRequired }
    ReadResourceResponse { Complete InputRequired }
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
        match result.entry("_meta").or_insert_with(|| json!({})) {
            Value::Object(meta) => {
                meta.insert(key.into(), value);
            }
            other => *other = json!({ key: value }),
        }
        true
    }
}
