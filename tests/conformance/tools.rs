//! The tools that do more than return a result of `features.json`.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::*;
use sealwax_rmcp::State;
use serde_json::{Value, json};

use crate::{Answer, Conformance, Context, FEATURES, made};

const SOON: Duration = Duration::from_millis(50);

pub fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

pub fn unknown() -> ErrorData {
    ErrorData::invalid_params("no such tool or prompt", None)
}

impl Conformance {
    /// Asks round by round, and only for what the client has declared.
    pub fn next(
        &self,
        name: &str,
        sent: Option<&str>,
        answers: Option<InputResponses>,
        context: &Context,
    ) -> Answer<Option<InputRequiredResult>> {
        let feature = FEATURES["rounds"].get(name).ok_or_else(unknown)?;
        let stateful = feature["state"] == true;
        let rounds = feature["ask"].as_array().ok_or_else(unknown)?;
        let declared = serde_json::to_value(context.client_capabilities()).unwrap_or_default();
        let answers = answers.unwrap_or_default();
        let answered = |key: &Value| {
            let answer = key.as_str().and_then(|key| answers.get(key));
            answer.is_some_and(Value::is_object)
        };

        // Sealed by the guard; without it plain, as any client could write it.
        let state = (stateful && !self.bare)
            .then(|| State::<usize>::of(context))
            .transpose()?;
        let over = match &state {
            Some(state) => state.get().copied(),
            None if stateful => sent.and_then(|sent| sent.parse().ok()),
            None => Some(0),
        };
        let asked = over.and_then(|over| rounds.get(over)?.as_array());
        let done = asked.is_some_and(|keys| keys.iter().all(answered));
        let next = over.unwrap_or(0) + usize::from(done);
        let Some(keys) = rounds.get(next) else {
            return Ok(None);
        };
        let requests = keys.as_array().into_iter().flatten().filter_map(|key| {
            let (key, request) = (key.as_str()?, &FEATURES["asked"][key.as_str()?]);
            let (needed, _) = request["method"].as_str()?.split_once('/')?;
            declared.get(needed)?;
            Some((key.to_owned(), request.clone()))
        });
        let requests = made(Value::Object(requests.collect()))?;
        let state = match state {
            Some(state) => Some(state.write(&next)?),
            None => stateful.then(|| next.to_string()),
        };
        Ok(Some(InputRequiredResult::new(Some(requests), state)))
    }

    pub async fn tool(&self, name: &str, context: &Context) -> Answer<CallToolResult> {
        match name {
            "test_tool_with_logging" => {
                for said in ["started", "in the midst of it", "completed"] {
                    log(context, LoggingLevel::Info, said).await;
                    tokio::time::sleep(SOON).await;
                }
            }
            "test_logging_tool" => {
                if let Some(level) = context.meta.log_level() {
                    log(context, level, "for a client that asks for logs").await;
                }
            }
            "test_tool_with_progress" => {
                for progress in [0.0, 50.0, 100.0] {
                    if let Some(token) = context.meta.get_progress_token() {
                        let progress = ProgressNotificationParam::new(token, progress);
                        let told = progress.with_total(100.0);
                        context.peer.notify_progress(told).await.ok();
                    }
                    tokio::time::sleep(SOON).await;
                }
            }
            "test_missing_capability" => {
                let declared = context.client_capabilities().unwrap_or_default();
                if declared.sampling.is_none() {
                    let needed = ClientCapabilities::builder().enable_sampling().build();
                    return Err(ErrorData::missing_required_client_capability(needed));
                }
            }
            // A tool of rmcp cannot close its stream.
            "test_reconnection" => tokio::time::sleep(SOON).await,
            "test_trigger_tool_change" => {
                for subscriber in self.subscribers.lock().await.values() {
                    subscriber.notify_tool_list_changed().await.ok();
                }
            }
            "test_trigger_prompt_change" => {
                for subscriber in self.subscribers.lock().await.values() {
                    subscriber.notify_prompt_list_changed().await.ok();
                }
            }
            _ => return Err(unknown()),
        }
        Ok(text("done"))
    }
}

async fn log(context: &Context, level: LoggingLevel, said: &str) {
    let message = LoggingMessageNotificationParam::new(level, json!(said));
    context.peer.notify_logging_message(message).await.ok();
}
