//! Asks the ledger whether the tokens of a message are accepted: all of them at once.

use crate::exchange::pending::Pending;
use crate::ledger::{Check, Command, Failure, Reply, Subject};
use crate::message::context::Context;
use crate::message::input::Event;
use crate::message::token::Token;
use crate::reply::reason::Reason;
use crate::reply::step::Step;

/// The open question about a message's tokens.
pub(crate) struct Admission {
    tokens: Vec<Token>,
    /// Whether these are sessions of the transport.
    transport: bool,
    pending: Option<Pending>,
}

/// The index of a refused token, and the reason.
pub(crate) type RefusedAt = (usize, Reason);

impl Admission {
    pub fn new(tokens: Vec<Token>) -> Self {
        Self {
            tokens,
            transport: false,
            pending: None,
        }
    }

    pub fn of_transport(token: Token) -> Self {
        Self {
            transport: true,
            ..Self::new(vec![token])
        }
    }

    /// Returns the question; `None` if there is none, so that all tokens passed.
    pub fn step(&mut self, context: &mut Context) -> Result<Option<Step>, RefusedAt> {
        let Some(command) = self.command(context).map_err(|error| (0, error))? else {
            context.passed(&self.tokens);
            return Ok(None);
        };
        let pending = self.pending.insert(Pending::new(command));
        Ok(Some(pending.step()))
    }

    /// Takes the answer; returns the question again if there was none. `None` if the event is no answer.
    pub fn take(
        &mut self,
        context: &mut Context,
        event: Event<'_>,
    ) -> Option<Result<Option<Step>, RefusedAt>> {
        let Event::Ledger(answer) = event else {
            return None;
        };
        let reply = match self.pending.as_mut()?.take(answer) {
            Ok(reply) => reply,
            Err(again) => return Some(Ok(Some(again))),
        };
        self.pending = None;
        let judged = self.judged(context, reply);
        Some(judged.map(|()| {
            context.passed(&self.tokens);
            None
        }))
    }

    fn command(&self, context: &Context) -> Result<Option<Command>, Reason> {
        let Some((ledger, principal_key)) = context.ledger() else {
            return Ok(None);
        };
        let subjects: Vec<_> = self.subjects().map(|(_, subject)| subject).collect();
        if subjects.is_empty() {
            return Ok(None);
        }
        let attempt: [u8; 8] = context.draw()?;
        Ok(Some(ledger.names.admit(
            principal_key,
            &base16ct::lower::encode_string(&attempt),
            ledger.settings.clock_tolerance(),
            ledger.settings.accept_issued_since,
            &subjects,
        )))
    }

    /// Returns the tokens that concern the ledger, with their indices.
    fn subjects(&self) -> impl Iterator<Item = (usize, Subject<'_>)> {
        let presented = self.tokens.iter().enumerate();
        presented.filter_map(|(at, token)| Some((at, token.subject(self.transport)?)))
    }

    fn judged(&self, context: &mut Context, reply: Reply) -> Result<(), RefusedAt> {
        match reply {
            Reply::Done(done) => {
                let about = self.tokens.first();
                let used = |token: &Token| token.check == Some(Check::Once);
                let used = self.tokens.iter().position(used);
                context
                    .confirmed(&done, about)
                    .map_err(|reason| match used {
                        // It is used up, so that the client must not be told to keep it.
                        Some(at) => (at, Reason::refused("ledger_unconfirmed", SPENT)),
                        None => (0, reason),
                    })
            }
            Reply::Refused { place, refusal } => Err(match self.subjects().nth(place) {
                Some((at, _)) => (at, refusal.into()),
                None => (0, Reply::Failed(Failure::Unspecified).into()),
            }),
            failed @ Reply::Failed(_) => Err((0, failed.into())),
        }
    }
}

const SPENT: &str =
    "no replica confirmed that it was used up, which a fail-over would forget: it counts as used";
