//! The changes to a result before it is sent.

use serde::Serialize;

use crate::input::Scope;
use crate::step::Respond;
use crate::token_fields::TokenFields;
use sealwax::Kind;

/// The changes to a result, which serde writes as a JSON Merge Patch (RFC 7396).
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Patch<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    request_state: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<Scope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capabilities: Option<Capabilities>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_timeout: Option<u64>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/session")]
    session: MetaSession<'a>,
}

/// It replaces what the handler put there: what is absent is null.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct MetaSession<'a> {
    session_id: &'a str,
    expires_at: Option<&'a str>,
    state: Option<&'a str>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
struct Capabilities {
    sessions: Nothing,
    experimental: Experimental,
}

#[derive(Debug, Default, PartialEq, Serialize)]
struct Experimental {
    sessions: Nothing,
}

#[derive(Debug, Default, PartialEq, Serialize)]
struct Nothing {}

impl Patch<'_> {
    /// Returns whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Respond {
    /// Returns the changes to the result of a method with these token fields.
    #[must_use]
    pub fn patch(&self, fields: Option<TokenFields>) -> Patch<'_> {
        let kind = fields.map(|fields| fields.kind);
        let token = |of| self.token.as_deref().filter(|_| kind == Some(of));
        let id = self.header.as_deref();
        Patch {
            request_state: token(Kind::RequestState),
            next_cursor: token(Kind::Cursor),
            meta: self.metadata.as_ref().map(|metadata| Meta {
                session: MetaSession {
                    session_id: &metadata.session_id,
                    expires_at: metadata.expires_at.as_deref(),
                    state: metadata.state.as_deref(),
                },
            }),
            cache_scope: self.cache_scope,
            ttl_ms: self.ttl_ms,
            capabilities: self.declare.then(Capabilities::default),
            session_id: id.filter(|_| self.timeout.is_some()),
            session_timeout: self.timeout,
        }
    }
}
