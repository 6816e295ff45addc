//! Codecs to test with; clocks that stand still or that the test moves; the vectors' fields.
#![allow(dead_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base16ct::lower as hex;
use sealwax::{Codec, Environment, Error, Key, KeyRing, Kind, Principal, Purpose, System, View};
use serde_json::Value;

pub const AUDIENCE: &str = "https://mcp.example.com";

/// Bytes that differ, as a secret of random bytes does.
pub fn secret<const N: usize>(first: u8) -> [u8; N] {
    let mut next = first;
    [(); N].map(|()| {
        next = next.wrapping_add(1);
        next.wrapping_sub(1)
    })
}

pub fn ring() -> KeyRing {
    KeyRing::new([1, 2].map(|byte| Key::from_secret(&secret::<32>(byte)).unwrap())).unwrap()
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

/// A time in Unix milliseconds that stands still; randomness that is given, or else the system's.
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

/// A clock that the test moves, and the system's randomness.
#[derive(Clone)]
pub struct Clock(Arc<AtomicU64>);

impl Clock {
    /// Starts at so many Unix milliseconds.
    pub fn at_ms(now_ms: u64) -> Self {
        Self(Arc::new(AtomicU64::new(now_ms)))
    }

    /// Unix seconds.
    pub fn now(&self) -> u64 {
        self.now_ms() / 1000
    }

    /// Moves it to a Unix second.
    pub fn set(&self, seconds: u64) {
        self.set_ms(seconds * 1000);
    }

    pub fn set_ms(&self, now_ms: u64) {
        self.0.store(now_ms, Ordering::Relaxed);
    }

    pub fn pass(&self, seconds: u64) {
        self.pass_ms(seconds * 1000);
    }

    pub fn pass_ms(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }

    /// A codec whose sessions last seven days at most.
    pub fn codec(&self) -> Codec {
        let builder =
            Codec::builder(ring(), AUDIENCE).session_max_age(Duration::from_secs(7 * 86_400));
        builder.build_in(self.clone()).unwrap()
    }

    pub fn view(&self, subject: &str) -> View {
        self.codec().view(&Principal::subject(subject)).unwrap()
    }
}

impl Environment for Clock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        System.fill(bytes)
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
    hex::decode_vec(text(vector, member)).unwrap()
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
