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
    use sealwax::{Codec, Error, Key, KeyRing, Principal};
    use std::cell::Cell;
    use std::sync::Arc;

    #[test]
    fn the_most_recent_are_kept_and_no_failures() {
        let secret: Vec<u8> = (0..32).collect();
        let key = Key::from_secret(&secret).unwrap();
        let ring = KeyRing::new([key]).unwrap();
        let codec = Codec::builder(ring, "https://mcp.example.com");
        let codec = codec.build().unwrap();
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
        assert_eq!(&*get("alice").unwrap().principal_key, "alice");
        assert_eq!(&*get("bob").unwrap().principal_key, "bob");
        assert_eq!(&*get("alice").unwrap().principal_key, "alice");
        assert_eq!(made.get(), 2);
        for _ in 0..2 {
            assert!(matches!(get(""), Err(Error::InvalidArgument(_))));
        }
        assert_eq!(made.get(), 4);
        for at in 0..2 * ROOM {
            get(&at.to_string()).unwrap();
            assert!(callers.0.lock().unwrap().len() <= ROOM);
        }
        get("alice").unwrap();
        assert_eq!(made.get(), 5 + 2 * ROOM);

        let rotated = [Key::generate().unwrap(), Key::from_secret(&secret).unwrap()];
        let before = get("alice").unwrap();
        codec.set_keys(KeyRing::new(rotated).unwrap());
        assert!(!before.view.is_current());
        assert!(get("alice").unwrap().view.is_current());
        assert_eq!(
            callers.0.lock().unwrap().len(),
            1,
            "the old keys are let go"
        );
    }
}
