//! The WebAssembly module of `npx sealwax`: one run of the command, by the documents of `sealwax_cli::document`.
//!
//! It is a module of its own, because the command would add two fifths to the one that browsers load.

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

use sealwax::{Environment, Error};
use sealwax_cli::document;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues, catch)]
    fn get_random_values(bytes: &mut [u8]) -> Result<(), JsValue>;
    #[wasm_bindgen(js_namespace = Date, js_name = now)]
    fn date_now() -> f64;
}

/// One run.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Run(sealwax_cli::Run);

#[wasm_bindgen]
impl Run {
    /// Begins it.
    ///
    /// # Errors
    ///
    /// For another document.
    #[wasm_bindgen(constructor)]
    pub fn new(request: &str) -> Result<Self, JsError> {
        Ok(Self(document::begin(request)?))
    }

    /// Returns what to do next.
    #[must_use]
    pub fn step(&self) -> String {
        document::step(&self.0.step(&Host))
    }

    /// Takes the answer to the last step.
    ///
    /// # Errors
    ///
    /// For another document.
    pub fn answer(&mut self, answer: &str) -> Result<(), JsError> {
        self.0.answer(document::answer(answer)?);
        Ok(())
    }
}

struct Host;

impl Environment for Host {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time in milliseconds"
    )]
    fn now_ms(&self) -> u64 {
        date_now() as u64
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        get_random_values(bytes).map_err(|_| Error::EntropyUnavailable)?;
        sealwax::mix_time(bytes, u128::from(self.now_ms()) * 1_000_000);
        Ok(())
    }
}
