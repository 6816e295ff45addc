//! The clock and the randomness of the host, read at each call.

use std::cell::Cell;

use sealwax::{Environment, Error};
use wasm_bindgen::prelude::*;

use crate::input::whole;

#[wasm_bindgen(raw_module = "./input.js")]
extern "C" {
    /// `pkg/src/input.ts`
    #[wasm_bindgen(js_name = dateNow)]
    fn date_now(clock: u32) -> f64;
    #[wasm_bindgen(js_name = performanceNow)]
    fn performance_now() -> f64;
}

#[wasm_bindgen(raw_module = "./nonce.js")]
extern "C" {
    /// `pkg/src/nonce.ts`: from a burst of nonces, where that is faster.
    #[wasm_bindgen(js_name = fillNonce, catch)]
    fn fill_nonce(bytes: &mut [u8]) -> Result<(), JsValue>;
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues, catch)]
    fn get_random_values(bytes: &mut [u8]) -> Result<(), JsValue>;
}

pub const NONCE_LEN: usize = 24;

thread_local! {
    /// The nonce for the token that is being sealed; zeros if it is to be drawn for itself.
    static NONCE: Cell<Option<[u8; NONCE_LEN]>> = const { Cell::new(None) };
}

/// Seals with a nonce that was drawn beforehand, or asks the host if there is none.
pub fn with_nonce<T>(drawn: &[u8], seal: impl FnOnce() -> T) -> T {
    NONCE.set(Some(drawn.try_into().unwrap_or_default()));
    let outcome = seal();
    NONCE.set(None);
    outcome
}

/// The host, with the clock that `pkg/src/input.ts` knows by this number: its own, or one of a test.
pub struct Host(pub u32);

pub const OWN_CLOCK: u32 = 0;

impl Environment for Host {
    fn now_ms(&self) -> u64 {
        whole(date_now(self.0))
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let is_nonce = bytes.len() == NONCE_LEN;
        let drawn = match NONCE.take() {
            Some(nonce) if is_nonce && nonce != [0; NONCE_LEN] => {
                bytes.copy_from_slice(&nonce);
                Ok(())
            }
            None if is_nonce => fill_nonce(bytes),
            _ => get_random_values(bytes),
        };
        drawn.map_err(|_| Error::EntropyUnavailable)?;
        if bytes.iter().all(|byte| *byte == 0) {
            // A stub of a generator, which wrote nothing.
            return Err(Error::EntropyUnavailable);
        }
        let within = whole(performance_now().fract() * 1e6);
        let now = u128::from(whole(date_now(OWN_CLOCK)));
        sealwax::mix_time(bytes, now * 1_000_000 + u128::from(within));
        Ok(())
    }
}
