//! The guard's engine, by JSON documents.

use sealwax_mcp::document;
use sealwax_mcp::ledger;
use wasm_bindgen::prelude::*;

use crate::codec::Codec;
use crate::error::Result;
use crate::input::{Text, cut, document, whole};

#[wasm_bindgen(raw_module = "./facts.js")]
extern "C" {
    /// `pkg/src/facts.ts`
    #[wasm_bindgen(typescript_type = "Begun")]
    pub type Begun;

    #[wasm_bindgen(js_name = begun)]
    fn begun(exchange: Exchange, step: &str) -> Begun;
}

#[wasm_bindgen]
#[derive(Debug)]
pub struct Guard(sealwax_mcp::Guard);

#[wasm_bindgen]
impl Guard {
    #[wasm_bindgen(constructor)]
    pub fn new(codec: &Codec, settings: &str) -> Result<Self> {
        Ok(Self(document::guard(codec.0.clone(), settings)?))
    }

    pub fn message(&self, message: &Text, arguments: Option<Text>) -> Begun {
        let arguments = arguments.as_ref().map(document);
        let (exchange, step) = document::message(&self.0, &document(message), arguments.as_deref());
        begun(Exchange(exchange), &step)
    }

    pub fn transport(&self, transport: &Text, initialize: Option<Text>) -> Begun {
        let initialize = initialize.as_ref().map(document);
        let (exchange, step) =
            document::transport(&self.0, &document(transport), initialize.as_deref());
        begun(Exchange(exchange), &step)
    }

    pub fn revoke(&self, principal: &Text, retain_for: Option<f64>) -> Result<Begun> {
        let retain_for = retain_for.map(whole);
        let (exchange, step) = document::revoke(&self.0, &cut(principal), retain_for)?;
        Ok(begun(Exchange(exchange), &step))
    }
}

#[wasm_bindgen(js_name = ledgerText)]
pub fn ledger_text(name: &Text) -> Result<String> {
    Ok(ledger::text(&cut(name))?.into())
}

#[wasm_bindgen(js_name = ledgerJudge)]
pub fn ledger_judge(command: &Text, now: f64, values: &Text) -> Result<String> {
    Ok(document::judge(
        &document(command),
        whole(now),
        &document(values),
    )?)
}

#[wasm_bindgen]
#[derive(Debug)]
pub struct Memory(ledger::Memory);

#[wasm_bindgen]
impl Memory {
    #[wasm_bindgen(constructor)]
    pub fn new(capacity: usize, now: f64) -> Self {
        Self(ledger::Memory::new(capacity, whole(now)))
    }

    pub fn run(&mut self, command: &Text, now: f64) -> Result<String> {
        Ok(document::run(&mut self.0, &document(command), whole(now))?)
    }
}

#[wasm_bindgen]
#[derive(Debug)]
pub struct Exchange(sealwax_mcp::Exchange);

#[wasm_bindgen]
impl Exchange {
    pub fn on(&mut self, event: &Text, value: Option<Text>) -> Result<String> {
        let value = value.as_ref().map(document);
        Ok(document::on(
            &mut self.0,
            &document(event),
            value.as_deref(),
        )?)
    }

    pub fn handle(&self, op: &Text, value: Option<Text>) -> Result<Begun> {
        let value = value.as_ref().map(cut);
        let (exchange, step) = document::handle(&self.0, &document(op), value.as_deref())?;
        Ok(begun(Exchange(exchange), &step))
    }

    #[wasm_bindgen(js_name = sealState)]
    pub fn seal_state(&mut self, value: &Text) -> Result<String> {
        Ok(self.0.seal_state(&cut(value))?)
    }

    pub fn update(&mut self, value: &Text) -> Result<()> {
        Ok(self.0.update(&cut(value))?)
    }

    pub fn write(&mut self, value: &Text) -> Result<()> {
        Ok(self.0.write(&cut(value))?)
    }

    pub fn fork(&self) -> Result<String> {
        Ok(document::fork(&self.0)?)
    }
}
