//! A command on its way to the ledger.

use crate::ledger::{Command, Failure, Refusal, Reply, Script};
use crate::message::input::Failed;
use crate::reply::step::Step;

/// A command that the ledger has not answered yet.
pub(crate) struct Pending {
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
            Err(failed) => Reply::Failed(Failure::Unanswered(failed.says("ledger"))),
        };
        Ok(match reply {
            // The state may be stale because of our own write.
            Reply::Refused {
                refusal: Refusal::Stale(_),
                ..
            } if self.tried && self.command.script == Script::Commit => {
                Reply::Failed(Failure::Unspecified)
            }
            reply => reply,
        })
    }
}
