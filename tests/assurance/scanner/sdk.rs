//! The question of examples/notes.rs without a guard, on the codec of rmcp as it is by default.

use std::{env, sync::Arc};

use rmcp::handler::server::{tool::InputResponses, tool::RequestState, wrapper::Parameters};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler, model::*, tool, tool_handler, tool_router};
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone)]
struct Notes(Arc<RequestStateCodec>);

#[derive(Deserialize, schemars::JsonSchema)]
struct Note {
    id: u32,
}

#[tool_router]
impl Notes {
    #[tool(description = "Delete a note, once the user has confirmed it")]
    async fn delete_note(
        &self,
        Parameters(Note { id }): Parameters<Note>,
        InputResponses(answers): InputResponses,
        RequestState(state): RequestState,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(state) = state else {
            let schema = ElicitationSchema::builder().required_bool("confirm");
            let question = ElicitRequestParams::FormElicitationParams {
                meta: None,
                message: format!("Delete note {id}?"),
                requested_schema: schema.build_unchecked(),
            };
            let question = InputRequest::Elicitation(ElicitRequest::new(question));
            let questions = InputRequests::from([("confirm".into(), question)]);
            let next = self.0.seal(b"asked");
            return Ok(InputRequiredResult::new(Some(questions), Some(next)).into());
        };
        if self.0.open(&state).is_err() {
            return Err(ErrorData::invalid_params("invalid requestState", None));
        }
        let answer = answers.as_ref().and_then(|answers| answers.get("confirm"));
        let yes = |it: &Value| it["action"] == "accept" && it["content"]["confirm"] == true;
        let done = if answer.is_some_and(yes) {
            "deleted"
        } else {
            "kept"
        };
        let text = format!("note {id} {done}");
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

#[tool_handler(name = "notes", version = "1.0.0")]
impl ServerHandler for Notes {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let codec = RequestStateCodec::try_new(b"a key of thirty-two bytes or more")?;
    let server = Notes(codec.into());
    let stateless = StreamableHttpServerConfig::default().with_legacy_session_mode(false);
    let none = Arc::<NeverSessionManager>::default();
    let mcp = StreamableHttpService::new(move || Ok(server.clone()), none, stateless);
    let app = axum::Router::new().route_service("/mcp", mcp);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", env::var("PORT")?.parse()?)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}
