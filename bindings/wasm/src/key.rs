//! Keys and rings. Texts and secrets have types of their own, so that they can be wiped.

use sealwax::Variables;
use wasm_bindgen::prelude::*;
use zeroize::Zeroizing;

use crate::environment::{Host, OWN_CLOCK};
use crate::error::Result;
use crate::input::{Bytes, Text, bytes, cut};

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

    pub fn derive(secret: String) -> Result<Self> {
        Ok(Self(sealwax::Key::derive(&Zeroizing::new(secret))?))
    }

    #[wasm_bindgen(js_name = fromSecret)]
    pub fn from_secret(secret: Vec<u8>) -> Result<Self> {
        Ok(Self(sealwax::Key::from_secret(&Zeroizing::new(secret))?))
    }

    pub fn ring(&self) -> KeyRing {
        KeyRing(self.0.clone().into())
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
    /// Makes a ring of the keys of rings.
    pub fn of(rings: Vec<Self>) -> Result<Self> {
        Ok(Self(sealwax::KeyRing::new(
            rings.into_iter().map(|ring| ring.0),
        )?))
    }

    /// Makes a ring of variables, unless they name a file.
    #[wasm_bindgen(js_name = fromVariables)]
    pub fn from_variables(variables: String) -> Result<Option<Self>> {
        let variables = Zeroizing::new(variables);
        Ok(Variables::read(&variables).ring()?.map(Self))
    }

    pub fn parse(text: String) -> Result<Self> {
        Ok(Self(Zeroizing::new(text).parse()?))
    }

    /// Makes a ring of a file that was read, or was not, and why.
    #[wasm_bindgen(js_name = ofFile)]
    pub fn of_file(path: &Text, data: &Bytes, why: Option<String>) -> Result<Self> {
        bytes(data, |data| {
            let read = why.as_deref().map_or(Ok(data), Err);
            sealwax::KeyRing::of_file(&cut(path), read).map(Self)
        })
    }

    pub fn share(&self) -> Self {
        Self(self.0.clone())
    }

    pub fn ids(&self) -> Vec<String> {
        self.0.ids().map(|id| id.to_string()).collect()
    }
}
