//! Signs a principal out, for the operator of the server.
use crate::exchange::pending::Pending;
use crate::ledger::{Command, Reply};
use crate::message::context::{About, Context};
use crate::message::input::Event;
use crate::reply::step::{Item, Step};

pub(crate) struct Revoking(Pending);

impl Revoking {
    pub fn new(command: Command) -> Self {
        Self(Pending::new(command))
    }

    pub fn advance(&self) -> Step {
        self.0.step()
    }

    #[inline(never)]
    pub fn take(&mut self, context: &mut Context, event: Event<'_>) -> Option<Step> {
        let Event::Ledger(answer) = event else {
            return None;
        };
        let revoked = match self.0.take(answer) {
            Err(again) => return Some(again),
            Ok(Reply::Done(done)) => context.confirmed(&done, None),
            Ok(lost) => Err(lost.into()),
        };
        Some(match revoked {
            Ok(()) => {
                context.revoked();
                Step::Done(Box::default())
            }
            Err(reason) => context.reply(reason, About::new(Item::Session)),
        })
    }
}
