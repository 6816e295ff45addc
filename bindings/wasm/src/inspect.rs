//! The unverified claims of a text.

use sealwax::Inspected;
use sealwax::report::Report;
use wasm_bindgen::prelude::*;

use crate::error::Result;
use crate::input::{self, Text, whole};
use crate::key::KeyRing;

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

/// What `sealwax inspect` prints.
#[wasm_bindgen(js_name = reportWords)]
pub fn report_words(text: &Text, ring: Option<KeyRing>, now: f64) -> Result<String> {
    Ok(report(text, ring)?.words(whole(now)))
}

#[wasm_bindgen(js_name = reportJson)]
pub fn report_json(text: &Text, ring: Option<KeyRing>) -> Result<String> {
    Ok(report(text, ring)?.json())
}

fn report(text: &Text, ring: Option<KeyRing>) -> Result<Report> {
    input::text(text, |text| {
        Report::of(text, ring.as_ref().map(|ring| &ring.0))
    })
}
