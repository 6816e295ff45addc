//! A command on its way to the ledger, and what its reply means.

use std::borrow::Cow;

use crate::context::{About, Context, Reason};
use crate::input::Failed;
use crate::ledger::{Command, Confirmation, Done, Failure, Reply, Script, Verdict};
use crate::step::{Item, Presented, Step};

/// A command that the ledger has not answered yet.
pub(super) struct Pending {
    command: Command,
    /// Whether one try got no answer.
    tried: bool,
}

impl Pending {
    pub fn new(command: Command) -> Self {
        Self {
            command,
            tried: false,
        }
    }

    /// Returns the step that sends it.
    pub fn step(&self) -> Step {
        Step::Ledger(Box::new(self.command.clone()))
    }

    /// Takes the answer. If there is none, it is sent once more: the same attempt again is neither a
    /// second use nor a second write.
    pub fn take(&mut self, answer: Result<Vec<String>, Failed>) -> Result<Reply, Step> {
        let reply = match answer {
            Ok(texts) => Reply::of(self.command.script, &texts),
            Err(_) if !self.tried => {
                self.tried = true;
                return Err(self.step());
            }
            Err(Failed(why)) => Reply::Failed(Failure::Unanswered(why)),
        };
        Ok(match reply {
            // The state may be stale because of our own write.
            Reply::Refused {
                verdict: Verdict::Stale(_),
                ..
            } if self.tried && self.command.script == Script::Commit => {
                Reply::Failed(Failure::Unspecified)
            }
            reply => reply,
        })
    }
}

/// Checks that a replica confirmed a command, if it should or must survive a fail-over.
pub(super) fn confirmed(
    context: &mut Context,
    done: &Done,
    about: Option<&Presented>,
) -> Result<(), Reason> {
    if !done.unconfirmed {
        return Ok(());
    }
    let why = "no replica confirmed it: a fail-over would forget it";
    if done.confirmation == Confirmation::Must {
        return Err(Reason::LedgerUnavailable(why.into()));
    }
    let about = About {
        id: about.map(|one| one.id.clone()),
        ..About::new(about.map_or(Item::Session, |one| one.item))
    };
    context.refuse(Reason::ledger("ledger_unconfirmed", why), about);
    Ok(())
}

/// The reason that a reply gives, if the command was not done.
impl From<Reply> for Reason {
    fn from(reply: Reply) -> Self {
        let failure = match reply {
            Reply::Refused { verdict, .. } => return verdict.into(),
            Reply::Failed(failure) => failure,
            Reply::Done(_) => Failure::Unspecified,
        };
        Self::LedgerUnavailable(failure.to_string())
    }
}

impl From<Verdict> for Reason {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Used => Self::ledger("used", "it was used already"),
            Verdict::Ended => Self::ledger("ended", "it has ended"),
            Verdict::Revoked => Self::ledger("revoked", "its principal was signed out everywhere"),
            Verdict::Expired => Self::ledger("expired", "it has expired by the ledger's clock"),
            Verdict::Unknown(age) => Self::Ledger("unknown", unknown(age)),
            Verdict::Stale(latest) => Self::Stale(Box::new(latest)),
        }
    }
}

/// Returns the message for a token that the ledger may have forgotten, by the age of its records.
fn unknown(age: Option<u64>) -> Cow<'static, str> {
    const WHY: &str = "the ledger has no records of the time when it was made";
    match age {
        Some(seconds) => format!("{WHY}: they begin {seconds} s ago").into(),
        None => WHY.into(),
    }
}
