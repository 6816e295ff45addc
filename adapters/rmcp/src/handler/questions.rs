//! Confirmations: what a call's client can do, and what its user is asked.

use rmcp::ServerHandler;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, PaginatedRequestParams, ServerRequest,
};
use rmcp::service::PeerRequestOptions;
use sealwax_mcp::{Called, Elicitation, Failed, List};
use serde::Deserialize as _;
use tokio::time::timeout;

use crate::Context;
use crate::foreign::{caught, threw, wrong};
use crate::guard::Guard;
use crate::value::answer;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

impl Guard {
    /// Returns what the client of a request can do, as JSON.
    pub(crate) fn capabilities(&self, context: &Context) -> Option<String> {
        if let Some(of_request) = context.meta.get(CAPABILITIES) {
            return Some(of_request.to_string());
        }
        if let Some(settled) = self.negotiated(context) {
            return Some(settled.client_capabilities.to_string());
        }
        let client = context.peer.peer_info()?;
        answer(&client.capabilities).ok()
    }

    /// Returns the question of a call, as JSON, as the author's function makes it.
    pub(crate) async fn question(&self, call: Called, context: &Context) -> Result<String, Failed> {
        let mut questions = self.0.options.questions.iter();
        let (_, question) = questions
            .find(|(named, _)| *named == call.name)
            .ok_or(Failed::Late)?;
        let made = caught(async { question(call.arguments, context.clone()).await });
        answer(&made.await?.map_err(threw)?)
    }
}

/// Asks the user, on the connection of the call.
pub(crate) async fn elicit(elicitation: Elicitation, context: &Context) -> Result<String, Failed> {
    let params = ElicitRequestParams::deserialize(elicitation.params).map_err(wrong)?;
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    let mut options = PeerRequestOptions::no_options();
    options.timeout = Some(Elicitation::WITHIN);
    let failed = |_| Failed::Threw("an error of the client's".into());
    let sent = context.peer.send_cancellable_request(request, options);
    let answered = sent.await.map_err(failed)?.await_response();
    match answered.await.map_err(failed)? {
        ClientResult::ElicitResult(result) => answer(&result),
        other => answer(&other),
    }
}

/// Returns a page of the server's own list of tools, around the guard.
pub(crate) async fn listed(
    inner: &impl ServerHandler,
    list: List,
    context: &Context,
) -> Result<String, Failed> {
    let more = |cursor| PaginatedRequestParams::default().with_cursor(Some(cursor));
    let params = list.cursor.map(more);
    let page = caught(async { inner.list_tools(params, context.clone()).await });
    let page = timeout(list.within, page).await.map_err(|_| Failed::Late)?;
    answer(&page?.map_err(threw)?)
}
