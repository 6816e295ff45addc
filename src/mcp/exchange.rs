//! One message and all that comes of it.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::act::{Act, Acting};
use super::asking;
use super::context::{About, Context, Reason};
use super::request::Request;
use super::revoking::Revoking;
use super::session::Written;
use super::transport::TransportFlow;
use super::{Event, Failed, Guard, Item, Message, Refused, Session, Step, TransportMessage};
use crate::ledger::Command;
use crate::{Error, SessionMetadata};

/// What a guard knows of one message, from when it comes to when its answer leaves.
///
/// It takes an event and gives a step. Dropping it at any moment cancels it: what its handler does later
/// is an error, and nothing leaves.
pub struct Exchange {
    context: Context,
    flow: Flow,
    /// The ledger is being opened; then this is known of who asks.
    opening: Option<Result<(), Error>>,
}

enum Flow {
    Request(Box<Request>),
    Transport(Box<TransportFlow>),
    Act(Box<Acting>),
    Revoking(Box<Revoking>),
    Over,
}

impl Exchange {
    pub(super) fn of_message(guard: Guard, mut message: Message<'_>) -> (Self, Step) {
        let mut context = Context::new(guard);
        let known = context.told(message.principal.take());
        let request = Request::new(message);
        Self::begin(context, Flow::Request(Box::new(request)), known)
    }

    pub(super) fn of_transport(guard: Guard, mut transport: TransportMessage<'_>) -> (Self, Step) {
        let mut context = Context::new(guard);
        let known = context.told(transport.principal.take());
        let flow = TransportFlow::new(transport);
        Self::begin(context, Flow::Transport(Box::new(flow)), known)
    }

    pub(super) fn of_revocation(guard: Guard, command: Command) -> (Self, Step) {
        let flow = Flow::Revoking(Box::new(Revoking::new(command)));
        Self::begin(Context::new(guard), flow, Ok(()))
    }

    /// A message that the engine cannot read.
    #[cfg(feature = "documents")]
    pub(super) fn unreadable(guard: Guard) -> (Self, Step) {
        use super::Reply;

        let mut context = Context::new(guard);
        let error = Error::Malformed("a message of well-formed Unicode");
        context.refuse(error.into(), About::new(Item::Session));
        let reply = Reply {
            status: Some(400),
            ..Reply::error(-32600, "Invalid Request")
        };
        let exchange = Self {
            context,
            flow: Flow::Over,
            opening: None,
        };
        (exchange, Step::Reply(reply))
    }

    fn begin(context: Context, flow: Flow, known: Result<(), Error>) -> (Self, Step) {
        let mut exchange = Self {
            context,
            flow,
            opening: None,
        };
        // What was sealed before the ledger remembers is unknown to it: nothing leaves before.
        let guard = &exchange.context.guard;
        let open = match &exchange.flow {
            Flow::Request(request) if !request.gives(&exchange.context) => None,
            Flow::Revoking(_) => guard.opens_ledger(0),
            _ => guard.opens_ledger(PAUSE),
        };
        if let Some(open) = open {
            exchange.opening = Some(known);
            return (exchange, Step::Ledger(Box::new(open)));
        }
        let step = exchange.entered(known);
        (exchange, step)
    }

    fn entered(&mut self, known: Result<(), Error>) -> Step {
        let step = match known {
            Ok(()) => self.advance(),
            Err(error) => self.unidentified(error),
        };
        self.given(step)
    }

    /// A ledger that does not open refuses nobody yet: only what is asked of it does.
    fn ledger_opened(
        &mut self,
        known: Result<(), Error>,
        reply: Result<Vec<String>, Failed>,
    ) -> Step {
        let failure = match reply {
            Ok(reply) if reply.first().is_some_and(|verdict| verdict == "ok") => {
                self.context.guard.ledger_is_open();
                return self.entered(known);
            }
            Ok(reply) => asking::failure(&reply),
            Err(Failed(why)) => why,
        };
        let about = About::new(Item::Session);
        self.context
            .refuse(Reason::LedgerUnavailable(failure), about);
        self.entered(known)
    }

    /// Takes what came of the last step, and gives the next one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an event that does not follow that step: the adapter's fault.
    pub fn on(&mut self, event: Event<'_>) -> Result<Step, Error> {
        if let Some(known) = self.opening.take() {
            return match event {
                Event::Ledger(reply) => Ok(self.ledger_opened(known, reply)),
                _ => {
                    self.opening = Some(known);
                    Err(OUT_OF_ORDER)
                }
            };
        }
        let context = &mut self.context;
        let step = match event {
            Event::Principal(found) if context.is_identifying() => match context.identify(found) {
                Ok(()) => self.advance(),
                Err(error) => self.unidentified(error),
            },
            event => {
                let taken = match &mut self.flow {
                    Flow::Request(request) => request.take(context, event),
                    Flow::Transport(flow) => flow.take(context, event),
                    Flow::Act(acting) => acting.take(context, event),
                    Flow::Revoking(revoking) => revoking.take(context, event),
                    Flow::Over => None,
                };
                taken.ok_or(OUT_OF_ORDER)?
            }
        };
        Ok(self.given(step))
    }

