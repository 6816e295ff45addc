//! The tokens and arguments in rmcp's types of requests.

#![expect(
    deprecated,
    reason = "what the server inside still offers is passed on"
)]

use rmcp::model::{
    CallToolRequestParams, CancelTaskParams, CompleteRequestParams, CustomRequest,
    GetPromptRequestParams, GetSkillRequestParams, GetTaskParams, InitializeRequestParams,
    PaginatedRequestParams, ReadResourceDirectoryRequestParams, ReadResourceRequestParams,
    SetLevelRequestParams, SubscribeRequestParams, UnsubscribeRequestParams, UpdateTaskParams,
};
use sealwax_mcp::ClientValue;
use sealwax_mcp::TokenFields;
use serde_json::Value;

/// The params of a request.
pub(crate) trait Params {
    /// Returns the value of the member that carries a token.
    fn sent(&self, _: &TokenFields) -> ClientValue<'_> {
        ClientValue::Absent
    }

    /// Replaces the token by what the handler is to see, and returns the token.
    fn put(&mut self, _: &TokenFields, _: Option<String>) -> Option<String> {
        None
    }

    /// Returns the name or URI of the target.
    fn target(&self, _: &TokenFields) -> Option<&str> {
        None
    }

    /// Returns the JSON of the arguments as they were sent.
    fn arguments(&self) -> Option<String> {
        None
    }

    /// Returns all params, for a method that rmcp has no type for.
    fn all(&self) -> Option<Value> {
        None
    }
}

/// Classifies what a client sent. Null counts as absent.
pub(crate) fn sent(value: Option<&Value>) -> ClientValue<'_> {
    match value {
        None | Some(Value::Null) => ClientValue::Absent,
        Some(Value::String(text)) => ClientValue::Text(text),
        Some(_) => ClientValue::Other,
    }
}

macro_rules! params {
    ($($params:ty { $token:ident $(, $target:ident $(, $arguments:ident)?)? })*) => {$(
        impl Params for $params {
            fn sent(&self, _: &TokenFields) -> ClientValue<'_> {
                self.$token.as_deref().into()
            }

            fn put(&mut self, _: &TokenFields, text: Option<String>) -> Option<String> {
                std::mem::replace(&mut self.$token, text)
            }

            $(fn target(&self, _: &TokenFields) -> Option<&str> {
                Some(&self.$target)
            }

            $(fn arguments(&self) -> Option<String> {
                let arguments = self.$arguments.as_ref()?;
                serde_json::to_string(arguments).ok()
            })?)?
        }
    )*};
    (nothing: $($params:ty)*) => {$(impl Params for $params {})*};
}

params! {
    CallToolRequestParams { request_state, name, arguments }
    GetPromptRequestParams { request_state, name, arguments }
    ReadResourceRequestParams { request_state, uri }
    ReadResourceDirectoryRequestParams { cursor }
}

params! {
    nothing: () CancelTaskParams CompleteRequestParams GetSkillRequestParams GetTaskParams
    InitializeRequestParams SetLevelRequestParams SubscribeRequestParams UnsubscribeRequestParams
    UpdateTaskParams
}

impl Params for Option<PaginatedRequestParams> {
    fn sent(&self, _: &TokenFields) -> ClientValue<'_> {
        let cursor = self.as_ref().and_then(|params| params.cursor.as_deref());
        cursor.into()
    }

    fn put(&mut self, _: &TokenFields, text: Option<String>) -> Option<String> {
        std::mem::replace(&mut self.as_mut()?.cursor, text)
    }
}

/// Also serves requests that fit none of rmcp's types, such as a `tools/call` whose `requestState` is a number.
impl Params for CustomRequest {
    fn sent(&self, carried: &TokenFields) -> ClientValue<'_> {
        sent(self.params.as_ref().and_then(|it| it.get(carried.param)))
    }

    fn put(&mut self, carried: &TokenFields, text: Option<String>) -> Option<String> {
        let params = self.params.as_mut()?.as_object_mut()?;
        let came = match text {
            Some(text) => params.insert(carried.param.into(), text.into()),
            None => params.remove(carried.param),
        };
        came?.as_str().map(Into::into)
    }

    fn target(&self, carried: &TokenFields) -> Option<&str> {
        self.params.as_ref()?.get(carried.target?)?.as_str()
    }

    fn arguments(&self) -> Option<String> {
        let arguments = self.params.as_ref()?.get("arguments")?;
        (!arguments.is_null()).then(|| arguments.to_string())
    }

    fn all(&self) -> Option<Value> {
        self.params.clone()
    }
}
