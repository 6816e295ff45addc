//! Signs a principal out, for the operator of the server.
use crate::admission;
use crate::context::{About, Context, Reason, failure};
use crate::input::{Event, Failed};
use crate::ledger::Command;
use crate::step::{Item, Step};

pub(super) struct Revoking {
    command: Command,
    /// Whether one try got no answer. A second try is not a second revocation.
    tried: bool,
}

impl Revoking {
    pub fn new(command: Command) -> Self {
        Self {
            command,
            tried: false,
        }
    }

    pub fn advance(&self) -> Step {
        Step::Ledger(Box::new(self.command.clone()))
    }

    pub fn take(&mut self, context: &mut Context, event: Event<'_>) -> Option<Step> {
        let Event::Ledger(reply) = event else {
            return None;
        };
        let reason = match reply {
            Err(_) if !self.tried => {
                self.tried = true;
                return Some(self.advance());
            }
            Err(Failed(why)) => Reason::LedgerUnavailable(why),
            Ok(reply) if reply.first().is_some_and(|verdict| verdict == "ok") => {
                match admission::confirmed(context, &reply, None) {
                    Ok(()) => return Some(Step::Done(Box::default())),
                    Err(reason) => reason,
                }
            }
            Ok(reply) => Reason::LedgerUnavailable(failure(&reply)),
        };
        Some(context.reply(reason, About::new(Item::Session)))
    }
}
