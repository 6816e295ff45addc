//! What may happen, and how often.

use sealwax_mcp::ledger::CEILING;

use crate::world::Kind;
use crate::{Fault, Promise};

/// How often each thing may happen. All of it together is finite, so that a scenario is explored to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Tokens that are sealed first in their chain.
    pub seals: u8,
    /// Requests that bring a token.
    pub requests: u8,
    /// Writes and renewals.
    pub writes: u8,
    /// Ends by a client.
    pub ends: u8,
    /// Ends by an operator.
    pub forced: u8,
    /// Revocations.
    pub revocations: u8,
    /// Answers that are lost, and commands that are late.
    pub lost: u8,
    /// Advances of time.
    pub ticks: u8,
    /// Times at which the other server catches up.
    pub copies: u8,
    /// Fail-overs to the other server, with what it has.
    pub fail_overs: u8,
    /// Changes to the other server that it is not told of: two masters.
    pub splits: u8,
    /// Restarts of the store that lose nothing.
    pub restarts: u8,
    /// Restarts with what was last copied.
    pub restores: u8,
    /// Losses of all records.
    pub losses: u8,
    /// Evictions of one key.
    pub evictions: u8,
    /// Resets of the store's counters.
    pub resets: u8,
    /// Steps of the store's clock.
    pub steps: u8,
    /// Changes of the settings.
    pub settings: u8,
}

/// What an author sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The clock tolerance, in seconds.
    pub tolerance: u64,
    /// `sessionMaxAge` and `maxAge`.
    pub max_age: u64,
    /// The lifetime of what is sealed; `None` for no end.
    pub ttl: Option<u64>,
    /// `idle`.
    pub idle: Option<u64>,
    /// The ledger's label.
    pub label: u8,
}

impl Settings {
    /// Those of the scenarios, unless they say otherwise.
    pub const USUAL: Self = Self {
        tolerance: 5,
        max_age: 2 * CEILING.as_secs(),
        ttl: Some(600),
        idle: None,
        label: 0,
    };
}

/// A set of possible histories.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What is sealed.
    pub kinds: Vec<Kind>,
    /// How far the clocks of the two servers and of the two replicas are ahead of the true time, in seconds: each of these.
    pub clocks: Vec<[i64; 4]>,
    /// How far the time may advance at once.
    pub ticks: Vec<u64>,
    /// How far the store's clock may be moved.
    pub steps: Vec<i64>,
    /// The first settings, and what they may become.
    pub settings: Vec<Settings>,
    /// Whether a request may bring two tokens.
    pub pairs: bool,
    /// Whether records go when their time is over, though nobody asks.
    pub sweeps: bool,
    /// How often each thing may happen.
    pub bounds: Bounds,
    /// The deliberate fault, if there is one.
    pub fault: Option<Fault>,
    /// The promise that must be seen to break.
    pub breaks: Option<Promise>,
}

impl Scenario {
    /// With this deliberate fault, which must break this promise.
    #[must_use]
    pub fn with(&self, fault: Fault, breaks: Promise) -> Self {
        Self {
            fault: Some(fault),
            breaks: Some(breaks),
            ..self.clone()
        }
    }

    /// Returns whether the promise broke that should, and no promise if none should.
    #[must_use]
    pub fn is_as_expected(&self, found: &crate::Explored) -> bool {
        match self.breaks {
            None => found.broken.is_empty(),
            Some(promise) => found
                .broken
                .iter()
                .any(|(broken, _)| *broken == format!("{promise:?}")),
        }
    }
}
