//! What an author is told: the log, refusals, and what happens to tokens that are not refused. The client gets a fixed answer.

use std::fmt::Arguments;
use std::io::{self, Write as _};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::ErrorData;
use sealwax::{Environment as _, Error, KeyId, Principal, System};
use sealwax_mcp::{Exchange, Fault, Happened, Level, Refused};
use tracing::dispatcher::get_default;
use tracing::subscriber::NoSubscriber;

use crate::Kind;
use crate::refusal::internal;

pub(crate) type Hook<T> = dyn Fn(&T) + Send + Sync;

/// A refusal, as [`GuardBuilder::on_refused`](crate::GuardBuilder::on_refused) reports it. It contains no token
/// and no payload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The time by the codec's clock: `YYYY-MM-DDTHH:MM:SS.mmmZ`.
    pub time: String,
    /// Whether something was refused, or is out of order.
    pub level: Level,
    /// The code of [`sealwax::Error::code`], `invalid_request`, `unauthenticated` or `unconfirmed`; with a ledger also
    /// `used`, `ended`, `revoked`, `unknown`, `expired`, `stale`, `ledger_unavailable` or `ledger_unconfirmed`.
    pub code: &'static str,
    /// The kind of token that was to be opened or sealed.
    pub kind: Kind,
    /// The id of the token in hex digits, if there is one. Only the id of an opened token is verified; that of
    /// another one is what the token claims.
    pub id: Option<String>,
    /// The method of the request, if there is one.
    pub method: Option<Arc<str>>,
    /// Whether the method is none of the protocol's: a client may have made it up.
    pub custom_method: bool,
    /// The tool, the prompt or the resource of the request, as the client named it.
    pub target: Option<Arc<str>>,
    /// The principal of the request, if it is known.
    pub principal: Option<Arc<Principal>>,
    /// The reason, for the log.
    pub message: String,
    /// All of it but time and level, as one line of ASCII: the same in every language.
    pub line: String,
}

impl Refusal {
    pub(crate) fn new(refused: Refused<'static>) -> Self {
        let custom_method = refused.origin.has_custom_method();
        Self {
            time: refused.time,
            level: refused.level,
            code: refused.code,
            kind: refused.item,
            id: refused.id,
            custom_method,
            method: refused.origin.method,
            target: refused.origin.target,
            principal: refused.origin.principal,
            message: refused.message,
            line: refused.line,
        }
    }
}

/// What happened to a token, as [`GuardBuilder::on_event`](crate::GuardBuilder::on_event) reports it. It contains no token
/// and no payload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TokenEvent {
    /// What happened.
    pub event: Happened,
    /// The kind of token.
    pub kind: Kind,
    /// The id of the key that made it, which has to stay in the ring as long as such tokens come; `None` for a
    /// [`ReferenceHandle`](crate::ReferenceHandle), which names none.
    pub key_id: Option<KeyId>,
    /// The id of the token, or the ulid of a handle or session, in hex digits.
    pub id: Option<String>,
    /// Of an opened token: the time since it was made, in whole seconds.
    pub age: Option<Duration>,
    /// The method of the message.
    pub method: Option<Arc<str>>,
    /// Whether the method is none of the protocol's: a client may have made it up.
    pub custom_method: bool,
    /// The tool, the prompt or the resource of the request.
    pub target: Option<Arc<str>>,
    /// The principal of the request.
    pub principal: Option<Arc<Principal>>,
    /// How long the guard took, since the message came to it, or the handler's result or call. It includes the time
    /// that it waited for a [`Ledger`](crate::ledger::Ledger).
    pub took: Duration,
}

impl TokenEvent {
    pub(crate) fn new(event: sealwax_mcp::TokenEvent, took: Duration) -> Self {
        Self {
            event: event.event,
            kind: event.item,
            key_id: event.key_id,
            id: event.id,
            age: event.age.map(Duration::from_secs),
            custom_method: event.origin.has_custom_method(),
            method: event.origin.method,
            target: event.origin.target,
            principal: event.origin.principal,
            took,
        }
    }
}

/// An exchange, and since when the guard works at its message: only where somebody counts.
pub(crate) struct Timed {
    exchange: Exchange,
    pub since: Option<Instant>,
}

impl Timed {
    pub(crate) fn new(exchange: Exchange, since: Option<Instant>) -> Self {
        Self { exchange, since }
    }
}

impl Deref for Timed {
    type Target = Exchange;

    fn deref(&self) -> &Exchange {
        &self.exchange
    }
}

impl DerefMut for Timed {
    fn deref_mut(&mut self) -> &mut Exchange {
        &mut self.exchange
    }
}

/// Writes a refusal or a failure to `tracing`, or to the standard error where nobody has subscribed to that.
pub(crate) fn log(refusal: &Refusal) {
    let principal = refusal.principal.as_ref();
    let named = principal.and_then(|principal| principal.parts());
    macro_rules! write {
        ($level:ident) => {
            tracing::$level!(
                target: "sealwax_rmcp",
                code = refusal.code,
                kind = refusal.kind.name(),
                method = refusal.method.as_deref(),
                target = refusal.target.as_deref(),
                issuer = named.and_then(|named| named.issuer),
                client = named.and_then(|named| named.client),
                subject = named.and_then(|named| named.subject),
                id = refusal.id,
                "{}",
                refusal.message
            )
        };
    }
    match refusal.level {
        Level::Warn => write!(warn),
        Level::Error => write!(error),
    }
    if is_unheard() {
        let level = refusal.level.name().to_ascii_uppercase();
        stderr(format_args!("{} {level} {}", refusal.time, refusal.line));
    }
}

/// Writes an error that no guard can report, and returns the answer to it.
pub(crate) fn unprotected(kind: Kind, error: &Error) -> ErrorData {
    let fault = Fault::new(kind, error.to_string());
    let entry = Refused::of(error.code(), fault, System.now_ms());
    log(&Refusal::new(entry));
    internal()
}

/// Writes a warning that belongs to no token.
pub(crate) fn warn(text: &str) {
    tracing::warn!(target: "sealwax_rmcp", "{text}");
    if is_unheard() {
        stderr(format_args!("WARN sealwax: {text}"));
    }
}

/// Writes a line. Nobody may read stderr any more, and `eprintln!` panics then: the request would get no answer.
fn stderr(line: Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Returns whether no program would see what goes to `tracing`.
fn is_unheard() -> bool {
    get_default(|subscriber| subscriber.is::<NoSubscriber>())
}
