//! Who seals and who opens: Alice opens all, at one service, with a ring of two keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sealwax::{Codec, Environment, Error, Key, KeyRing, Kind, Principal, Purpose, View, hazmat};

use super::random::Random;
use super::spelling::{BASE32, BASE64URL, Spelling};

pub const AUDIENCE: &str = "https://mcp.example.com";
pub const SUBJECT: &str = "alice";
pub const NOW_MS: u64 = 1_800_000_000_000;
/// Of whatever is opened, in seconds: a week.
pub const MAX_AGE: u64 = 7 * 86_400;
pub const SESSION: &str = "a session's id";
pub const CONTEXT: [u8; 32] = [7; 32];
pub const HANDLE_TYPE: &str = "basket";
const SECRETS: [u8; 3] = [1, 2, 3];

/// What a text is presented as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    Sealed(Kind),
    SessionId,
    Handle,
}

pub const OPENERS: [Opener; 8] = [
    Opener::Sealed(Kind::State),
    Opener::Sealed(Kind::RequestState),
    Opener::Sealed(Kind::Session),
    Opener::Sealed(Kind::Cursor),
    Opener::Sealed(Kind::HandleState),
    Opener::Sealed(Kind::Custom),
    Opener::SessionId,
    Opener::Handle,
];

impl Opener {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sealed(kind) => kind.name(),
            Self::SessionId => "session-id",
            Self::Handle => "handle",
        }
    }

    /// How its texts begin, and the spelling of the rest.
    pub fn spelling(self) -> (&'static str, Spelling) {
        match self {
            Self::Sealed(_) => ("sw1.", BASE64URL),
            Self::SessionId => ("sess_", BASE64URL),
            Self::Handle => ("basket_", BASE32),
        }
    }

    /// Where the fields of its bytes begin and end.
    pub fn fields(self, length: usize) -> Vec<usize> {
        match self {
            Self::Sealed(_) => vec![0, 1, 5, 29, length - 16, length],
            Self::SessionId => vec![0, 4, 20, 28, length],
            Self::Handle => vec![0, 16, length],
        }
    }

    /// What its texts are bound to, unless it is an id or a handle.
    pub fn purpose(self) -> Option<Purpose<'static>> {
        let Self::Sealed(kind) = self else {
            return None;
        };
        let (label, session_id, context) = match kind {
            Kind::State => ("", SESSION, &[][..]),
            Kind::RequestState => ("", "", &CONTEXT[..]),
            Kind::Cursor => ("tools/list", "", &[][..]),
            Kind::HandleState => (HANDLE_TYPE, "", &[][..]),
            Kind::Custom => ("wizard", SESSION, &CONTEXT[..]),
            _ => ("", "", &[][..]),
        };
        Some(Purpose {
            kind,
            label,
            session_id,
            context,
        })
    }
}

/// A clock to set, and randomness of a seed.
#[derive(Clone)]
struct Host(Arc<(AtomicU64, AtomicU64)>);

impl Environment for Host {
    fn now_ms(&self) -> u64 {
        self.0.0.load(Ordering::Relaxed)
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let drawn = self.0.1.fetch_add(1, Ordering::Relaxed);
        Random::of(drawn, 0).fill(bytes);
        Ok(())
    }
}

/// The views of all who seal.
pub struct World {
    host: Host,
    /// Of all that is opened.
    pub alice: View,
    /// Alice, where the second key of the ring seals.
    pub alice_elsewhere: View,
    pub others: Vec<View>,
    pub other_service: View,
    pub other_key: View,
    /// The characters of the longest sealed token.
    pub limit: usize,
    pub keys: Vec<[u8; 4]>,
}

impl World {
    pub fn new() -> Result<Self, Error> {
        let host = Host(Arc::new((AtomicU64::new(NOW_MS), AtomicU64::new(0))));
        let keys = SECRETS.map(|first| {
            let secret: [u8; 32] =
                std::array::from_fn(|at| first.wrapping_add(at.to_le_bytes()[0]));
            Key::from_secret(&secret)
        });
        let [one, two, three] = keys;
        let (one, two, three) = (one?, two?, three?);
        let view = |keys: &[&Key], audience: &str, principal: &Principal| {
            let ring = KeyRing::new(keys.iter().map(|key| (*key).clone()))?;
            Codec::builder(ring, audience)
                .build_in(host.clone())?
                .view(principal)
        };
        let me = Principal::subject(SUBJECT);
        let others = [
            Principal::subject("bob"),
            Principal::client(SUBJECT),
            me.clone().with_issuer("https://issuer.example.com"),
            me.clone().with_client("host"),
            Principal::anonymous(),
        ];
        let alice = view(&[&one, &two], AUDIENCE, &me)?;
        Ok(Self {
            alice_elsewhere: view(&[&two, &one], AUDIENCE, &me)?,
            others: others
                .iter()
                .map(|other| view(&[&one, &two], AUDIENCE, other))
                .collect::<Result<_, _>>()?,
            other_service: view(&[&one, &two], "https://mcp.example.com/", &me)?,
            other_key: view(&[&three], AUDIENCE, &me)?,
            limit: alice.codec().token_limit(),
            keys: alice
                .codec()
                .ring()
                .ids()
                .map(|id| *id.as_bytes())
                .collect(),
            alice,
            host,
        })
    }

    /// Begins a block of which the seed decides all randomness.
    pub fn begin(&self, random: &mut Random) {
        self.host.0.1.store(random.next(), Ordering::Relaxed);
    }

    /// Returns what is sealed, minted or signed `ago` seconds before the present; negative: after it.
    pub fn seal_at(
        &self,
        ago: i64,
        seal: impl FnOnce() -> Result<String, Error>,
    ) -> Result<String, Error> {
        let clock = &self.host.0.0;
        clock.store(NOW_MS.saturating_add_signed(-1000 * ago), Ordering::Relaxed);
        let sealed = seal();
        clock.store(NOW_MS, Ordering::Relaxed);
        sealed
    }

    /// Seals a payload, or mints what has none.
    pub fn seal(
        &self,
        view: &View,
        opener: Opener,
        age: u32,
        payload: &[u8],
    ) -> Result<String, Error> {
        match (opener, opener.purpose()) {
            (_, Some(purpose)) => {
                let token = hazmat::seal(&view.sealer(purpose), age, age % 3, payload)?;
                Ok(token.as_str().into())
            }
            (Opener::SessionId, None) => Ok(view.mint_session_id()?.as_str().into()),
            (_, None) => Ok(view.mint_handle(HANDLE_TYPE)?.as_str().into()),
        }
    }

    /// Opens a text as Alice's, and returns its payload.
    pub fn open(&self, opener: Opener, text: &str) -> Result<Vec<u8>, Error> {
        let max_age = Duration::from_secs(MAX_AGE);
        match (opener, opener.purpose()) {
            (_, Some(purpose)) => {
                let opened = self.alice.sealer(purpose).max_age(max_age).open(text)?;
                Ok(opened.payload().into())
            }
            (Opener::SessionId, None) => {
                self.alice.verify_session_id(text, Some(max_age))?;
                Ok(Vec::new())
            }
            (_, None) => {
                self.alice.verify_handle(HANDLE_TYPE, text, Some(max_age))?;
                Ok(Vec::new())
            }
        }
    }
}
