//! The commands to a store.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{CEILING, LARGEST_SKEW, Namespace, Tag};

/// A command to a store, done in one atomic step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Command {
    /// The script to run.
    pub script: Script,
    /// The keys that it reads and writes, all with one hash tag.
    pub keys: Vec<String>,
    /// The arguments.
    pub args: Vec<String>,
}

/// The scripts of a [`Command`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Script {
    /// `open`: begins a new ledger, and returns the start of its memory.
    Open,
    /// `admit`: judges all tokens of a request, and records them only if all of them pass.
    Admit,
    /// `commit`: makes a written state the latest one of its session.
    Commit,
    /// `revoke`: refuses everything of a principal that began until now.
    Revoke,
}

impl Script {
    /// All scripts.
    pub const ALL: [Self; 4] = [Self::Open, Self::Admit, Self::Commit, Self::Revoke];

    /// Returns the name, the same in every language.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Admit => "admit",
            Self::Commit => "commit",
            Self::Revoke => "revoke",
        }
    }

    /// Returns the script for Redis 6.2 and later, and Valkey: `KEYS` and `ARGV` are the command's;
    /// the reply is an array of texts.
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

impl Script {
    /// Returns the SHA-1 of [`lua`](Self::lua), by which a server knows the script.
    #[must_use]
    pub fn sha1(self) -> &'static str {
        match self {
            Self::Open => "9f9c19e4bfdb5d73d6f813693f2424bdbce97f5b",
            Self::Admit => "3ba4deda46d75a51414b2c01e51afaee42c1215c",
            Self::Commit => "16fabdc2b86bcb93751276655b9cdb7180afcb1d",
            Self::Revoke => "938acd2e8115851ad75aa8e1655034eb7b022221",
        }
    }
}

/// The check of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode<'a> {
    /// It was not used before; it is used up now.
    Once,
    /// It was not used up; it stays.
    Unused,
    /// It has not ended.
    Live,
    /// It has not ended, and was last seen within this time.
    Idle(Duration),
    /// It is the latest state of its session.
    Head {
        token: &'a str,
        generation: u32,
        state: &'a str,
    },
    /// It has not ended; it ends now.
    End,
    /// No check; it ends now.
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
    /// The start of its session or chain.
    pub started_at: u64,
    /// The time from which it opens nowhere.
    pub until: Option<u64>,
}

/// A written state.
#[derive(Clone, Debug)]
pub(crate) struct Commit<'a> {
    /// The session's ulid.
    pub session: &'a str,
    /// The id and generation of the admitted state.
    pub seen: (&'a str, u32),
    /// The id of the new state.
    pub token: &'a str,
    pub until: u64,
    pub state: &'a str,
}

impl Command {
    /// Returns a command of these parts, such as one received from another process. A
    /// [guard](crate::Guard) makes the valid ones.
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

    /// Admits tokens: `mark` is the principal's; `attempt` is unique to this request.
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
                // Ending a session needs no latest state.
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
                commit.until.to_string(),
                commit.state.into(),
            ],
        }
    }

    /// Returns whether a replica may have to confirm it: what ends should survive a fail-over.
    pub(super) fn may_need_a_replica(&self) -> bool {
        let ends = |argument: &String| argument == "end" || argument == "force";
        self.script == Script::Revoke || self.args.iter().any(ends)
    }

    /// Revokes: the mark is kept for this time, or until nothing that it refuses can open.
    pub(crate) fn revoke(mark: String, lives: Option<Duration>) -> Self {
        let lives = lives.unwrap_or(CEILING + Duration::from_secs(LARGEST_SKEW));
        Self {
            script: Script::Revoke,
            keys: vec![mark],
            args: vec![lives.as_secs().to_string()],
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

/// Encodes `None`, for never, as 0.
fn or_zero(number: Option<u64>) -> String {
    number.unwrap_or_default().to_string()
}
