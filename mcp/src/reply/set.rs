//! The changes to a result before it is sent, and to the params of a call.

use serde::Serialize;
use serde_json::Value;

use crate::message::input::Scope;
use crate::message::token_fields::TokenFields;
#[cfg(feature = "documents")]
use crate::reply::step::Called;
use crate::reply::step::Respond;
use sealwax::{Kind, SessionMetadata};

/// A member to set: the names on the way to it, and its value. An adapter makes each object on the way where there is
/// none.
#[derive(Debug, PartialEq, Serialize)]
pub struct Set<'a>(pub &'static [&'static str], pub SetValue<'a>);

/// The value of a member.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "by their types")]
pub enum SetValue<'a> {
    Text(&'a str),
    Number(u64),
    Scope(Scope),
    Metadata(&'a SessionMetadata),
    Nothing {},
    Json(&'a Value),
}

impl Respond {
    /// Returns the changes to the result of a method with these token fields.
    #[must_use]
    pub fn set(&self, fields: Option<TokenFields>) -> Vec<Set<'_>> {
        let mut all = Vec::new();
        if let (Some(token), Some(fields)) = (&self.token, fields) {
            let path: &[_] = match fields.kind {
                Kind::RequestState => &["requestState"],
                _ => &["nextCursor"],
            };
            all.push(Set(path, SetValue::Text(token)));
        }
        if let Some(metadata) = &self.metadata {
            let path = &["_meta", "io.modelcontextprotocol/session"];
            all.push(Set(path, SetValue::Metadata(metadata)));
        }
        if let Some(scope) = self.cache_scope {
            all.push(Set(&["cacheScope"], SetValue::Scope(scope)));
        }
        if let Some(ttl_ms) = self.ttl_ms {
            all.push(Set(&["ttlMs"], SetValue::Number(ttl_ms)));
        }
        if self.declare {
            for path in DECLARED {
                all.push(Set(path, SetValue::Nothing {}));
            }
        }
        if let Some(tools) = &self.tools {
            all.push(Set(&["tools"], SetValue::Json(tools)));
        }
        if let (Some(id), Some(seconds)) = (&self.header, self.timeout) {
            all.push(Set(&["sessionId"], SetValue::Text(id)));
            all.push(Set(&["sessionTimeout"], SetValue::Number(seconds)));
        }
        all
    }
}

#[cfg(feature = "documents")]
impl Called {
    /// Returns the members of `params` to set.
    pub(crate) fn set(&self) -> Vec<Set<'_>> {
        let name = Set(&["name"], SetValue::Text(&self.name));
        vec![name, Set(&["arguments"], SetValue::Json(&self.arguments))]
    }
}

const DECLARED: [&[&str]; 2] = [
    &["capabilities", "sessions"],
    &["capabilities", "experimental", "sessions"],
];
