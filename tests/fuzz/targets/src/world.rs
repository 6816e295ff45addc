//! Codecs with fixed keys, a clock that the input moves, and randomness that counts: an input does the same each time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use arbitrary::Arbitrary;
use sealwax::{Codec, Environment, Error, Key, KeyRing, Principal, View};
use sealwax_mcp::{Guard, TransportSettings};

/// The time at which everything begins, in Unix seconds.
pub const NOW: u64 = 1_800_000_000;

/// A clock that stands still until it is moved. Its clones are the same one.
#[derive(Clone)]
pub struct Still(Arc<State>);

struct State {
    now_ms: AtomicU64,
    draws: AtomicU64,
}

impl Still {
    pub fn new() -> Self {
        Self(Arc::new(State {
            now_ms: AtomicU64::new(NOW * 1000),
            draws: AtomicU64::new(1),
        }))
    }

    pub fn set(&self, seconds: u64) {
        self.0
            .now_ms
            .store(seconds.saturating_mul(1000), Ordering::Relaxed);
    }

    pub fn set_ms(&self, now_ms: u64) {
        self.0.now_ms.store(now_ms, Ordering::Relaxed);
    }

    pub fn now(&self) -> u64 {
        self.now_ms() / 1000
    }
}

impl Environment for Still {
    fn now_ms(&self) -> u64 {
        self.0.now_ms.load(Ordering::Relaxed)
    }

    /// Never the same twice: splitmix64 of a counter.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        for chunk in bytes.chunks_mut(8) {
            let draw = self.0.draws.fetch_add(1, Ordering::Relaxed);
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
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    Old,
    OldNew,
    NewOld,
    New,
    Other,
}

impl Ring {
    /// Its keys, by their places among the fixed ones.
    pub fn places(self) -> &'static [usize] {
        match self {
            Self::Old => &[0],
            Self::OldNew => &[0, 1],
            Self::NewOld => &[1, 0],
            Self::New => &[1],
            Self::Other => &[2],
        }
    }

    pub fn ring(self) -> KeyRing {
        KeyRing::new(self.places().iter().map(|&at| KEYS[at].clone())).unwrap()
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

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    Ours,
    Nearly,
    Other,
}

impl Audience {
    pub fn text(self) -> &'static str {
        match self {
            Self::Ours => "urn:fuzz",
            Self::Nearly => "urn:fuzz/",
            Self::Other => "o",
        }
    }
}

/// Who seals, or opens, and where.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub ring: Ring,
    pub audience: Audience,
    pub who: Who,
}

impl Place {
    pub fn view(self, clock: &Still) -> View {
        self.view_of(clock, Limits::default())
    }

    pub fn view_of(self, clock: &Still, limits: Limits) -> View {
        self.codec(clock, limits)
            .view(&self.who.principal())
            .unwrap()
    }

    fn codec(self, clock: &Still, limits: Limits) -> Codec {
        Codec::builder(self.ring.ring(), self.audience.text())
            .payload_limit(limits.payload())
            .clock_tolerance(std::time::Duration::from_secs(limits.clock_tolerance()))
            .build_in(clock.clone())
            .unwrap()
    }
}

/// The limits of a codec.
#[derive(Arbitrary, Clone, Copy, Debug, Default)]
pub struct Limits {
    payload: u8,
    clock_tolerance: Option<u8>,
}

impl Limits {
    /// 4,096 bytes or fewer.
    pub fn payload(self) -> usize {
        4096 - 16 * usize::from(self.payload)
    }

    /// 60 seconds unless given.
    pub fn clock_tolerance(self) -> u64 {
        self.clock_tolerance.map_or(60, u64::from)
    }
}

/// Returns a guard around HTTP or stdio, always the same, and a session of Alice's.
pub fn with_session(settings: TransportSettings) -> (Guard, String) {
    let place = Place {
        ring: Ring::NewOld,
        audience: Audience::Ours,
        who: Who::Alice,
    };
    let clock = Still::new();
    let negotiated = br#"{"protocolVersion":"2025-11-25"}"#;
    let session_id = place.view(&clock).session().seal(negotiated).unwrap();
    let codec = place.codec(&clock, Limits::default());
    let guard = Guard::builder(codec).transport(settings).build().unwrap();
    (guard, session_id.into_string())
}