    /// Begins an exchange of its own for what a handler does with a handle.
    #[must_use]
    pub fn act(&self, act: Act<'_>) -> (Self, Step) {
        let mut exchange = Self {
            context: self.context.inner(),
            flow: Flow::Act(Box::new(Acting::new(act))),
            opening: None,
        };
        let step = exchange.entered(Ok(()));
        (exchange, step)
    }

    /// The `requestState` that this exchange opened, while its handler runs; `None` in the first round.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] in a method that carries none, and before and after its handler.
    pub fn state(&self) -> Result<Option<&str>, Error> {
        match &self.flow {
            Flow::Request(request) => request.state(),
            _ => Err(OUT_OF_ORDER),
        }
    }

    /// The data-layer session of the request, while its handler runs, if it has one. In a list there is
    /// none.
    #[must_use]
    pub fn session(&self) -> Option<&Session> {
        match &self.flow {
            Flow::Request(request) => request.session(),
            _ => None,
        }
    }

    /// Writes the value of the session, as JSON: it leaves with the result. With a ledger, the result is
    /// discarded if somebody else wrote in the meantime.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] without a session, in a notification, before and after its handler,
    /// where the server holds the value, and for what is no JSON.
    pub fn write(&mut self, json: &str) -> Result<(), Error> {
        match &mut self.flow {
            Flow::Request(request) => request.write(json, Written::Once),
            _ => Err(OUT_OF_ORDER),
        }
    }

    /// Writes what a function of the author's made of the session's value. If somebody else wrote in the
    /// meantime, [`Step::Update`] asks for what it makes of theirs, unless [`write`](Self::write) was called
    /// too.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub fn update(&mut self, json: &str) -> Result<(), Error> {
        match &mut self.flow {
            Flow::Request(request) => request.write(json, Written::Again),
            _ => Err(OUT_OF_ORDER),
        }
    }

    /// A new session that begins with what was written, else with what came, while this one goes on: its
    /// metadata, for a result.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write); [`Error::TooLarge`], [`Error::EntropyUnavailable`].
    pub fn fork(&self) -> Result<SessionMetadata, Error> {
        match &self.flow {
            Flow::Request(request) => request.fork(&self.context),
            _ => Err(OUT_OF_ORDER),
        }
    }

    /// What a handle held, as JSON, while it is asked whether it is accepted: for an adapter whose types
    /// may not fit it, for what cannot be read must not count as used.
    #[must_use]
    pub fn opened(&self) -> Option<&str> {
        match &self.flow {
            Flow::Act(acting) => acting.opened(),
            _ => None,
        }
    }

    /// What was refused or failed since the last call: for the log, and the author's hook.
    #[must_use]
    pub fn refused(&mut self) -> Vec<Refused> {
        core::mem::take(&mut self.context.refused)
    }

    fn advance(&mut self) -> Step {
        let context = &mut self.context;
        match &mut self.flow {
            Flow::Request(request) => request.advance(context),
            Flow::Transport(flow) => flow.advance(context),
            Flow::Act(acting) => acting.advance(context),
            Flow::Revoking(revoking) => revoking.advance(),
            Flow::Over => Step::Drop,
        }
    }

    /// Nobody knows who asks: the authentication in front should have refused.
    fn unidentified(&mut self, error: Error) -> Step {
        let context = &mut self.context;
        match &self.flow {
            Flow::Request(request) => request.fail(context, error),
            Flow::Transport(flow) => flow.fail(context, error),
            Flow::Act(acting) => acting.fail(context, error),
            Flow::Revoking(_) | Flow::Over => Step::Drop,
        }
    }

    /// The step as it is given, which may end the exchange.
    fn given(&mut self, step: Step) -> Step {
        let step = match (&self.flow, step) {
            // Nothing answers a notification.
            (Flow::Request(request), Step::Reply(_)) if request.is_notification() => Step::Drop,
            (_, step) => step,
        };
        if step.ends() {
            self.flow = Flow::Over;
        }
        step
    }
}

/// How long a ledger that does not open is left alone, in seconds: each try holds up a message.
const PAUSE: u32 = 5;

pub(super) const OUT_OF_ORDER: Error = Error::InvalidArgument(alloc::borrow::Cow::Borrowed(
    "exchange: expected what follows the last step, before the answer has left",
));

impl Step {
    fn ends(&self) -> bool {
        matches!(
            self,
            Self::Leave(_) | Self::Reply(_) | Self::Done(_) | Self::Drop
        )
    }
}

/// What was opened is not for logs.
impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Exchange")
            .field(&self.context.guard)
            .finish()
    }
}
