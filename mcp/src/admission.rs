//! Asks whether tokens are accepted: first the author's `accept`, then the ledger. Each judges all
//! tokens of a message at once.

use std::time::Duration;

use crate::context::Context;
use crate::input::Event;
use crate::ledger::{Check, Command, Failure, RecordKind, Reply, Subject};
use crate::pending::Pending;
use crate::reason::Reason;
use crate::step::{Item, Presented, Question, Step};
use crate::text::remembered;
use sealwax::{KeyId, Opened};

/// A token that passed every check of its seal, and what the ledger is asked about it.
pub(super) struct Token {
    pub presented: Presented,
    /// The key that made it.
    pub key_id: Option<KeyId>,
    /// `None` if the author's `accept` alone decides.
    pub check: Option<Check>,
    /// Times are in Unix seconds.
    pub issued_at: u64,
    /// The start of its session or chain.
    pub started_at: u64,
    /// The time from which it opens nowhere by its own lifetime, whatever the settings.
    pub until: Option<u64>,
}

/// The open questions about a message's tokens.
pub(super) struct Admission {
    tokens: Vec<Token>,
    /// Whether these are sessions of the transport.
    transport: bool,
    next: Stage,
    pending: Option<Pending>,
}

#[derive(Clone, Copy)]
enum Stage {
    Accept,
    Ledger,
    End,
    Over,
}

/// The index of a refused token, and the reason.
pub(super) type RefusedAt = (usize, Reason);

impl Admission {
    pub fn new(tokens: Vec<Token>) -> Self {
        Self {
            tokens,
            transport: false,
            next: Stage::Accept,
            pending: None,
        }
    }

    pub fn of_transport(token: Token) -> Self {
        Self {
            transport: true,
            ..Self::new(vec![token])
        }
    }

    /// Skips the question to the author's `accept`.
    pub fn without_accept(mut self) -> Self {
        self.next = Stage::Ledger;
        self
    }

    /// Returns the next question; `None` once all tokens passed.
    pub fn step(&mut self, context: &mut Context) -> Result<Option<Step>, RefusedAt> {
        loop {
            let stage = self.next;
            match stage {
                Stage::Accept => {
                    self.next = Stage::Ledger;
                    if context.guard.settings().has_accept && !self.tokens.is_empty() {
                        let presented = self.tokens.iter().map(|token| token.presented.clone());
                        return Ok(Some(ask(Question::Accept(presented.collect()))));
                    }
                }
                Stage::Ledger => {
                    self.next = Stage::End;
                    if let Some(command) = self.command(context).map_err(|error| (0, error))? {
                        let pending = self.pending.insert(Pending::new(command));
                        return Ok(Some(pending.step()));
                    }
                }
                Stage::End => {
                    self.next = Stage::Over;
                    let ends =
                        |token: &&Token| matches!(token.check, Some(Check::End | Check::Force));
                    if context.guard.settings().has_accept
                        && let Some(token) = self.tokens.iter().find(ends)
                    {
                        return Ok(Some(ask(Question::End(token.presented.clone()))));
                    }
                }
                Stage::Over => {
                    context.passed(&self.tokens);
                    return Ok(None);
                }
            }
        }
    }

    /// Takes an answer, and returns the next question. `None` if the answer does not match the
    /// question.
    pub fn take(
        &mut self,
        context: &mut Context,
        event: Event<'_>,
    ) -> Option<Result<Option<Step>, RefusedAt>> {
        let judged = match event {
            Event::Answer(verdict) if self.pending.is_none() => verdict.judged(),
            Event::Ledger(answer) => match self.pending.as_mut()?.take(answer) {
                Ok(reply) => {
                    self.pending = None;
                    self.judged(context, reply)
                }
                Err(again) => return Some(Ok(Some(again))),
            },
            _ => return None,
        };
        Some(judged.and_then(|()| self.step(context)))
    }

    fn command(&self, context: &Context) -> Result<Option<Command>, Reason> {
        let Some((ledger, mark)) = context.ledger() else {
            return Ok(None);
        };
        let subjects: Vec<_> = self.subjects().map(|(_, subject)| subject).collect();
        if subjects.is_empty() {
            return Ok(None);
        }
        let attempt: [u8; 8] = context.draw()?;
        Ok(Some(ledger.names.admit(
            mark,
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
                let about = self.tokens.first().map(|one| &one.presented);
                let used = |token: &Token| token.check == Some(Check::Once);
                let used = self.tokens.iter().position(used);
                context
                    .confirmed(&done, about)
                    .map_err(|reason| match used {
                        // It is used up, so that the client must not be told to keep it.
                        Some(at) => (at, Reason::ledger("ledger_unconfirmed", SPENT)),
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

/// The exchange says how long it may wait.
fn ask(question: Question) -> Step {
    let within = Duration::ZERO;
    Step::Ask { question, within }
}

impl Token {
    pub fn new<K>(item: Item, opened: &Opened<K>, check: Option<Check>) -> Self {
        let presented = Presented::token(item, opened.token_id(), opened.expires_at());
        Self {
            until: presented.until,
            presented,
            key_id: Some(opened.key_id()),
            check,
            issued_at: opened.issued_at(),
            started_at: opened.started_at(),
        }
    }

    /// Returns the token of a session id or a handle, by its time of making.
    pub fn made(presented: Presented, created_at_ms: u64, check: Check) -> Self {
        Self {
            presented,
            key_id: None,
            check: Some(check),
            issued_at: created_at_ms / 1000,
            started_at: created_at_ms / 1000,
            // Only settings limit its age, and these may change.
            until: None,
        }
    }

    fn subject(&self, transport: bool) -> Option<Subject<'_>> {
        let kind = match self.presented.item {
            Item::RequestState => RecordKind::RequestState,
            Item::Handle => RecordKind::Handle,
            Item::HandleState => RecordKind::HandleState,
            Item::Session if transport => RecordKind::Transport,
            Item::Session => RecordKind::Session,
            Item::Cursor => RecordKind::Cursor,
        };
        Some(Subject {
            kind,
            id: &self.presented.id,
            check: self.check.as_ref()?,
            issued_at: self.issued_at,
            started_at: self.started_at,
            until: Some(remembered(self.until, self.started_at)),
        })
    }
}
