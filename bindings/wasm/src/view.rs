//! A view: sealing and opening for one principal.

use wasm_bindgen::prelude::*;

use crate::error::Result;
use crate::input::{self, Bytes, Text, seconds, whole};
use crate::opened::{OpenedFacts, facts};
use crate::purpose::{Bindings, living};

#[wasm_bindgen]
#[derive(Debug)]
pub struct View(pub(crate) sealwax::View);

#[wasm_bindgen]
#[expect(clippy::too_many_arguments, reason = "see Bindings")]
impl View {
    pub fn seal(
        &self,
        kind: &str,
        label: Option<String>,
        session_id: Option<Text>,
        context: Option<Vec<u8>>,
        ttl: Option<f64>,
        no_expiry: bool,
        payload: &Bytes,
    ) -> Result<String> {
        let bindings = Bindings::read(kind, label, session_id, context)?;
        let sealer = living(bindings.sealer(&self.0)?, ttl, no_expiry);
        let token = input::bytes(payload, |payload| sealer.seal(payload))?;
        Ok(token.into_string())
    }

    pub fn renew(
        &self,
        kind: &str,
        label: Option<String>,
        session_id: Option<Text>,
        context: Option<Vec<u8>>,
        ttl: Option<f64>,
        no_expiry: bool,
        payload: &Bytes,
        started_at: f64,
        generation: u32,
    ) -> Result<String> {
        let bindings = Bindings::read(kind, label, session_id, context)?;
        let sealer = living(bindings.sealer(&self.0)?, ttl, no_expiry);
        let token = input::bytes(payload, |payload| {
            sealer.renew_from(whole(started_at), generation, payload)
        })?;
        Ok(token.into_string())
    }

    pub fn open(
        &self,
        kind: &str,
        label: Option<String>,
        session_id: Option<Text>,
        context: Option<Vec<u8>>,
        max_age: Option<f64>,
        token: &Text,
    ) -> Result<OpenedFacts> {
        let bindings = Bindings::read(kind, label, session_id, context)?;
        let mut sealer = bindings.sealer(&self.0)?;
        if let Some(max_age) = max_age {
            sealer = sealer.max_age(seconds(max_age));
        }
        let opened = input::text(token, |token| sealer.open(token))?;
        Ok(facts(&opened))
    }
}
