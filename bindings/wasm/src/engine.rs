//! The guard's engine, by JSON documents.

use sealwax_mcp::document;
use sealwax_mcp::ledger;
use wasm_bindgen::prelude::*;

use crate::codec::Codec;
use crate::error::Result;
use crate::input::{Text, cut, document};

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

    pub fn revoke(&self, principal: &Text, lives: Option<f64>) -> Result<Begun> {
        let lives = lives.map(whole);
        let (exchange, step) = document::revoke(&self.0, &cut(principal), lives)?;
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

#[wasm_bindgen(js_name = ledgerFitness)]
pub fn ledger_fitness(info: &Text) -> String {
    document::fitness(&cut(info))
}

#[wasm_bindgen]
#[derive(Debug)]
pub struct Memory(ledger::Memory);

#[wasm_bindgen]
impl Memory {
    #[wasm_bindgen(constructor)]
    pub fn new(room: usize, now: f64) -> Self {
        Self(ledger::Memory::new(room, whole(now)))
    }

    pub fn run(&mut self, command: &Text, now: f64) -> Result<String> {
        Ok(document::run(&mut self.0, &document(command), whole(now))?)
    }
}

/// Returns whole seconds, which are doubles in JavaScript.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it saturates"
)]
fn whole(seconds: f64) -> u64 {
    seconds as u64
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

    pub fn act(&self, act: &Text, value: Option<Text>) -> Result<Begun> {
        let value = value.as_ref().map(cut);
        let (acting, step) = document::handle(&self.0, &document(act), value.as_deref())?;
        Ok(begun(Exchange(acting), &step))
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
