//! Single use, in the memory of one process.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use sealwax::Principal;

use crate::Kind;
use crate::accept::{Accept, BoxError, Presented};

const CAPACITY: usize = 10_000;

/// Accepts every `requestState` once, and other tokens until they are ended.
///
/// It remembers ids until nothing of their tokens opens any more
/// ([`Presented::expires_at`](crate::Presented)), and refuses to spend or to end rather than forget
/// one earlier: the guard then answers with an internal error, and reports `accept_unavailable`.
///
/// Ids that were spent and ids that ended have a budget each. In each, a principal may hold no more
/// ids than there is room left (the dynamic threshold of Choudhury and Hahne, 1998): one alone fills
/// at most half of it, two a third each, so nobody takes the place of all others. Who is over that is
/// refused, and nobody else.
///
/// This is the memory of one process. Another replica does not know what was used here, and a
/// restart forgets it: each of them would accept a token once more. Where that matters, put a
/// store that all replicas share behind [`Accept`].
///
/// ```
/// use sealwax_rmcp::SingleUse;
///
/// let accept = SingleUse::default(); // 10,000 ids in each budget
/// let few = SingleUse::with_capacity(100);
/// ```
#[derive(Debug)]
pub struct SingleUse {
    memory: Mutex<Memory>,
}

#[derive(Debug)]
struct Memory {
    spent: Budget,
    ended: Budget,
}

#[derive(Debug)]
struct Budget {
    capacity: usize,
    ids: HashSet<Id>,
    held: HashMap<Holder, usize>,
    /// What is forgotten, by when.
    over: BTreeMap<u64, Vec<(Id, Holder)>>,
}

type Id = (Kind, String);

type Holder = Arc<Principal>;

impl Default for SingleUse {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

impl SingleUse {
    /// Remembers at most `capacity` ids that were spent, and as many that ended.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let memory = Memory {
            spent: Budget::new(capacity),
            ended: Budget::new(capacity),
        };
        Self {
            memory: Mutex::new(memory),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    fn accept(&mut self, token: &Presented, now: u64) -> Result<bool, BoxError> {
        if self.ended.ids.contains(&(token.kind, token.id.clone())) {
            return Ok(false);
        }
        match token.kind {
            Kind::RequestState => self.spent.remember(token, now),
            _ => Ok(true),
        }
    }
}

impl Budget {
    fn new(capacity: usize) -> Self {
        Self {
            capacity,
            ids: HashSet::new(),
            held: HashMap::new(),
            over: BTreeMap::new(),
        }
    }

    /// False where it is remembered already.
    fn remember(&mut self, token: &Presented, now: u64) -> Result<bool, BoxError> {
        self.forget(now);
        let id = (token.kind, token.id.clone());
        if self.ids.contains(&id) {
            return Ok(false);
        }
        let holder = Arc::new(token.principal.clone());
        let held = self.held.get(&holder).copied().unwrap_or_default();
        let room = self.capacity.saturating_sub(self.ids.len());
        if held >= room {
            return Err(format!("{held} ids are this principal's, and {room} more fit").into());
        }
        *self.held.entry(Arc::clone(&holder)).or_default() += 1;
        self.ids.insert(id.clone());
        if let Some(at) = token.expires_at {
            self.over.entry(at).or_default().push((id, holder));
        }
        Ok(true)
    }

    fn forget(&mut self, now: u64) {
        while let Some(first) = self.over.first_entry()
            && *first.key() <= now
        {
            for (id, holder) in first.remove() {
                self.ids.remove(&id);
                if let Some(held) = self.held.get_mut(&holder) {
                    *held -= 1;
                    if *held == 0 {
                        self.held.remove(&holder);
                    }
                }
            }
        }
    }
}

impl Accept for SingleUse {
    fn accept<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<bool, BoxError>> {
        ready(self.memory().accept(token, now())).boxed()
    }

    fn ended<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<(), BoxError>> {
        ready(self.memory().ended.remember(token, now()).map(drop)).boxed()
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use sealwax::Principal;

    use super::{Memory, SingleUse};
    use crate::{Kind, Presented};

    fn memory(capacity: usize) -> Memory {
        SingleUse::with_capacity(capacity)
            .memory
            .into_inner()
            .unwrap()
    }

    fn state(id: usize, user: &str, expires_at: Option<u64>) -> Presented {
        Presented {
            kind: Kind::RequestState,
            id: id.to_string(),
            principal: match user {
                "" => Principal::anonymous(),
                user => Principal::subject(user),
            },
            expires_at,
        }
    }

    /// How many of `user` are taken, of those that end then.
    fn fill(memory: &mut Memory, user: &str, end: Option<u64>, now: u64) -> usize {
        let from = memory.spent.ids.len() * 1000;
        let mut taken = 0;
        while memory
            .accept(&state(from + taken, user, end), now)
            .is_ok_and(|first| first)
        {
            taken += 1;
        }
        taken
    }

    #[test]
    fn nobody_holds_more_than_there_is_room_left() {
        let mut alone = memory(100);
        assert_eq!(fill(&mut alone, "alice", None, 0), 50);
        assert_eq!(fill(&mut alone, "bob", None, 0), 25);
        assert_eq!(fill(&mut alone, "", None, 0), 13);
        // In turns, two have a third each.
        let mut shared = memory(99);
        let mut held = [0, 0];
        for turn in 0..200 {
            let user = ["alice", "bob"][turn % 2];
            let taken = shared.accept(&state(turn, user, None), 0);
            held[turn % 2] += usize::from(taken.is_ok());
        }
        assert_eq!(held, [33, 33]);
        assert!(shared.accept(&state(1000, "carol", None), 0).unwrap());
    }

    #[test]
    fn what_is_over_is_forgotten_then_and_not_before() {
        let mut memory = memory(4);
        assert_eq!(fill(&mut memory, "alice", Some(100), 0), 2);
        assert!(!memory.accept(&state(0, "alice", Some(100)), 99).unwrap());
        assert_eq!(fill(&mut memory, "alice", Some(200), 99), 0);
        assert_eq!(fill(&mut memory, "alice", Some(200), 100), 2);
        assert_eq!(memory.spent.ids.len(), 2);
        assert_eq!(fill(&mut memory, "bob", None, 250), 2);
        assert_eq!(fill(&mut memory, "bob", None, u64::MAX), 0);
        assert_eq!(memory.spent.held.len(), 1);
        assert!(memory.spent.over.is_empty());
    }

    #[test]
    fn what_ended_is_not_accepted_and_has_a_budget_of_its_own() {
        let mut memory = memory(2);
        let mut session = state(1, "alice", None);
        session.kind = Kind::Session;
        assert!(memory.accept(&session, 0).unwrap());
        assert!(memory.ended.remember(&session, 0).unwrap());
        assert!(!memory.accept(&session, 0).unwrap());
        // Ended again: nothing more to remember.
        assert!(!memory.ended.remember(&session, 0).unwrap());
        assert_eq!(fill(&mut memory, "alice", None, 0), 1);
    }
}
