//! Codecs with fixed keys, a clock that the input moves, and randomness that counts: an input does the same each time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arbitrary::Arbitrary;
use sealwax::testing::TestClock;
use sealwax::{Codec, Environment, Error, Key, KeyRing, Principal};
use sealwax_mcp::{Guard, TransportSettings};

/// The time at which everything begins, in Unix seconds.
pub const NOW: u64 = 1_800_000_000;
pub const AUDIENCE: &str = "urn:fuzz";

/// A clock that stands still until it is moved. Its clones are the same one.
#[derive(Clone)]
pub struct Still {
    clock: TestClock,
    draws: Arc<AtomicU64>,
}

impl Still {
    pub fn new() -> Self {
        Self {
            clock: TestClock::at(NOW),
            draws: Arc::new(AtomicU64::new(1)),
        }
    }

    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    pub fn pass(&self, milliseconds: u64) {
        self.clock.advance(Duration::from_millis(milliseconds));
    }
}

impl Environment for Still {
    fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Never the same twice: splitmix64 of a counter.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        for chunk in bytes.chunks_mut(8) {
            let draw = self.draws.fetch_add(1, Ordering::Relaxed);
            let mut mixed = draw.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            chunk.copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

static KEYS: LazyLock<[Key; 3]> = LazyLock::new(|| {
    [1, 60, 120].map(|first: u8| {
        let secret: Vec<u8> = (first..first + 32)
            .map(|byte| byte.wrapping_mul(151))
            .collect();
        Key::from_secret(&secret).unwrap()
    })
});

/// The fixed keys.
pub fn keys() -> &'static [Key; 3] {
    &KEYS
}

/// A ring of the fixed keys.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Ring {
    Old,
    OldNew,
    NewOld,
    New,
    Other,
}

impl Ring {
    pub fn ring(self) -> KeyRing {
        let places: &[usize] = match self {
            Self::Old => &[0],
            Self::OldNew => &[0, 1],
            Self::NewOld => &[1, 0],
            Self::New => &[1],
            Self::Other => &[2],
        };
        KeyRing::new(places.iter().map(|&at| KEYS[at].clone())).unwrap()
    }
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    Alice,
    AliceOfAnIssuer,
    AliceAtAClient,
    TheClientAlice,
    Bob,
    Anybody,
}

impl Who {
    pub fn principal(self) -> Principal {
        match self {
            Self::Alice => Principal::subject("alice"),
            Self::AliceOfAnIssuer => Principal::subject("alice").with_issuer("i"),
            Self::AliceAtAClient => Principal::subject("alice").with_client("i"),
            Self::TheClientAlice => Principal::client("alice"),
            Self::Bob => Principal::subject("bob"),
            Self::Anybody => Principal::anonymous(),
        }
    }
}

pub fn codec() -> Codec {
    let builder = Codec::builder(Ring::NewOld.ring(), AUDIENCE);
    builder.build_in(Still::new()).unwrap()
}

/// Returns a guard around HTTP or stdio, always the same, and a session of Alice's.
pub fn with_session(settings: TransportSettings) -> (Guard, String) {
    let codec = codec();
    let alice = codec.view(&Who::Alice.principal()).unwrap();
    let negotiated = br#"{"protocolVersion":"2025-11-25"}"#;
    let session_id = alice.session().seal(negotiated).unwrap();
    let guard = Guard::builder(codec).transport(settings).build().unwrap();
    (guard, session_id.into_string())
}
