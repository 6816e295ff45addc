//! What `initialize` agreed on, in a token that any replica opens, in whatever language.

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::guard::Guard;

/// What a client of a revision up to 2025-11-25 and the server agreed on at `initialize`: what
/// [`Guard::negotiated`] finds on later requests, though the server has kept nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Negotiated {
    /// The protocol's revision.
    pub protocol_version: String,
    /// What the client can do. A stateless server cannot ask it all the same.
    pub client_capabilities: Value,
    /// The client.
    pub client_info: ClientInfo,
    /// What the server offered.
    pub server_capabilities: Value,
}

/// Which client it is, as it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Guard {
    /// What was negotiated by the session of this request; `None` without
    /// [`layer`](Guard::layer), without a session, and on revision 2026-07-28, where every request
    /// says it itself.
    #[must_use]
    pub fn negotiated<'c>(
        &self,
        context: &'c RequestContext<RoleServer>,
    ) -> Option<&'c Negotiated> {
        let parts = context.extensions.get::<http::request::Parts>();
        parts.and_then(|parts| parts.extensions.get())
    }
}
