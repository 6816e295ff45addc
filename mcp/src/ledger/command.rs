//! The commands to a store.

use std::sync::OnceLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{CEILING, LARGEST_CLOCK_TOLERANCE, Namespace, RecordKind};
use crate::message::members::Millis;
use sealwax::{Error, Principal};

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
    /// How long it may take.
    #[serde(rename = "withinMs", with = "Millis", default = "within")]
    pub within: Duration,
}

/// How long a command may take unless told otherwise: what a guard gives it by default.
const WITHIN: Duration = Duration::from_millis(300);

fn within() -> Duration {
    WITHIN
}

/// The index of the first token's mode among the arguments of `admit`, and from one to the next.
pub(super) const TOKENS: usize = 3;
pub(super) const TOKEN: usize = 7;

/// The scripts of a [`Command`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Script {
    /// `open`: begins a new ledger, and returns the start of its memory.
    Open,
    /// `admit`: evaluates all tokens of a request, and records them only if all of them pass.
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
        // Each is made when it is first asked for: the common part stands in the program once.
        static WHOLE: [OnceLock<String>; 4] = [const { OnceLock::new() }; 4];
        WHOLE[self as usize].get_or_init(|| {
            let fence = include_str!("fence.lua");
            let [fence, own] = match self {
                Self::Open => [fence, include_str!("open.lua")],
                Self::Admit => [fence, include_str!("admit.lua")],
                Self::Commit => ["", include_str!("commit.lua")],
                Self::Revoke => ["", include_str!("revoke.lua")],
            };
            [
                include_str!("prelude.lua"),
                fence,
                own,
                include_str!("finish.lua"),
            ]
            .concat()
        })
    }

    /// Returns the SHA-1 of [`lua`](Self::lua), by which a server knows the script.
    #[must_use]
    pub fn sha1(self) -> &'static str {
        match self {
            Self::Open => "0fd0381d002c6b2d583a3e870259855bc7c951d7",
            Self::Admit => "9b058967fc76efb278b66f3a76403f9470b9021c",
            Self::Commit => "baae2281eb5a39f6ca9d0f25ec4cbdee98cc95ae",
            Self::Revoke => "e5d502efb158008da97c1147d29ca634a8407e6c",
        }
    }
}

/// The check of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// It was not used before; it is used up now.
    Once,
    /// It was not used up; it stays.
    Unused,
    /// It has not ended.
    Live,
    /// It has not ended, and was last seen within this time.
    Idle(Duration),
    /// It is the latest state of its session.
    Latest {
        token: String,
        generation: u32,
        state: String,
    },
    /// It has not ended; it ends now.
    End,
    /// It ends now, in every state and whoever presented it.
    Force,
}

/// A token that passed every check of its seal.
#[derive(Clone, Debug)]
pub(crate) struct Subject<'a> {
    pub kind: RecordKind,
    pub id: &'a str,
    pub check: &'a Check,
    /// Times are in Unix seconds.
    pub issued_at: u64,
    /// The start of its session or chain.
    pub started_at: u64,
    /// The time from which it opens nowhere.
    pub until: Option<u64>,
}

impl Command {
    /// Returns a command of these parts, such as one received from another process. A
    /// [guard](crate::Guard) makes the valid ones.
    #[must_use]
    pub fn new(script: Script, keys: Vec<String>, args: Vec<String>) -> Self {
        Self {
            script,
            keys,
            args,
            within: WITHIN,
        }
    }

    /// Returns whether a replica may have to confirm it: what ends should survive a fail-over.
    pub(super) fn may_need_a_replica(&self) -> bool {
        let mut modes = self.args.iter().skip(TOKENS).step_by(TOKEN);
        match self.script {
            Script::Revoke => true,
            Script::Admit => modes.any(|mode| mode == "end" || mode == "force"),
            Script::Open | Script::Commit => false,
        }
    }
}

impl Namespace {
    /// Returns the first command to a store: a new ledger begins to remember.
    #[must_use]
    pub fn open(&self) -> Command {
        let keys = vec![self.began(), self.fence()];
        Command::new(Script::Open, keys, Vec::new())
    }

    /// Signs a principal out everywhere: everything that began until now is refused. The ledger
    /// remembers it for [`CEILING`](super::CEILING), longer than anything lives. A shorter
    /// `retain_for` saves space: the longest lifetime of anything that the service issues, now or later.
    /// `now` is the caller's own clock, in Unix seconds: a store whose clock is behind it by more
    /// than five minutes revokes nothing, and says so.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a principal without client and subject.
    pub fn revoke(
        &self,
        principal: &Principal,
        retain_for: Option<Duration>,
        now: u64,
    ) -> Result<Command, Error> {
        principal.check()?;
        // To a store 0 is for ever.
        if retain_for.is_some_and(|retain_for| retain_for.as_secs() == 0) {
            return Err(Error::argument("retain for: expected at least a second"));
        }
        let retain_for =
            retain_for.unwrap_or(CEILING + Duration::from_secs(LARGEST_CLOCK_TOLERANCE));
        let args = [retain_for.as_secs(), now].map(|time| time.to_string());
        Ok(Command::new(
            Script::Revoke,
            vec![self.principal_key(principal)],
            args.into(),
        ))
    }

