//! A ledger's reply, read from the texts that LEDGER.md specifies.

use std::fmt;

use super::Script;

/// What a ledger replied to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// The command was done.
    Done(Done),
    /// It was not done, because of one of its tokens.
    Refused {
        /// The index of the token in the command; 0 for a commit.
        place: usize,
        /// The reason.
        refusal: Refusal,
    },
    /// It is unknown what to do.
    Failed(Failure),
}

/// A command that was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Done {
    /// The times of a ledger that was opened.
    pub opened: Option<Opened>,
    /// Whether a replica confirms it.
    pub confirmation: Confirmation,
    /// Whether no replica confirmed it.
    pub unconfirmed: bool,
}

/// The times of a ledger that was opened, in Unix seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opened {
    /// The start of the ledger's memory.
    pub began: u64,
    /// The last time at which it may have forgotten something.
    pub since: u64,
    /// The store's time.
    pub now: u64,
}

/// Whether a replica of the store confirms a command, so that it survives a fail-over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirmation {
    /// It need not.
    #[default]
    No,
    /// It should.
    Should,
    /// It must.
    Must,
}

/// The reason why a token was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It was used already.
    Used,
    /// It has ended.
    Ended,
    /// Its principal was signed out everywhere.
    Revoked,
    /// It has expired by the ledger's clock.
    Expired,
    /// The ledger may have forgotten it; the age of its records in seconds.
    Unknown(Option<u64>),
    /// It is a state of a session that is not the latest one, which is this.
    Stale(Latest),
}

/// The latest state of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Latest {
    /// Its token id.
    pub token: String,
    /// Its generation.
    pub generation: u64,
    /// The sealed state.
    pub state: String,
}

/// The reason why a command was neither done nor refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// A token was issued later than the ledger's time.
    Ahead,
    /// There is no room for a new record.
    Full,
    /// The store lost the state that it admitted.
    Lost,
    /// The value under this key is no record of a ledger.
    Broken(String),
    /// The store did not answer, and why.
    Unanswered(String),
    /// The reply is none that LEDGER.md specifies.
    Unspecified,
}

impl Reply {
    /// Reads the reply to a command of this script.
    #[must_use]
    pub fn of<T: AsRef<str>>(script: Script, texts: &[T]) -> Self {
        let texts: Vec<_> = texts.iter().map(AsRef::as_ref).collect();
        let Some((&word, details)) = texts.split_first() else {
            return Self::Failed(Failure::Unspecified);
        };
        if word == "ok" {
            return Self::Done(Done::of(script, details));
        }
        // A commit is about one token, and its reply has no place.
        let (place, details) = match (script, details) {
            (Script::Admit, [place, details @ ..]) => (place.parse().ok(), details),
            (Script::Commit, details) => (Some(0), details),
            _ => (None, details),
        };
        let refusal = match (script, word) {
            (_, "ended") => Refusal::Ended,
            (_, "expired") => Refusal::Expired,
            (_, "stale") => match Latest::of(details) {
                Some(latest) => Refusal::Stale(latest),
                None => return Self::Failed(Failure::Unspecified),
            },
            (Script::Admit, "used") => Refusal::Used,
            (Script::Admit, "revoked") => Refusal::Revoked,
            (Script::Admit, "unknown") => {
                Refusal::Unknown(details.first().and_then(|age| age.parse().ok()))
            }
            _ => return Self::Failed(Failure::of(word, &texts[1..])),
        };
        match place {
            Some(place) => Self::Refused { place, refusal },
            None => Self::Failed(Failure::Unspecified),
        }
    }
}

impl Done {
    fn of(script: Script, details: &[&str]) -> Self {
        let mut done = Self::default();
        let mut rest = details;
        if script == Script::Open
            && let [began, since, now, after @ ..] = details
        {
            let times = [began, since, now].map(|time| time.parse().unwrap_or_default());
            let [began, since, now] = times;
            done.opened = Some(Opened { began, since, now });
            rest = after;
        }
        done.confirmation = match rest.first() {
            Some(&"1") => Confirmation::Should,
            Some(&"2") => Confirmation::Must,
            _ => Confirmation::No,
        };
        done.unconfirmed = rest.get(1) == Some(&"unconfirmed");
        done
    }
}

impl Latest {
    fn of(details: &[&str]) -> Option<Self> {
        let [token, generation, state] = details else {
            return None;
        };
        Some(Self {
            token: (*token).into(),
            generation: generation.parse().ok()?,
            state: (*state).into(),
        })
    }
}

impl Failure {
    fn of(word: &str, details: &[&str]) -> Self {
        match word {
            "ahead" => Self::Ahead,
            "full" => Self::Full,
            "lost" => Self::Lost,
            "broken" => Self::Broken(details.first().copied().unwrap_or_default().into()),
            _ => Self::Unspecified,
        }
    }
}

/// Says what an operator does about it.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ahead => f.write_str(
                "ledger: expected a time of the past: a clock is ahead of the ledger's by more than the tolerance: \
                 compare them",
            ),
            Self::Full => f.write_str("ledger: no room for a new record: raise its capacity"),
            Self::Lost => f.write_str(
                "ledger: the store lost the state that it admitted: check its persistence and eviction",
            ),
            Self::Broken(key) => write!(
                f,
                "ledger: expected a record of the ledger under {key}, found another value"
            ),
            Self::Unanswered(why) => f.write_str(why),
            Self::Unspecified => f.write_str("ledger: expected a reply as LEDGER.md specifies, found another"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Failure, Refusal, Reply, Script};

    const SCRIPTS: [Script; 4] = [Script::Open, Script::Admit, Script::Commit, Script::Revoke];
    const WORD: &str = "ok|used|ended|expired|stale|broken|unconfirmed|once|-|[0-9]{1,20}|.*";

    proptest! {
        /// Whatever a store says: the fuzz target `engine` has what follows of it.
        #[test]
        fn only_what_says_ok_was_done(at in 0..SCRIPTS.len(), texts in prop::collection::vec(WORD, 0..9)) {
            let reply = Reply::of(SCRIPTS[at], &texts);
            let says_ok = texts.first().is_some_and(|first| first == "ok");
            prop_assert!(says_ok || !matches!(reply, Reply::Done(_)), "{reply:?}");
            prop_assert!(!says_ok || !matches!(reply, Reply::Refused { .. }), "{reply:?}");
        }
    }

    /// By the ledger's clock, which may be ahead of the replica's by more than the lifetime.
    #[test]
    fn a_state_may_be_over_before_it_is_committed() {
        let (place, refusal) = (0, Refusal::Expired);
        let over = Reply::of(Script::Commit, &["expired"]);
        assert_eq!(over, Reply::Refused { place, refusal });
        let none = Reply::of(Script::Open, &["expired"]);
        assert_eq!(none, Reply::Failed(Failure::Unspecified));
    }

    #[test]
    fn each_failure_tells_what_to_do() {
        for (texts, failure, told) in [
            (&["ahead"][..], Failure::Ahead, "clock is ahead"),
            (&["full"], Failure::Full, "room"),
            (&["lost"], Failure::Lost, "lost"),
            (
                &["broken", "swl1:x"],
                Failure::Broken("swl1:x".into()),
                "swl1:x",
            ),
            (&["other"], Failure::Unspecified, "LEDGER.md"),
        ] {
            assert!(failure.to_string().contains(told), "{failure}");
            assert_eq!(Reply::of(Script::Admit, texts), Reply::Failed(failure));
        }
    }
}
