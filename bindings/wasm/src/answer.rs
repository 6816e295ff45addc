//! The fixed answers for clients, as JavaScript objects.

use sealwax_mcp::{Answer, ErrorData, Profile};
use wasm_bindgen::prelude::*;

use crate::error::Result;
use crate::input::{Text, cut};

#[wasm_bindgen(raw_module = "./facts.js")]
extern "C" {
    /// `pkg/src/answer.ts`
    #[wasm_bindgen(typescript_type = "Answer")]
    pub type JsAnswer;

    #[wasm_bindgen(js_name = errorAnswer)]
    fn error_answer(
        code: i32,
        message: &str,
        session_id: Option<&str>,
        reason: Option<&str>,
    ) -> JsAnswer;
    #[wasm_bindgen(js_name = statusAnswer)]
    fn status_answer(http_status: u16) -> JsAnswer;
    #[wasm_bindgen(js_name = toolAnswer)]
    fn tool_answer(text: &str) -> JsAnswer;
}

#[wasm_bindgen]
pub fn refusal(profile: &str, session_id: Option<Text>) -> Result<JsAnswer> {
    let session_id = session_id.as_ref().map(cut);
    let profile: Profile = profile.parse()?;
    Ok(profile.refusal(session_id.as_deref()).into())
}

#[wasm_bindgen(js_name = internalError)]
pub fn internal_error(profile: &str) -> Result<JsAnswer> {
    let profile: Profile = profile.parse()?;
    Ok(profile.internal_error().into())
}

impl From<Answer> for JsAnswer {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Error(error) => {
                let (session_id, reason) = match &error.data {
                    Some(ErrorData::SessionId(id)) => (Some(id.as_str()), None),
                    Some(ErrorData::Reason(reason)) => (None, Some(*reason)),
                    _ => (None, None),
                };
                error_answer(error.code, &error.message, session_id, reason)
            }
            Answer::HttpStatus(status) => status_answer(status),
            Answer::ToolResult(result) => {
                let text = result.content.first().map(|content| &*content.text);
                tool_answer(text.unwrap_or_default())
            }
            _ => unreachable!("the answers of this very version"),
        }
    }
}
