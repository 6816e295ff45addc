//! The tokens and arguments in rmcp's types of requests.

#![expect(
    deprecated,
    reason = "what the server inside still offers is passed on"
)]

use rmcp::model::*;
use sealwax_mcp::{Called, ClientValue, TokenFields};
use serde_json::{Map, Value};

/// The params of a request.
pub(crate) trait Params {
    /// Returns the member that carries a token.
    fn token(&mut self, _: &TokenFields) -> Option<Member<'_>> {
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

    /// Returns the JSON of the answers to what a result required.
    fn responses(&self) -> Option<String> {
        None
    }

    /// Sets the call to run.
    fn set_call(&mut self, _: Called) {}

    /// Returns all params, for a method that rmcp has no type for.
    fn all(&self) -> Option<Value> {
        None
    }
}

/// The member of a request that carries a token.
pub(crate) enum Member<'a> {
    /// In one of rmcp's types.
    Text(&'a mut Option<String>),
    /// By its name.
    Json(&'a mut Map<String, Value>, &'static str),
}

impl<'a> Member<'a> {
    /// Returns the value that a client sent.
    pub(crate) fn value(self) -> ClientValue<'a> {
        match self {
            Self::Text(text) => text.as_deref().into(),
            Self::Json(params, name) => params.get(name).map_or(ClientValue::Absent, Into::into),
        }
    }

    /// Puts what the handler is to see in the token's place, and returns the token.
    pub(crate) fn replace(self, text: Option<String>) -> Option<String> {
        match (self, text) {
            (Self::Text(member), text) => std::mem::replace(member, text),
            (Self::Json(params, name), Some(text)) => {
                let token = params.insert(name.into(), text.into())?;
                token.as_str().map(Into::into)
            }
            (Self::Json(params, name), None) => params.remove(name)?.as_str().map(Into::into),
        }
    }
}

macro_rules! params {
    ($($params:ty { $token:ident $(, $target:ident $(, $arguments:ident $(, $responses:ident)?)?)? })*) => {$(
        impl Params for $params {
            fn token(&mut self, _: &TokenFields) -> Option<Member<'_>> {
                Some(Member::Text(&mut self.$token))
            }

            $(fn target(&self, _: &TokenFields) -> Option<&str> {
                Some(&self.$target)
            }

            $(fn arguments(&self) -> Option<String> {
                let arguments = self.$arguments.as_ref()?;
                serde_json::to_string(arguments).ok()
            }

            $(fn responses(&self) -> Option<String> {
                serde_json::to_string(self.$responses.as_ref()?).ok()
            }

            fn set_call(&mut self, called: Called) {
                self.name = called.name.into();
                self.arguments = called.arguments.as_object().cloned();
            })?)?)?
        }
    )*};
    (nothing: $($params:ty)*) => {$(impl Params for $params {})*};
}

params! {
    CallToolRequestParams { request_state, name, arguments, input_responses }
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
    fn token(&mut self, _: &TokenFields) -> Option<Member<'_>> {
        Some(Member::Text(&mut self.as_mut()?.cursor))
    }
}

/// Also serves requests that fit none of rmcp's types, such as a `tools/call` whose `requestState` is a number.
impl Params for CustomRequest {
    fn token(&mut self, fields: &TokenFields) -> Option<Member<'_>> {
        let params = self.params.as_mut()?.as_object_mut()?;
        Some(Member::Json(params, fields.param))
    }

    fn target(&self, fields: &TokenFields) -> Option<&str> {
        self.params.as_ref()?.get(fields.target?)?.as_str()
    }

    fn arguments(&self) -> Option<String> {
        let arguments = self.params.as_ref()?.get("arguments")?;
        (!arguments.is_null()).then(|| arguments.to_string())
    }

    fn responses(&self) -> Option<String> {
        Some(self.params.as_ref()?.get("inputResponses")?.to_string())
    }

    fn set_call(&mut self, called: Called) {
        if let Some(params) = &mut self.params {
            params["name"] = called.name.into();
            params["arguments"] = called.arguments;
        }
    }

    fn all(&self) -> Option<Value> {
        self.params.clone()
    }
}
