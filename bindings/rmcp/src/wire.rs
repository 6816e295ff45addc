//! Where rmcp keeps, in its own types, the members that carry a token.

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult,
    GetPromptRequestParams, GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceDirectoryRequestParams, ReadResourceRequestParams, ReadResourceResponse,
};
use sealwax::Carried;
use serde_json::Value;

/// The params of a request.
pub(crate) trait Incoming {
    /// Takes out what came back, whatever it is; null is nothing.
    fn take(&mut self, carried: &Carried) -> Option<Value>;

    /// Puts in what the handler is to see.
    fn put(&mut self, carried: &Carried, text: String);

    /// The name or address of what is asked for.
    fn target(&self, _: &Carried) -> Option<&str> {
        None
    }

    /// The JSON of the arguments, as they came, whatever they are.
    fn arguments(&self) -> Option<serde_json::Result<String>> {
        None
    }
}

/// A result.
pub(crate) trait Outgoing {
    /// What is to leave, as the handler wrote it. `None`: there is none.
    fn leaving(&mut self, carried: &Carried) -> Option<Leaving<'_>>;

    /// Whether any cache may hand it to any user, as its author said.
    fn is_public(&self) -> bool {
        false
    }
}

pub(crate) enum Leaving<'a> {
    Text(&'a mut String),
    Json(&'a mut Value),
}

macro_rules! incoming {
    ($($params:ty { $token:ident, $target:ident $(, $arguments:ident)? })*) => {$(
        impl Incoming for $params {
            fn take(&mut self, _: &Carried) -> Option<Value> {
                self.$token.take().map(Value::String)
            }

            fn put(&mut self, _: &Carried, text: String) {
                self.$token = Some(text);
            }

            fn target(&self, _: &Carried) -> Option<&str> {
                Some(&self.$target)
            }

            $(fn arguments(&self) -> Option<serde_json::Result<String>> {
                self.$arguments.as_ref().map(serde_json::to_string)
            })?
        }
    )*};
}

incoming! {
    CallToolRequestParams { request_state, name, arguments }
    GetPromptRequestParams { request_state, name, arguments }
    ReadResourceRequestParams { request_state, uri }
    ReadResourceDirectoryRequestParams { cursor, uri }
}

impl Incoming for Option<PaginatedRequestParams> {
    fn take(&mut self, _: &Carried) -> Option<Value> {
        self.as_mut()?.cursor.take().map(Value::String)
    }

    fn put(&mut self, _: &Carried, text: String) {
        self.get_or_insert_default().cursor = Some(text);
    }
}

/// Also what fits none of rmcp's types, such as a `tools/call` whose `requestState` is a number.
impl Incoming for CustomRequest {
    fn take(&mut self, carried: &Carried) -> Option<Value> {
        let params = self.params.as_mut()?.as_object_mut()?;
        params.remove(carried.param).filter(|came| !came.is_null())
    }

    fn put(&mut self, carried: &Carried, text: String) {
        if let Some(Value::Object(params)) = &mut self.params {
            params.insert(carried.param.into(), text.into());
        }
    }

    fn target(&self, carried: &Carried) -> Option<&str> {
        self.params.as_ref()?.get(carried.target?)?.as_str()
    }

    fn arguments(&self) -> Option<serde_json::Result<String>> {
        let arguments = self.params.as_ref()?.get("arguments")?;
        Some(serde_json::to_string(arguments))
    }
}

macro_rules! outgoing {
    (responses: $($response:ident)*; lists: $($list:ident)*) => {
        $(impl Outgoing for $response {
            fn leaving(&mut self, _: &Carried) -> Option<Leaving<'_>> {
                match self {
                    Self::InputRequired(result) => {
                        result.request_state.as_mut().map(Leaving::Text)
                    }
                    _ => None,
                }
            }
        })*
        $(impl Outgoing for $list {
            fn leaving(&mut self, _: &Carried) -> Option<Leaving<'_>> {
                self.next_cursor.as_mut().map(Leaving::Text)
            }

            fn is_public(&self) -> bool {
                self.cache_scope == Some(CacheScope::Public)
            }
        })*
    };
}

outgoing! {
    responses: CallToolResponse GetPromptResponse ReadResourceResponse;
    lists: ListToolsResult ListPromptsResult ListResourcesResult ListResourceTemplatesResult
           ListSkillsResult
}

impl Outgoing for CustomResult {
    fn leaving(&mut self, carried: &Carried) -> Option<Leaving<'_>> {
        self.0.get_mut(carried.result).map(Leaving::Json)
    }

    fn is_public(&self) -> bool {
        self.0["cacheScope"] == "public"
    }
}
