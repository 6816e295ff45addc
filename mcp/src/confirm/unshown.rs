//! The callers whose clients lately said that they ask, and did not.

use std::sync::{Arc, Mutex};

use sealwax::Principal;

/// The most recent ones. A client is told from another of the same caller by what it says that it can do.
#[derive(Debug, Default)]
pub(crate) struct Unshown(Mutex<Vec<Caller>>);

#[derive(Debug)]
struct Caller {
    principal: Arc<Principal>,
    capabilities: Option<Box<str>>,
    /// The end of its time, in Unix milliseconds.
    until: u64,
}

/// How long one counts, in milliseconds.
const AGE: u64 = 600_000;

/// How many are kept, and the longest capabilities of one.
const MOST: usize = 256;
const LONGEST: usize = 4_096;

impl Unshown {
    /// Returns whether it is one.
    #[inline(never)]
    pub fn has(&self, principal: &Principal, capabilities: Option<&str>, now_ms: u64) -> bool {
        self.0.lock().is_ok_and(|all| {
            let mut lately = all.iter().filter(|one| one.until > now_ms);
            lately.any(|one| one.is(principal, capabilities))
        })
    }

    /// Keeps one. Nobody in particular is none: one user's client would speak for those of all others.
    #[inline(never)]
    pub fn add(&self, principal: Arc<Principal>, capabilities: Option<&str>, now_ms: u64) {
        let is_long = capabilities.is_some_and(|text| text.len() > LONGEST);
        let Some(mut all) = self.0.lock().ok().filter(|_| !is_long) else {
            return;
        };
        if principal.parts().is_none() {
            return;
        }
        all.retain(|one| !one.is(&principal, capabilities));
        if all.len() == MOST {
            all.remove(0);
        }
        all.push(Caller {
            principal,
            capabilities: capabilities.map(Into::into),
            until: now_ms.saturating_add(AGE),
        });
    }
}

impl Caller {
    fn is(&self, principal: &Principal, capabilities: Option<&str>) -> bool {
        *self.principal == *principal && self.capabilities.as_deref() == capabilities
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{AGE, LONGEST, MOST, Unshown};
    use sealwax::Principal;

    /// The rest is in the transcripts.
    #[test]
    fn what_counts_anew_and_what_is_not_kept() {
        let [alice, bob] = ["alice", "bob"].map(|one| Arc::new(Principal::subject(one)));
        let unshown = Unshown::default();
        unshown.add(alice.clone(), None, 1_000);
        unshown.add(alice.clone(), None, 2_000);
        assert!(unshown.has(&alice, None, 1_000 + AGE));
        let long = "a".repeat(LONGEST + 1);
        unshown.add(bob.clone(), Some(&long), 2_000);
        assert!(!unshown.has(&bob, Some(&long), 2_000));
        let nobody = Arc::new(Principal::anonymous());
        unshown.add(nobody.clone(), None, 2_000);
        assert!(!unshown.has(&nobody, None, 2_000));
    }

    #[test]
    fn the_latest_are_kept() {
        let unshown = Unshown::default();
        let of = |at: usize| Arc::new(Principal::subject(at.to_string()));
        for at in 0..=MOST {
            unshown.add(of(at), None, 1_000);
        }
        assert!(!unshown.has(&of(0), None, 1_000));
        assert!(unshown.has(&of(1), None, 1_000) && unshown.has(&of(MOST), None, 1_000));
    }
}
