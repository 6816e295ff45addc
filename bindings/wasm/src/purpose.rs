//! What a token is for and how long it lives.

use sealwax::kind::Untyped;
use sealwax::{Kind, RequestContext, Sealer};
use wasm_bindgen::prelude::*;

use crate::error::Result;
use crate::input::{Text, cut, seconds};

#[wasm_bindgen]
extern "C" {
    /// `pkg/src/lifetime.ts`
    #[wasm_bindgen(typescript_type = "Lifetime")]
    pub type Lifetime;
    #[wasm_bindgen(method, getter)]
    pub fn ttl(this: &Lifetime) -> Option<f64>;
    #[wasm_bindgen(method, getter, js_name = noExpiry)]
    pub fn no_expiry(this: &Lifetime) -> Option<bool>;
}

#[wasm_bindgen(js_name = checkTtl)]
pub fn check_ttl(ttl: f64) -> Result<()> {
    sealwax::check_ttl(seconds(ttl))?;
    Ok(())
}

/// A purpose that owns what the core's borrows. It comes as arguments of their own: to read the
/// members of an object would be a call back into JavaScript for each, 0.2 µs a token in all.
pub struct Bindings {
    kind: Kind,
    label: String,
    session_id: Option<String>,
    context: Option<RequestContext>,
}

impl Bindings {
    /// Reads what is `undefined` as absent, and the core tells whether it may be. What is given
    /// empty is refused, for taking it as absent would leave a token unbound.
    pub fn read(
        kind: &str,
        label: Option<String>,
        session_id: Option<Text>,
        context: Option<Vec<u8>>,
    ) -> Result<Self> {
        Ok(Self {
            kind: kind.parse()?,
            label: label.unwrap_or_default(),
            session_id: session_id.as_ref().map(cut),
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

/// The sealer for tokens of a lifetime: the kind's own unless one of the two is given.
pub fn living(
    sealer: Sealer<'_, Untyped>,
    ttl: Option<f64>,
    no_expiry: bool,
) -> Sealer<'_, Untyped> {
    match ttl {
        _ if no_expiry => sealer.no_expiry(),
        Some(ttl) => sealer.ttl(seconds(ttl)),
        None => sealer,
    }
}

impl Lifetime {
    pub fn of_sessions<'v>(&self, sessions: sealwax::Sessions<'v>) -> sealwax::Sessions<'v> {
        match (self.ttl(), self.no_expiry()) {
            (_, Some(true)) => sessions.no_expiry(),
            (Some(ttl), _) => sessions.ttl(seconds(ttl)),
            _ => sessions,
        }
    }
}
