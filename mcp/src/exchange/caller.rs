//! Identified callers. The most recent ones are kept: the next request of a user computes no tags.

use std::sync::{Arc, Mutex};

use sealwax::{Error, Principal, View};

/// An identified caller.
#[derive(Clone)]
pub(crate) struct Caller {
    /// The codec, scoped to the caller.
    pub view: Arc<View>,
    /// The key of the caller's principal in the ledger, which has its hash.
    pub principal_key: Arc<str>,
    pub principal: Arc<Principal>,
}

/// The most recent callers, at most [`ROOM`], in order.
#[derive(Default)]
pub(crate) struct Callers(Mutex<Vec<Caller>>);

const ROOM: usize = 64;

impl Callers {
    /// Returns the caller of a principal; `identify` makes it, unless it is kept.
    pub fn get(
        &self,
        principal: Principal,
        identify: impl FnOnce(Principal) -> Result<Caller, Error>,
    ) -> Result<Caller, Error> {
        // It never waits for another thread: a caller is made in less time.
        if let Ok(kept) = self.0.try_lock()
            && let Ok(at) = place(&kept, &principal)
            && kept[at].view.is_current()
        {
            return Ok(kept[at].clone());
        }
        let caller = identify(principal)?;
        if let Ok(mut kept) = self.0.try_lock() {
            let stale = |caller: &Caller| !caller.view.is_current();
            if kept.len() == ROOM || kept.iter().any(stale) {
                kept.clear();
            }
            if let Err(at) = place(&kept, &caller.principal) {
                kept.insert(at, caller.clone());
            }
        }
        Ok(caller)
    }
}

fn place(kept: &[Caller], principal: &Principal) -> Result<usize, usize> {
    kept.binary_search_by(|known| (*known.principal).cmp(principal))
}

#[cfg(test)]
mod tests {
    use super::{Caller, Callers, ROOM};
    use sealwax::{Codec, Key, KeyRing, Principal};
    use std::cell::Cell;
    use std::sync::Arc;

    #[test]
    fn the_most_recent_are_kept_and_no_failures() {
        let key = || Key::generate().unwrap();
        let codec = Codec::new(KeyRing::new([key()]).unwrap(), "a").unwrap();
        let made = Cell::new(0);
        let callers = Callers::default();
        let get = |subject: &str| {
            callers.get(Principal::subject(subject), |principal| {
                made.set(made.get() + 1);
                Ok(Caller {
                    view: Arc::new(codec.view(&principal)?),
                    principal_key: subject.into(),
                    principal: Arc::new(principal),
                })
            })
        };
        let kept = || callers.0.lock().unwrap().len();
        for subject in ["alice", "bob", "alice"] {
            assert_eq!(&*get(subject).unwrap().principal_key, subject);
        }
        assert_eq!(made.get(), 2);
        for _ in 0..2 {
            assert!(get("").is_err());
        }
        assert_eq!(made.get(), 4);
        for at in 0..2 * ROOM {
            get(&at.to_string()).unwrap();
            assert!(kept() <= ROOM);
        }
        codec.set_keys(KeyRing::new([key()]).unwrap());
        assert!(get("alice").unwrap().view.is_current());
        assert_eq!(kept(), 1, "the old keys are let go");
    }
}
