//! What a token is for and how long it lives, read from the TypeScript side's objects.

use sealwax::kind::Untyped;
use sealwax::{Kind, RequestContext, Sealer};
use wasm_bindgen::prelude::*;

use crate::error::Result;
use crate::input::{Text, cut, seconds};

#[wasm_bindgen]
extern "C" {
    /// `pkg/src/sealer.ts`
    #[wasm_bindgen(typescript_type = "Purpose")]
    pub type Purpose;
    #[wasm_bindgen(method, getter)]
    fn kind(this: &Purpose) -> String;
    #[wasm_bindgen(method, getter)]
    fn label(this: &Purpose) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = sessionId)]
    fn session_id(this: &Purpose) -> Option<Text>;
    #[wasm_bindgen(method, getter)]
    fn context(this: &Purpose) -> Option<Vec<u8>>;

    /// `pkg/src/lifetime.ts`
    #[wasm_bindgen(typescript_type = "Lifetime")]
    pub type Lifetime;
    #[wasm_bindgen(method, getter)]
    pub fn ttl(this: &Lifetime) -> Option<f64>;
    #[wasm_bindgen(method, getter, js_name = noExpiry)]
    pub fn no_expiry(this: &Lifetime) -> Option<bool>;
}

/// A purpose that owns what the core's borrows.
pub struct Bindings {
    kind: Kind,
    label: String,
    session_id: Option<String>,
    context: Option<RequestContext>,
}

impl Bindings {
    /// Reads what is `undefined` as absent, and the core tells whether it may be. What is given
    /// empty is refused, for taking it as absent would leave a token unbound.
    pub fn read(given: &Purpose) -> Result<Self> {
        let context = given.context();
        Ok(Self {
            kind: given.kind().parse()?,
            label: given.label().unwrap_or_default(),
            session_id: given.session_id().as_ref().map(cut),
            context: context
                .map(|bytes| RequestContext::from_bytes(&bytes))
                .transpose()?,
        })
    }

    pub fn sealer<'a>(&'a self, view: &'a sealwax::View) -> Result<Sealer<'a, Untyped>> {
        let mut purpose = sealwax::Purpose::of(self.kind);
        purpose.label = &self.label;
        if let Some(id) = &self.session_id {
            purpose = purpose.bound_to_session(id)?;
        }
        if let Some(context) = &self.context {
            purpose.context = context.as_bytes();
        }
        Ok(view.sealer(purpose))
    }
}

impl Lifetime {
    pub fn of<'v>(&self, sealer: Sealer<'v, Untyped>) -> Sealer<'v, Untyped> {
        match (self.ttl(), self.no_expiry()) {
            (_, Some(true)) => sealer.no_expiry(),
            (Some(ttl), _) => sealer.ttl(seconds(ttl)),
            _ => sealer,
        }
    }

    pub fn of_sessions<'v>(&self, sessions: sealwax::Sessions<'v>) -> sealwax::Sessions<'v> {
        match (self.ttl(), self.no_expiry()) {
            (_, Some(true)) => sessions.no_expiry(),
            (Some(ttl), _) => sessions.ttl(seconds(ttl)),
            _ => sessions,
        }
    }
}
