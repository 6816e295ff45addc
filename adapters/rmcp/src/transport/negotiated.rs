//! The outcome of `initialize`, in a token that a replica in any language opens.

use rmcp::model::Implementation;
use sealwax_mcp::Session;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Context;
use crate::caller::{Caller, Known};
use crate::guard::Guard;
use crate::principal::parts;

/// The outcome of `initialize` between the server and a client of a revision up to 2025-11-25.
/// [`Guard::negotiated`] returns it on later requests, although the server keeps no state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Negotiated {
    /// The protocol's revision.
    pub protocol_version: String,
    /// The client's capabilities. A stateless server still cannot send requests to the client.
    pub client_capabilities: Value,
    /// The name and version of the client.
    pub client_info: Implementation,
    /// The server's capabilities.
    pub server_capabilities: Value,
}

impl Guard {
    /// Returns the id of the session, to key rows of your own: verified, and the same for the session's whole life. It is that
    /// of a data-layer session, or of `Mcp-Session-Id` behind a [`layer`](Guard::layer); `None` for a request without.
    #[must_use]
    pub fn session_id(&self, context: &Context) -> Option<String> {
        let caller = Caller::of(&context.extensions).ok()?;
        let own = caller.within(|running| Ok(running.exchange.session().map(Session::ulid)));
        let parts = parts(&context.extensions);
        let of_transport = || parts?.extensions.get::<Known>()?.session.clone();
        own.ok().flatten().or_else(of_transport)
    }

    /// Returns what the session of this request negotiated. `None` without [`layer`](Guard::layer), without a
    /// session, and on revision 2026-07-28, where every request carries it.
    #[must_use]
    pub fn negotiated<'c>(&self, context: &'c Context) -> Option<&'c Negotiated> {
        parts(&context.extensions)?.extensions.get()
    }
}
