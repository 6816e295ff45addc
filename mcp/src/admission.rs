//! Asks whether tokens are accepted: first the author's `accept`, then the ledger. Each judges all
//! tokens of a message at once.

use std::borrow::Cow;
use std::time::Duration;

use crate::context::{About, Context, Reason, failure};
use crate::input::{Event, Failed};
use crate::ledger::{Command, Mode, Subject, Tag};
use crate::step::{Item, Presented, Question, Step};
use crate::text::remembered;
use sealwax::TokenId;

/// A token that passed every check of its seal, and the question about it.
pub(super) struct Token {
    pub presented: Presented,
    pub check: Check,
    /// Times are in Unix seconds.
    pub issued_at: u64,
    /// The start of its session or chain.
    pub started_at: u64,
    /// The time from which it opens nowhere by its own lifetime, whatever the settings.
    pub until: Option<u64>,
}

/// The question about a token.
pub(super) enum Check {
    /// The author's `accept` alone.
    Rule,
    Once,
    Unused,
    Live,
    Idle(Duration),
    Head {
        token: String,
        generation: u32,
        state: String,
    },
    End,
    /// It ends, though another principal presented it.
    Force,
}

/// The open questions about a message's tokens.
pub(super) struct Admission {
    tokens: Vec<Token>,
    /// Whether these are sessions of the transport.
    transport: bool,
    next: Stage,
    command: Option<Command>,
    tried: bool,
}

#[derive(Clone, Copy)]
enum Stage {
    Accept,
    Ledger,
    End,
    Over,
}

/// The index of a refused token, and the reason.
pub(super) type Refusal = (usize, Reason);

