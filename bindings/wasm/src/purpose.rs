//! The purpose and the lifetime of a token.

use sealwax::{Error, Kind, Purpose, RequestContext};
use wasm_bindgen::prelude::*;

use crate::input::seconds;
use crate::shared::Reader;

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
pub fn check_ttl(ttl: f64) -> crate::error::Result<()> {
    sealwax::check_ttl(seconds(ttl))?;
    Ok(())
}

/// Returns the number of a kind.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for none.
#[wasm_bindgen(js_name = kindNumber)]
pub fn kind_number(name: &str) -> crate::error::Result<usize> {
    let kind = name.parse::<Kind>()?;
    Ok(Kind::ALL.iter().take_while(|one| **one != kind).count())
}

/// Reads a purpose. An empty value is refused, because taking it as absent would leave a token
/// unbound.
pub fn read<'a>(
    given: &mut Reader<'a>,
    kind: u32,
    label: usize,
    session_id: i32,
    context: i32,
) -> Result<Purpose<'a>, Error> {
    let kind = Kind::ALL
        .get(kind as usize)
        .ok_or(Error::Unsupported("the kind"))?;
    let mut purpose = Purpose::of(*kind);
    purpose.label = given.text(label)?;
    if let Some(id) = given.some_text(session_id)? {
        purpose = purpose.bound_to_session(id)?;
    }
    if let Some(context) = given.some_bytes(context) {
        // Refuses a wrong length.
        RequestContext::from_bytes(context)?;
        purpose.context = context;
    }
    Ok(purpose)
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
