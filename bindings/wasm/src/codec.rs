//! Codecs, and their views.

use sealwax::Principal;
use wasm_bindgen::prelude::*;

use crate::environment::Host;
use crate::error::Result;
use crate::input::{seconds, size};
use crate::key::KeyRing;
use crate::view::View;

#[wasm_bindgen]
#[derive(Debug)]
pub struct Codec(pub(crate) sealwax::Codec);

#[wasm_bindgen]
extern "C" {
    /// `pkg/src/codec.ts`
    #[wasm_bindgen(typescript_type = "Limits")]
    pub type Limits;
    #[wasm_bindgen(method, getter, js_name = payloadLimit)]
    fn payload_limit(this: &Limits) -> Option<f64>;
    #[wasm_bindgen(method, getter, js_name = clockTolerance)]
    fn clock_tolerance(this: &Limits) -> Option<f64>;
    #[wasm_bindgen(method, getter, js_name = sessionMaxAge)]
    fn session_max_age(this: &Limits) -> Option<f64>;
}

#[wasm_bindgen]
impl Codec {
    #[wasm_bindgen(constructor)]
    pub fn new(ring: &KeyRing, audience: String, limits: &Limits, clock: u32) -> Result<Self> {
        let mut builder = sealwax::Codec::builder(ring.0.clone(), audience);
        if let Some(bytes) = limits.payload_limit() {
            builder = builder.payload_limit(size(bytes));
        }
        if let Some(clock_tolerance) = limits.clock_tolerance() {
            builder = builder.clock_tolerance(seconds(clock_tolerance));
        }
        if let Some(max_age) = limits.session_max_age() {
            builder = builder.session_max_age(seconds(max_age));
        }
        Ok(Self(builder.build_in(Host(clock))?))
    }

    /// Returns whether the ring differs from the one before.
    #[wasm_bindgen(js_name = setKeys)]
    pub fn set_keys(&self, ring: &KeyRing) -> bool {
        self.0.set_keys(ring.0.clone())
    }

    #[wasm_bindgen(js_name = viewOf)]
    pub fn view_of(
        &self,
        issuer: Option<String>,
        client: Option<String>,
        subject: Option<String>,
    ) -> Result<View> {
        let principal =
            Principal::from_parts(issuer.as_deref(), client.as_deref(), subject.as_deref())?;
        Ok(View(self.0.view(&principal)?))
    }

    #[wasm_bindgen(js_name = viewOfAnonymous)]
    pub fn view_of_anonymous(&self) -> Result<View> {
        Ok(View(self.0.view(&Principal::anonymous())?))
    }
}
