//! Keys and rings. Texts and secrets have types of their own, so that they can be wiped.

use wasm_bindgen::prelude::*;
use zeroize::Zeroizing;

use crate::environment::{Host, OWN_CLOCK};
use crate::error::Result;

#[wasm_bindgen]
#[derive(Debug)]
pub struct Key(sealwax::Key);

#[wasm_bindgen]
impl Key {
    pub fn generate() -> Result<Self> {
        Ok(Self(sealwax::Key::generate_in(&Host(OWN_CLOCK))?))
    }

    pub fn parse(text: String) -> Result<Self> {
        Ok(Self(Zeroizing::new(text).parse()?))
    }

    #[wasm_bindgen(js_name = fromSecret)]
    pub fn from_secret(secret: Vec<u8>) -> Result<Self> {
        Ok(Self(sealwax::Key::from_secret(&Zeroizing::new(secret))?))
    }

    pub fn share(&self) -> Self {
        Self(self.0.clone())
    }

    pub fn id(&self) -> String {
        self.0.id().to_string()
    }

    /// Returns a value made here: the glue would free a `String` without wiping it.
    #[wasm_bindgen(js_name = toText, unchecked_return_type = "string | undefined")]
    pub fn to_text(&self) -> JsValue {
        self.0
            .to_text()
            .map_or(JsValue::UNDEFINED, |text| JsValue::from_str(&text))
    }
}

#[wasm_bindgen]
#[derive(Debug)]
pub struct KeyRing(pub(crate) sealwax::KeyRing);

#[wasm_bindgen]
impl KeyRing {
    pub fn of(keys: Vec<Key>) -> Result<Self> {
        Ok(Self(sealwax::KeyRing::new(
            keys.into_iter().map(|key| key.0),
        )?))
    }

    pub fn parse(text: String) -> Result<Self> {
        Ok(Self(Zeroizing::new(text).parse()?))
    }

    pub fn ids(&self) -> Vec<String> {
        self.0.ids().map(|id| id.to_string()).collect()
    }
}
