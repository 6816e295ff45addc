use std::collections::{BTreeMap, BTreeSet};

/// A promise of LEDGER.md. Each is a property: no state breaks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Promise {
    /// What may be used once is accepted from one request.
    SingleUse,
    /// What was said to have ended is accepted no more, whatever is set later.
    Ended,
    /// A state is accepted if it is the latest one that was given to a client.
    Latest,
    /// Of two writes of one state, one is done.
    OneWriter,
    /// What began before a revocation is accepted no more.
    Revoked,
    /// Nothing is accepted that is over, by its own end or by the ceiling, however late a replica is.
    Over,
    /// If one token of a request is refused, none is used up.
    Whole,
    /// A request that is sent again is not refused for its first try.
    Again,
    /// What was sealed well after the last fault, and was not used or ended, is accepted.
    GoesOn,
}

/// What was answered, as an observer with a true clock saw it. No part of the ledger knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Past {
    /// The request that used a token up, by the token.
    pub used: BTreeMap<u8, u8>,
    /// What ended: what follows the namespace in the key, and the whole key.
    pub ended: BTreeMap<String, String>,
    /// When the principal was revoked, and the key.
    pub revoked: Option<(u64, String)>,
    /// The latest state that a client was given: its generation and token, by the session.
    pub latest: BTreeMap<u8, (u32, u8)>,
    /// The state that took the place of another one.
    pub written: BTreeMap<u8, u8>,
    /// The tokens about which a request got no answer, and the request.
    pub unanswered: BTreeSet<(u8, u8)>,
    /// The keys that the store evicted: no lag explains that they are missing.
    pub evicted: BTreeSet<String>,
    /// When the ledger first ran after a fault.
    pub upset: u64,
    /// Whether it did not run since a fault.
    pub unseen: bool,
    /// The first promise that was broken.
    pub broken: Option<Promise>,
    /// The verdict that a guard was just given.
    pub verdict: &'static str,
}

impl Past {
    pub(crate) fn breaks(&mut self, promise: Promise) {
        self.broken.get_or_insert(promise);
    }
}
