//! The clock and the randomness of the host, looked up at each call.

use sealwax::{Environment, Error};
use wasm_bindgen::prelude::*;

use crate::input::whole;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = Date, js_name = now)]
    fn date_now() -> f64;

    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues, catch)]
    fn get_random_values(bytes: &mut [u8]) -> Result<(), JsValue>;
}

pub struct Host;

impl Environment for Host {
    fn now_ms(&self) -> u64 {
        whole(date_now())
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        get_random_values(bytes).map_err(|_| Error::EntropyUnavailable)
    }
}
