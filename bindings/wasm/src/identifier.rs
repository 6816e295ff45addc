//! Session ids and handles.

use wasm_bindgen::prelude::*;

use crate::error::Result;
use crate::input::{self, Text, seconds};
use crate::view::View;

#[wasm_bindgen(raw_module = "./facts.js")]
extern "C" {
    /// `pkg/src/facts.ts`
    #[wasm_bindgen(typescript_type = "IdentifierFacts")]
    pub type IdentifierFacts;

    #[wasm_bindgen(js_name = identifierFacts)]
    fn identifier_facts(
        created_at_ms: f64,
        ends_at_ms: Option<f64>,
        ulid: &str,
        needs_reseal: bool,
    ) -> IdentifierFacts;
}

#[wasm_bindgen(js_name = checkHandleType)]
pub fn check_handle_type(handle_type: &str) -> Result<()> {
    Ok(sealwax::Handle::check_type(handle_type)?)
}

#[wasm_bindgen]
#[expect(clippy::cast_precision_loss, reason = "Unix milliseconds have 48 bits")]
impl View {
    #[wasm_bindgen(js_name = mintSessionId)]
    pub fn mint_session_id(&self) -> Result<String> {
        Ok(self.0.mint_session_id()?.to_string())
    }

    #[wasm_bindgen(js_name = verifySessionId)]
    pub fn verify_session_id(&self, text: &Text, max_age: Option<f64>) -> Result<IdentifierFacts> {
        let max_age = max_age.map(seconds);
        let id = input::text(text, |text| self.0.verify_session_id(text, max_age))?;
        Ok(identifier_facts(
            id.created_at_ms() as f64,
            max_age.map(|age| id.ends_at_ms(age) as f64),
            &hex(id.ulid()),
            id.needs_reseal(),
        ))
    }

    #[wasm_bindgen(js_name = verifySession)]
    pub fn verify_session(&self, text: &Text) -> Result<IdentifierFacts> {
        let id = input::text(text, |text| self.0.sessions().verify(text))?;
        let max_age = self.0.codec().session_max_age();
        Ok(identifier_facts(
            id.created_at_ms() as f64,
            Some(id.ends_at_ms(max_age) as f64),
            &hex(id.ulid()),
            id.needs_reseal(),
        ))
    }

    #[wasm_bindgen(js_name = mintHandle)]
    pub fn mint_handle(&self, handle_type: &str) -> Result<String> {
        Ok(self.0.mint_handle(handle_type)?.to_string())
    }

    #[wasm_bindgen(js_name = verifyHandle)]
    pub fn verify_handle(
        &self,
        handle_type: &str,
        text: &Text,
        max_age: Option<f64>,
    ) -> Result<IdentifierFacts> {
        let max_age = max_age.map(seconds);
        let handle = input::text(text, |text| {
            self.0.verify_handle(handle_type, text, max_age)
        })?;
        Ok(identifier_facts(
            handle.created_at_ms() as f64,
            max_age.map(|age| handle.ends_at_ms(age) as f64),
            &hex(handle.ulid()),
            handle.needs_reseal(),
        ))
    }
}

fn hex(ulid: &[u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(*ulid))
}
