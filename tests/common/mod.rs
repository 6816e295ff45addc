//! Codecs to test with; a clock and a randomness that stand still; the vectors' fields.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use data_encoding::HEXLOWER;
use sealwax::{Codec, Environment, Error, Key, KeyRing, Kind, Principal, Purpose, System, View};
use serde_json::Value;

pub const AUDIENCE: &str = "https://mcp.example.com";

pub fn ring() -> KeyRing {
    KeyRing::new([1, 2].map(|byte| Key::from_secret(&[byte; 32]).unwrap())).unwrap()
}

pub fn view_of(audience: &str, principal: &Principal) -> View {
    Codec::new(ring(), audience)
        .unwrap()
        .view(principal)
        .unwrap()
}

pub fn alice() -> View {
    view_of(AUDIENCE, &Principal::subject("alice"))
}

/// Unix milliseconds; the given bytes as randomness, or the system's where none are given.
pub struct Fixed {
    pub now_ms: u64,
    pub random: Option<Vec<u8>>,
}

impl Environment for Fixed {
    fn now_ms(&self) -> u64 {
        self.now_ms
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        match &self.random {
            Some(random) => bytes.copy_from_slice(random),
            None => System.fill(bytes)?,
        }
        Ok(())
    }
}

pub fn codec_at(ring: &str, audience: &str, environment: Fixed) -> Result<Codec, Error> {
    Codec::builder(ring.parse()?, audience).build_in(environment)
}

/// A member of a vector, as text; absent is empty.
pub fn text<'v>(vector: &'v Value, member: &str) -> &'v str {
    vector[member].as_str().unwrap_or_default()
}

pub fn bytes(vector: &Value, member: &str) -> Vec<u8> {
    HEXLOWER.decode(text(vector, member).as_bytes()).unwrap()
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

pub fn principal(vector: &Value) -> Result<Principal, Error> {
    let principal = &vector["principal"];
    if principal["anonymous"] == true {
        return Ok(Principal::anonymous());
    }
    let part = |name| Some(text(principal, name)).filter(|part| !part.is_empty());
    Principal::from_parts(part("issuer"), part("client"), part("subject"))
}

pub fn purpose<'v>(vector: &'v Value, context: &'v [u8]) -> Purpose<'v> {
    Purpose {
        kind: text(vector, "kind").parse::<Kind>().unwrap(),
        label: text(vector, "label"),
        session_id: text(vector, "session_id"),
        context,
    }
}
