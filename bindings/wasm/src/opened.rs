//! What an opened token tells, as an object of JavaScript's own that needs no freeing.

use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "./facts.js")]
extern "C" {
    /// `pkg/src/facts.ts`
    #[wasm_bindgen(typescript_type = "OpenedFacts")]
    pub type OpenedFacts;

    #[wasm_bindgen(js_name = openedFacts)]
    fn opened_facts(
        payload: &[u8],
        issued_at: f64,
        expires_at: Option<f64>,
        started_at: f64,
        generation: u32,
        token_id: &[u8],
        needs_reseal: bool,
        needs_renewal: bool,
    ) -> OpenedFacts;
}

/// Times are exact: what opens was issued in our own time, far below 2⁵³.
#[expect(clippy::cast_precision_loss, reason = "Unix seconds")]
pub fn facts<K>(opened: &sealwax::Opened<K>) -> OpenedFacts {
    opened_facts(
        opened.payload(),
        opened.issued_at() as f64,
        opened.expires_at().map(|at| at as f64),
        opened.started_at() as f64,
        opened.generation(),
        opened.token_id().as_bytes(),
        opened.needs_reseal(),
        opened.needs_renewal(),
    )
}
