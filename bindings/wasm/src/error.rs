//! The core's errors as JavaScript exceptions.

use sealwax::Error;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "./error.js")]
extern "C" {
    /// `pkg/src/error.ts`
    pub type SealwaxError;

    #[wasm_bindgen(constructor)]
    fn new(code: &str, message: &str, is_refusal: bool) -> SealwaxError;
}

impl From<Error> for SealwaxError {
    fn from(error: Error) -> Self {
        let mut message = error.to_string();
        if error == Error::EntropyUnavailable {
            message.push_str("; a Worker has none at its global scope: do it within a handler");
        }
        Self::new(error.code(), &message, error.is_refusal())
    }
}

pub type Result<T> = core::result::Result<T, SealwaxError>;