impl Admission {
    pub fn new(tokens: Vec<Token>) -> Self {
        Self {
            tokens,
            transport: false,
            next: Stage::Accept,
            command: None,
            tried: false,
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
    pub fn step(&mut self, context: &Context) -> Result<Option<Step>, Refusal> {
        loop {
            let stage = self.next;
            match stage {
                Stage::Accept => {
                    self.next = Stage::Ledger;
                    if context.guard.settings().has_accept && !self.tokens.is_empty() {
                        let presented = self.tokens.iter().map(|token| token.presented.clone());
                        return Ok(Some(Step::Ask(Question::Accept(presented.collect()))));
                    }
                }
                Stage::Ledger => {
                    self.next = Stage::End;
                    if let Some(command) = self.command(context).map_err(|error| (0, error))? {
                        self.command = Some(command.clone());
                        return Ok(Some(Step::Ledger(Box::new(command))));
                    }
                }
                Stage::End => {
                    self.next = Stage::Over;
                    let ends = |token: &&Token| matches!(token.check, Check::End | Check::Force);
                    if context.guard.settings().has_accept
                        && let Some(token) = self.tokens.iter().find(ends)
                    {
                        return Ok(Some(Step::Ask(Question::End(token.presented.clone()))));
                    }
                }
                Stage::Over => return Ok(None),
            }
        }
    }

    /// Takes an answer, and returns the next question. `None` if the answer does not match the
    /// question.
    pub fn take(
        &mut self,
        context: &mut Context,
        event: Event<'_>,
    ) -> Option<Result<Option<Step>, Refusal>> {
        let judged = match event {
            Event::Answer(verdict) if self.command.is_none() => verdict.judged(),
            Event::Ledger(answer) => {
                let command = self.command.take()?;
                match answer {
                    Ok(reply) => self.judged(context, &reply),
                    Err(_) if !self.tried => {
                        // The same attempt again is not a second use.
                        self.tried = true;
                        self.command = Some(command.clone());
                        return Some(Ok(Some(Step::Ledger(Box::new(command)))));
                    }
                    Err(Failed(why)) => Err((0, Reason::LedgerUnavailable(why))),
                }
            }
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
        Ok(Some(Command::admit(
            &ledger.names,
            mark,
            &data_encoding::HEXLOWER.encode(&attempt),
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

    fn judged(&self, context: &mut Context, reply: &[String]) -> Result<(), Refusal> {
        let place = || {
            let place: usize = reply.get(1)?.parse().ok()?;
            self.subjects().nth(place).map(|(at, _)| at)
        };
        let refused = match reply.first().map(String::as_str) {
            Some("ok") => {
                let about = self.tokens.first().map(|one| &one.presented);
                let used = |token: &Token| matches!(token.check, Check::Once);
                let used = self.tokens.iter().position(used);
                return confirmed(context, reply, about).map_err(|reason| match used {
                    // It is used up, so that the client must not be told to keep it.
                    Some(at) => (at, Reason::ledger("ledger_unconfirmed", SPENT)),
                    None => (0, reason),
                });
            }
            Some("used") => Reason::ledger("used", "it was used already"),
            Some("ended") => Reason::ledger("ended", "it has ended"),
            Some("revoked") => Reason::ledger("revoked", "its principal was signed out everywhere"),
            Some("unknown") => Reason::Ledger("unknown", unknown(reply.get(2))),
            Some("expired") => Reason::ledger("expired", "it has expired by the ledger's clock"),
            Some("stale") if reply.len() == 5 => Reason::Stale(Box::new([
                reply[2].clone(),
                reply[3].clone(),
                reply[4].clone(),
            ])),
            _ => return Err((0, Reason::LedgerUnavailable(failure(reply)))),
        };
        match place() {
            Some(at) => Err((at, refused)),
            None => Err((0, Reason::LedgerUnavailable(failure(&[])))),
        }
    }
}

const SPENT: &str =
    "no replica confirmed that it was used up, which a fail-over would forget: it counts as used";

/// Returns the message for a token that the ledger may have forgotten.
fn unknown(known: Option<&String>) -> Cow<'static, str> {
    const WHY: &str = "the ledger has no records of the time when it was made";
    match known.and_then(|seconds| seconds.parse::<u64>().ok()) {
        Some(seconds) => format!("{WHY}: they begin {seconds} s ago").into(),
        None => WHY.into(),
    }
}

/// Checks that a replica confirmed a command, if it should or must survive a fail-over.
pub(super) fn confirmed(
    context: &mut Context,
    reply: &[String],
    about: Option<&Presented>,
) -> Result<(), Reason> {
    let needs = reply.get(1).map(String::as_str);
    if reply.get(2).is_none_or(|note| note != "unconfirmed") {
        return Ok(());
    }
    let why = "no replica confirmed it: a fail-over would forget it";
    if needs == Some("2") {
        return Err(Reason::LedgerUnavailable(why.into()));
    }
    let about = About {
        id: about.map(|one| one.id.clone()),
        ..About::new(about.map_or(Item::Session, |one| one.item))
    };
    context.refuse(Reason::ledger("ledger_unconfirmed", why), about);
    Ok(())
}

/// The id and the times of an opened token.
pub(super) struct Times {
    id: TokenId,
    issued_at: u64,
    started_at: u64,
    expires_at: Option<u64>,
}

impl Times {
    pub fn of<K>(opened: &sealwax::Opened<K>) -> Self {
        Self {
            id: opened.token_id(),
            issued_at: opened.issued_at(),
            started_at: opened.started_at(),
            expires_at: opened.expires_at(),
        }
    }
}

impl Token {
    pub fn new(item: Item, opened: Times, check: Check) -> Self {
        let presented = Presented::token(item, opened.id, opened.expires_at);
        Self {
            until: presented.until,
            presented,
            check,
            issued_at: opened.issued_at,
            started_at: opened.started_at,
        }
    }

    /// Returns the token of a session id or a handle, by its time of making.
    pub fn made(presented: Presented, created_at_ms: u64, check: Check) -> Self {
        Self {
            presented,
            check,
            issued_at: created_at_ms / 1000,
            started_at: created_at_ms / 1000,
            // Only settings limit its age, and these may change.
            until: None,
        }
    }

    fn subject(&self, transport: bool) -> Option<Subject<'_>> {
        let tag = match self.presented.item {
            Item::RequestState => Tag::RequestState,
            Item::Handle => Tag::Handle,
            Item::HandleState => Tag::HandleState,
            Item::Session if transport => Tag::Transport,
            Item::Session => Tag::Session,
            Item::Cursor => Tag::Cursor,
        };
        let mode = match &self.check {
            Check::Rule => return None,
            Check::Once => Mode::Once,
            Check::Unused => Mode::Unused,
            Check::Live => Mode::Live,
            Check::Idle(idle) => Mode::Idle(*idle),
            Check::Head {
                token,
                generation,
                state,
            } => Mode::Head {
                token,
                generation: *generation,
                state,
            },
            Check::End => Mode::End,
            Check::Force => Mode::Force,
        };
        Some(Subject {
            tag,
            id: &self.presented.id,
            mode,
            issued_at: self.issued_at,
            started_at: self.started_at,
            until: Some(remembered(self.until, self.started_at)),
        })
    }
}
