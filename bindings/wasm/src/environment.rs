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

/// What JavaScript read for a call before it: each read from here is a call of its own.
#[derive(Clone, Copy)]
struct Read {
    /// The clock, and milliseconds with a fraction.
    now: f64,
    within: f64,
    /// The nonce for the token that is being sealed; zeros if it is to be drawn for itself.
    nonce: [u8; NONCE_LEN],
}

thread_local! {
    static READ: Cell<Option<Read>> = const { Cell::new(None) };
}

/// Works with what was read beforehand.
pub fn reading<T>(now: f64, within: f64, nonce: &[u8], work: impl FnOnce() -> T) -> T {
    let nonce = nonce.try_into().unwrap_or_default();
    READ.set(Some(Read { now, within, nonce }));
    let outcome = work();
    READ.set(None);
    outcome
}

/// The host, with the clock that `pkg/src/input.ts` knows by this number: its own, or one of a test.
pub struct Host(pub u32);

pub const OWN_CLOCK: u32 = 0;

impl Environment for Host {
    fn now_ms(&self) -> u64 {
        whole(match READ.get() {
            Some(read) if self.0 == OWN_CLOCK => read.now,
            _ => date_now(self.0),
        })
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let is_nonce = bytes.len() == NONCE_LEN;
        let read = READ.take();
        let drawn = match &read {
            Some(Read { nonce, .. }) if is_nonce && *nonce != [0; NONCE_LEN] => {
                bytes.copy_from_slice(nonce);
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
        let (now, within) = match read {
            Some(read) => (read.now, read.within),
            None => (date_now(OWN_CLOCK), performance_now()),
        };
        let within = whole(within.fract() * 1e6);
        sealwax::mix_time(
            bytes,
            u128::from(whole(now)) * 1_000_000 + u128::from(within),
        );
        Ok(())
    }
}
