//! A view: sealing and opening for one principal.

use wasm_bindgen::prelude::*;

use crate::error::Result;
use crate::input::{self, Bytes, Text, seconds, whole};
use crate::opened::{OpenedFacts, facts};
use crate::purpose::{Bindings, Lifetime, Purpose};

#[wasm_bindgen]
#[derive(Debug)]
pub struct View(pub(crate) sealwax::View);

#[wasm_bindgen]
impl View {
    pub fn seal(&self, purpose: &Purpose, lifetime: &Lifetime, payload: &Bytes) -> Result<String> {
        let bindings = Bindings::read(purpose)?;
        let sealer = lifetime.of(bindings.sealer(&self.0)?);
        let token = input::bytes(payload, |payload| sealer.seal(payload))?;
        Ok(token.into_string())
    }

    pub fn renew(
        &self,
        purpose: &Purpose,
        lifetime: &Lifetime,
        started_at: f64,
        generation: u32,
        payload: &Bytes,
    ) -> Result<String> {
        let bindings = Bindings::read(purpose)?;
        let sealer = lifetime.of(bindings.sealer(&self.0)?);
        let token = input::bytes(payload, |payload| {
            sealer.renew_from(whole(started_at), generation, payload)
        })?;
        Ok(token.into_string())
    }

    pub fn open(
        &self,
        purpose: &Purpose,
        max_age: Option<f64>,
        token: &Text,
    ) -> Result<OpenedFacts> {
        let bindings = Bindings::read(purpose)?;
        let mut sealer = bindings.sealer(&self.0)?;
        if let Some(max_age) = max_age {
            sealer = sealer.max_age(seconds(max_age));
        }
        let opened = input::text(token, |token| sealer.open(token))?;
        Ok(facts(&opened))
    }
}