    /// Ends this id, as each of these kinds. `until` is the time from which it opens nowhere, in
    /// Unix seconds; `None` for ever.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] unless the id is 32 hex digits in lower case, as in a guard's
    /// log.
    pub fn end(
        &self,
        kinds: &[RecordKind],
        id: &str,
        until: Option<u64>,
    ) -> Result<Command, Error> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if id.len() != 32 || !id.bytes().all(is_hex) {
            return Err(Error::argument(
                "id: expected 32 hex digits in lower case, as in the log",
            ));
        }
        let subject = |&kind| Subject {
            kind,
            id,
            check: &Check::Force,
            issued_at: 0,
            started_at: 0,
            until,
        };
        let subjects: Vec<_> = kinds.iter().map(subject).collect();
        // An unconditional end needs no principal and no attempt.
        let principal_key = self.principal_key(&Principal::anonymous());
        Ok(self.admit(
            &principal_key,
            "0000000000000000",
            Duration::ZERO,
            None,
            &subjects,
        ))
    }

    /// Admits tokens: `principal_key` is the principal's; `attempt` is unique to this request.
    pub(crate) fn admit(
        &self,
        principal_key: &str,
        attempt: &str,
        clock_tolerance: Duration,
        accept_issued_since: Option<u64>,
        subjects: &[Subject<'_>],
    ) -> Command {
        let mut keys = vec![self.began(), self.fence(), principal_key.into()];
        let mut args = vec![
            attempt.into(),
            clock_tolerance.as_secs().to_string(),
            or_zero(accept_issued_since),
        ];
        for subject in subjects {
            let Subject { kind, id, .. } = *subject;
            let ended = self.ended(kind, id);
            keys.push(match subject.check {
                Check::Once | Check::Unused => self.used(kind, id),
                Check::Idle(_) => self.seen(kind, id),
                Check::Latest { .. } => self.latest(id),
                // Ending a session needs no latest state.
                Check::End | Check::Force if kind == RecordKind::Session => self.latest(id),
                Check::Live | Check::End | Check::Force => ended.clone(),
            });
            keys.push(ended);
            let (mode, details) = subject.check.args();
            args.push(mode.into());
            args.extend([subject.issued_at, subject.started_at].map(|time| time.to_string()));
            args.push(or_zero(subject.until));
            args.extend(details);
        }
        Command::new(Script::Admit, keys, args)
    }

    /// Commits a written state: `session` is the session's ulid, `seen` the id and the generation of the admitted state, `token`
    /// the id of the new one.
    pub(crate) fn commit(
        &self,
        session: &str,
        (seen, generation): (String, u32),
        token: &str,
        until: u64,
        state: &str,
    ) -> Command {
        let keys = vec![
            self.latest(session),
            self.ended(RecordKind::Session, session),
        ];
        let args = vec![
            seen,
            generation.to_string(),
            token.into(),
            until.to_string(),
            state.into(),
        ];
        Command::new(Script::Commit, keys, args)
    }
}

impl Check {
    /// Returns its mode, and the details of it.
    fn args(&self) -> (&'static str, [String; 3]) {
        let none = || [String::new(), String::new(), String::new()];
        match self {
            Self::Once => ("once", none()),
            Self::Unused => ("unused", none()),
            Self::Live => ("live", none()),
            Self::Idle(idle) => (
                "idle",
                [idle.as_secs().to_string(), String::new(), String::new()],
            ),
            Self::Latest {
                token,
                generation,
                state,
            } => (
                "head",
                [token.clone(), generation.to_string(), state.clone()],
            ),
            Self::End => ("end", none()),
            Self::Force => ("force", none()),
        }
    }
}

/// Encodes `None`, for never, as 0.
fn or_zero(number: Option<u64>) -> String {
    number.unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwax::Principal;

    use super::{Namespace, RecordKind};

    #[test]
    fn what_an_operator_ends_is_an_id_of_the_log() {
        let namespace = Namespace::new("https://mcp.example.com", "");
        let id = "0123456789abcdef0123456789abcdef";
        let end = namespace.end(&[RecordKind::Session, RecordKind::Transport], id, None);
        let keys = end.unwrap().keys;
        assert_eq!(keys.len(), 7, "{keys:?}");
        // Where the latest state of a session is kept, it is given up.
        assert_ne!(keys[3], keys[4]);
        assert_eq!(keys[5], keys[6]);
        for wrong in ["", "0123", &id.to_uppercase(), &id.replace('f', "é")] {
            namespace
                .end(&[RecordKind::Session], wrong, None)
                .unwrap_err();
        }
    }

    #[test]
    fn a_revocation_is_remembered_for_longer_than_anything_lives() {
        let namespace = Namespace::new("https://mcp.example.com", "");
        let revoke = namespace.revoke(&Principal::subject("alice"), None, 1_800_000_000);
        // 400 days, on a clock that is five minutes behind.
        assert_eq!(revoke.unwrap().args, ["34560300", "1800000000"]);
    }
}
