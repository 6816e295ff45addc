//! What is asked of a store.

use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use super::{Namespace, Tag};

/// One atomic step at a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// What to do.
    pub script: Script,
    /// The keys that are read and written, all with one hash tag.
    pub keys: Vec<String>,
    /// The arguments.
    pub args: Vec<String>,
}

/// What a [`Command`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Script {
    /// `open`: the ledger begins to remember, if it is new; tells since when it does.
    Open,
    /// `admit`: judges all tokens of a request, and records them only if all pass.
    Admit,
    /// `commit`: makes a written state the latest one of its session.
    Commit,
    /// `revoke`: everything of a principal that began until now.
    Revoke,
}

impl Script {
    /// Every script.
    pub const ALL: [Self; 4] = [Self::Open, Self::Admit, Self::Commit, Self::Revoke];

    /// The name, the same in every language.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Admit => "admit",
            Self::Commit => "commit",
            Self::Revoke => "revoke",
        }
    }

    /// The script for Redis 6.2 and later, and Valkey: `KEYS` and `ARGV` are the command's, and an array of
    /// texts is the reply.
    #[must_use]
    pub fn lua(self) -> &'static str {
        match self {
            Self::Open => concat!(include_str!("prelude.lua"), include_str!("open.lua")),
            Self::Admit => concat!(include_str!("prelude.lua"), include_str!("admit.lua")),
            Self::Commit => concat!(include_str!("prelude.lua"), include_str!("commit.lua")),
            Self::Revoke => concat!(include_str!("prelude.lua"), include_str!("revoke.lua")),
        }
    }
}

/// What is asked of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode<'a> {
    /// That it was not used before: it is used up.
    Once,
    /// That it was not used up; it stays.
    Unused,
    /// That it did not end.
    Live,
    /// That, and that it was seen not longer ago than this.
    Idle(Duration),
    /// That this is the latest state of its session.
    Head {
        token: &'a str,
        generation: u32,
        state: &'a str,
    },
    /// That it did not end; it ends now.
    End,
    /// Nothing; it ends now.
    Force,
}

/// A token that passed every check of its seal.
#[derive(Clone, Debug)]
pub(crate) struct Subject<'a> {
    pub tag: Tag,
    pub id: &'a str,
    pub mode: Mode<'a>,
    /// Times are in Unix seconds.
    pub issued_at: u64,
    /// When its session, or the first of its chain, began.
    pub started_at: u64,
    /// From when on nothing of it opens.
    pub until: Option<u64>,
}

/// A state that was written.
#[derive(Clone, Debug)]
pub(crate) struct Commit<'a> {
    /// The session's ulid.
    pub session: &'a str,
    /// What was admitted.
    pub seen: (&'a str, u32),
    /// What is to take its place.
    pub token: &'a str,
    pub until: Option<u64>,
    pub state: &'a str,
}

impl Command {
    /// A command that came in another form, as from another process. A [guard](crate::mcp::Guard) makes those
    /// that mean something.
    #[must_use]
    pub fn new(script: Script, keys: Vec<String>, args: Vec<String>) -> Self {
        Self { script, keys, args }
    }

    pub(crate) fn open(names: &Namespace) -> Self {
        Self {
            script: Script::Open,
            keys: vec![names.began(), names.fence()],
            args: Vec::new(),
        }
    }

    /// `mark` is the principal's; `attempt` is this request's own.
    pub(crate) fn admit(
        names: &Namespace,
        mark: &str,
        attempt: &str,
        allowance: Duration,
        adopt: Option<u64>,
        subjects: &[Subject<'_>],
    ) -> Self {
        let mut keys = vec![names.began(), names.fence(), mark.into()];
        let mut args = vec![
            attempt.into(),
            allowance.as_secs().to_string(),
            or_zero(adopt),
        ];
        for subject in subjects {
            let Subject { tag, id, .. } = *subject;
            let ended = names.ended(tag, id);
            keys.push(match subject.mode {
                Mode::Once | Mode::Unused => names.used(tag, id),
                Mode::Idle(_) => names.seen(tag, id),
                Mode::Head { .. } => names.head(id),
                // What ends needs no latest state.
                Mode::End | Mode::Force if tag == Tag::Session => names.head(id),
                Mode::Live | Mode::End | Mode::Force => ended.clone(),
            });
            keys.push(ended);
            let (mode, details) = subject.mode.args();
            args.push(mode.into());
            args.extend([subject.issued_at, subject.started_at].map(|time| time.to_string()));
            args.push(or_zero(subject.until));
            args.extend(details);
        }
        Self {
            script: Script::Admit,
            keys,
            args,
        }
    }

    pub(crate) fn commit(names: &Namespace, commit: &Commit<'_>) -> Self {
        let (seen, generation) = commit.seen;
        Self {
            script: Script::Commit,
            keys: vec![
                names.head(commit.session),
                names.ended(Tag::Session, commit.session),
            ],
            args: vec![
                seen.into(),
                generation.to_string(),
                commit.token.into(),
                or_zero(commit.until),
                commit.state.into(),
            ],
        }
    }

    /// The mark is kept until then; for ever where something never expires.
    pub(crate) fn revoke(mark: String, lives: Option<Duration>) -> Self {
        Self {
            script: Script::Revoke,
            keys: vec![mark],
            args: vec![or_zero(lives.map(|lives| lives.as_secs()))],
        }
    }
}

impl Mode<'_> {
    fn args(self) -> (&'static str, [String; 3]) {
        let none = || [String::new(), String::new(), String::new()];
        match self {
            Self::Once => ("once", none()),
            Self::Unused => ("unused", none()),
            Self::Live => ("live", none()),
            Self::Idle(idle) => (
                "idle",
                [idle.as_secs().to_string(), String::new(), String::new()],
            ),
            Self::Head {
                token,
                generation,
                state,
            } => ("head", [token.into(), generation.to_string(), state.into()]),
            Self::End => ("end", none()),
            Self::Force => ("force", none()),
        }
    }
}

/// Never is 0.
fn or_zero(number: Option<u64>) -> String {
    number.unwrap_or_default().to_string()
}
