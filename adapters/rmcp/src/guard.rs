//! The guard.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once, OnceLock};
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::service::Peer;
use sealwax::{Codec, Error, Principal};
use sealwax_mcp::{Event, Failed, Fault, Refused, Step};
use tokio::time::timeout;

use crate::foreign::{caught, wrong};
use crate::hooks::{Hook, Refusal, Timed, TokenEvent, log};
use crate::ledger::{Command, LedgerError};
use crate::options::GuardBuilder;
use crate::principal::IntoPrincipal;
use crate::{Context, Kind};

/// Seals the tokens that a server sends to its clients, and opens and checks those that come back.
///
/// Make one for each server; cloning it is cheap. The [crate's front page](crate) shows a whole server.
///
/// ```
/// use sealwax::{Codec, Key, KeyRing};
/// use sealwax_rmcp::{Guard, anonymous};
///
/// let ring = KeyRing::new([Key::generate()?])?; // a server has Codec::from_env
/// let codec = Codec::new(ring, "https://mcp.example.com")?;
/// let guard = Guard::builder(codec, anonymous)
///     .only("delete_note", ["id"])
///     .on_refused(|refusal| eprintln!("{}: {}", refusal.kind, refusal.code))
///     .build()?;
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone)]
pub struct Guard(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub engine: sealwax_mcp::Guard,
    pub options: GuardBuilder,
    pub peer: OnceLock<Peer<RoleServer>>,
    /// Whether the log has the warning about an anonymous principal.
    pub warned: Once,
}

impl Guard {
    /// Builds a guard with `codec`. `principal` resolves the caller, at most once per request:
    /// [`from_claims`](crate::from_claims), [`anonymous`](crate::anonymous), or your own function. If it returns `None`, the
    /// request is refused as unauthenticated; if it fails or panics, as the server's failure.
    pub fn builder<F, P>(codec: Codec, principal: F) -> GuardBuilder
    where
        F: Fn(&Context) -> P + Send + Sync + 'static,
        P: IntoPrincipal,
    {
        GuardBuilder::new(codec, move |context| principal(context).into_principal())
    }

    /// Signs a principal out everywhere: refuses everything that was issued to it until now, and also what is issued
    /// within the ledger's clock tolerance after that. The ledger keeps the record for `retain_for`, which must be at least the
    /// longest lifetime of any token of the service, now or later; `None` keeps it for 400 days, longer than
    /// anything lives.
    ///
    /// ```
    /// # use sealwax::{Codec, Key, KeyRing, Principal};
    /// # use sealwax_rmcp::ledger::Memory;
    /// # use sealwax_rmcp::{Guard, anonymous};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// let guard = Guard::builder(codec, anonymous).ledger(Memory::default()).build()?;
    /// guard.revoke(&Principal::subject("alice"), None).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LedgerError::InvalidArgument`] without a ledger, and for the anonymous principal;
    /// [`LedgerError::Unavailable`] if the ledger did not confirm the command.
    pub async fn revoke(
        &self,
        principal: &Principal,
        retain_for: Option<Duration>,
    ) -> Result<(), LedgerError> {
        let since = self.starts();
        let (exchange, mut step) = self.0.engine.revoke(principal, retain_for)?;
        let mut exchange = Timed::new(exchange, since);
        while let Step::Ledger(command) = step {
            let reply = self.record(&command).await;
            step = exchange.on(Event::Ledger(reply))?;
        }
        let why = self.report(&mut exchange);
        match step {
            Step::Done(_) => Ok(()),
            _ => Err(LedgerError::Unavailable(why.unwrap_or_default())),
        }
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Runs a command on the ledger. No reply in time is a failure.
    pub(crate) async fn record(&self, command: &Command) -> Result<Vec<String>, Failed> {
        let Some(ledger) = &self.0.options.ledger else {
            // The engine sends commands only to a guard with a ledger.
            return Err(wrong("none"));
        };
        // The ledger's code may panic before it returns a future.
        let reply = caught(async { ledger.run(command).await });
        let reply = timeout(command.within, reply).await;
        let reply = reply.map_err(|_| Failed::Late)??;
        reply.map_err(wrong)
    }

    /// Returns the time, if somebody counts.
    pub(crate) fn starts(&self) -> Option<Instant> {
        (!self.0.options.on_event.is_empty()).then(Instant::now)
    }

    /// Reports what an exchange has for the log and the hooks. Returns the last message.
    pub(crate) fn report(&self, exchange: &mut Timed) -> Option<String> {
        let mut why = None;
        for refused in exchange.refused() {
            why = Some(self.refused(refused));
        }
        if let Some(since) = exchange.since {
            for event in exchange.events() {
                let event = TokenEvent::new(event, since.elapsed());
                self.tell("on_event", event.kind, &self.0.options.on_event, &event);
            }
        }
        why
    }

    /// Reports a refusal, and returns its message.
    pub(crate) fn refused(&self, refused: Refused<'static>) -> String {
        let refusal = Refusal::new(refused);
        log(&refusal);
        let hooks = &self.0.options.on_refused;
        self.tell("on_refused", refusal.kind, hooks, &refusal);
        refusal.message
    }

    /// Calls the author's functions, which change no answer.
    fn tell<T>(&self, name: &str, kind: Kind, hooks: &[Box<Hook<T>>], told: &T) {
        for hook in hooks {
            if catch_unwind(AssertUnwindSafe(|| hook(told))).is_err() {
                let fault = Fault::new(kind, format!("{name}: the function panicked"));
                let entry = self.0.engine.report("invalid_argument", fault);
                log(&Refusal::new(entry));
            }
        }
    }
}

impl GuardBuilder {
    /// Builds the guard.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a time out of its range, for an empty list of arguments, for a
    /// [`preview`](Self::preview) of a tool that is not confirmed, and for sessions with two
    /// lifetimes, with one where the server holds the state, or required by a method that never depends on one.
    pub fn build(self) -> Result<Guard, Error> {
        Ok(Guard(Arc::new(Inner {
            engine: self.settings.clone().build()?,
            options: self,
            peer: OnceLock::new(),
            warned: Once::new(),
        })))
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guard").field(&self.0.engine).finish()
    }
}
