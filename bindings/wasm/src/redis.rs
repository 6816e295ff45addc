//! The dialogue with a Redis, by JSON documents.

use std::cell::RefCell;

use sealwax_mcp::document;
use sealwax_mcp::ledger::redis;
use wasm_bindgen::prelude::*;

use crate::error::Result;
use crate::input::{Text, cut};

#[wasm_bindgen(raw_module = "./facts.js")]
extern "C" {
    /// `pkg/src/facts.ts`
    #[wasm_bindgen(typescript_type = "DialogueBegun")]
    pub type DialogueBegun;

    #[wasm_bindgen(js_name = dialogueBegun)]
    fn dialogue_begun(dialogue: Dialogue, next: &str) -> DialogueBegun;
}

#[wasm_bindgen]
#[derive(Debug)]
pub struct Redis(redis::Redis);

#[wasm_bindgen]
impl Redis {
    #[wasm_bindgen(constructor)]
    pub fn new(waits: bool) -> Self {
        Self(redis::Redis::new(waits))
    }

    pub fn begin(&self, command: &Text) -> Result<DialogueBegun> {
        let (dialogue, next) = document::dialogue(&self.0, &cut(command))?;
        Ok(dialogue_begun(Dialogue(RefCell::new(dialogue)), &next))
    }
}

/// Borrowed by what can throw nothing of the host: an exception would leave it borrowed.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Dialogue(RefCell<redis::Dialogue>);

#[wasm_bindgen]
impl Dialogue {
    pub fn on(&self, answer: &Text) -> Result<String> {
        let answer = cut(answer);
        let next = document::answered(&mut self.0.borrow_mut(), &answer);
        Ok(next?)
    }
}
