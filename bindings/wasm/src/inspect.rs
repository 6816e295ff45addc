//! The unverified claims of a text.

use sealwax::Inspected;
use wasm_bindgen::prelude::*;

use crate::error::Result;
use crate::input::{self, Text};

#[wasm_bindgen(raw_module = "./facts.js")]
extern "C" {
    /// `pkg/src/facts.ts`
    #[wasm_bindgen(typescript_type = "Inspected")]
    pub type InspectedFacts;

    #[wasm_bindgen(js_name = inspectedToken)]
    fn token(kind: &str, key_id: &str, token_id: &str) -> InspectedFacts;
    #[wasm_bindgen(js_name = inspectedSessionId)]
    fn session_id(key_id: &str, created_at_ms: f64) -> InspectedFacts;
    #[wasm_bindgen(js_name = inspectedHandle)]
    fn handle(handle_type: &str, created_at_ms: f64) -> InspectedFacts;
    #[wasm_bindgen(js_name = inspectedKey)]
    fn key(key_id: &str) -> InspectedFacts;
}

#[wasm_bindgen]
#[expect(clippy::cast_precision_loss, reason = "Unix milliseconds have 48 bits")]
pub fn inspect(text: &Text) -> Result<InspectedFacts> {
    Ok(match input::text(text, sealwax::inspect)? {
        Inspected::Token {
            kind,
            key_id,
            token_id,
        } => token(kind.name(), &key_id.to_string(), &token_id.to_string()),
        Inspected::SessionId {
            key_id,
            created_at_ms,
            ..
        } => session_id(&key_id.to_string(), created_at_ms as f64),
        Inspected::Handle {
            handle_type,
            created_at_ms,
            ..
        } => handle(&handle_type, created_at_ms as f64),
        Inspected::Key { key_id } => key(&key_id.to_string()),
        _ => unreachable!("what this very version tells apart"),
    })
}
