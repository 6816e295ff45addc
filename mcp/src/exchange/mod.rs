//! The exchange of one message.

pub(crate) mod admission;
pub(crate) mod caller;
pub(crate) mod pending;
pub(crate) mod revoking;
pub(crate) mod time_left;

use std::fmt;

use crate::exchange::revoking::Revoking;
use crate::guard::{Guard, PAUSE};
use crate::message::context::{Awaited, Context};
use crate::message::input::{Client, Event, Failed, HandleOp, HandlerResult, Message};
#[cfg(feature = "documents")]
use crate::message::token_fields::TokenFields;
use crate::reply::event::TokenEvent;
use crate::reply::log::Refused;
use crate::reply::reason::Reason;
use crate::reply::step::{Called, Item, OUT_OF_ORDER, Question, Respond, Step};
use crate::request::Request;
use crate::request::handle::HandleFlow;
use crate::request::session::Session;
use crate::transport::TransportFlow;
use crate::wire::{AnswerHead, Body};
use sealwax::Principal;
use sealwax::{Error, SessionMetadata};
use std::time::Duration;

/// The state of a guard for one message, from its arrival until its answer is sent.
///
/// It takes events and returns steps. Dropping it at any time cancels it: later calls of the
/// handler are errors, and nothing is sent.
pub struct Exchange {
    context: Context,
    flow: Flow,
    /// What the last step asked.
    asked: Option<Question>,
}

enum Flow {
    Request(Box<Request>),
    Transport(Box<TransportFlow>),
    Handle(Box<HandleFlow>),
    Revoking(Box<Revoking>),
    Over,
}

impl Flow {
    fn request(&self) -> Result<&Request, Error> {
        match self {
            Self::Request(request) => Ok(request),
            _ => Err(OUT_OF_ORDER),
        }
    }

    fn transport(&mut self) -> Result<&mut TransportFlow, Error> {
        match self {
            Self::Transport(flow) => Ok(flow),
            _ => Err(OUT_OF_ORDER),
        }
    }

    fn request_mut(&mut self) -> Result<&mut Request, Error> {
        match self {
            Self::Request(request) => Ok(request),
            _ => Err(OUT_OF_ORDER),
        }
    }
}

impl Guard {
    /// Begins the exchange of a message at the SDK's handlers.
    #[must_use]
    pub fn message(&self, message: Message<'_>) -> (Exchange, Step) {
        self.message_from(message, None)
    }

    /// Begins the exchange of a message at the SDK's handlers: a call of a tool that the guard
    /// [confirms](crate::GuardBuilder::confirm) with its client.
    #[must_use]
    pub fn message_from(
        &self,
        mut message: Message<'_>,
        client: Option<&Client<'_>>,
    ) -> (Exchange, Step) {
        let mut context = Context::new(self.clone(), message.principal.take(), message.within);
        let mut request = Box::new(Request::new(message));
        // Of most guards no tool is.
        if self.settings().confirms {
            request.look_up_confirmation(self, client);
        }
        // The log names the tool that runs, whichever was called.
        context.message = request.origin();
        Exchange::begin(context, Flow::Request(request))
    }

    /// Begins the exchange of a message at the SDK's handlers that is none: its text is no well-formed Unicode, it has too many
    /// levels, or a request in progress on its connection has its id. It ends with [`Step::Reply`].
    #[must_use]
    pub fn invalid(&self, id_in_use: bool) -> (Exchange, Step) {
        let context = Context::new(self.clone(), None, None);
        // It asks nobody, so no ledger is opened for it.
        let mut exchange = Exchange::with(context, TransportFlow::invalid(id_in_use));
        let step = exchange.advance();
        let step = exchange.settle(step);
        (exchange, step)
    }

    /// Begins an exchange for an operation on a link outside of any request: it is opened, at a route of the web.
    #[must_use]
    pub fn link(&self, op: HandleOp<'_>) -> (Exchange, Step) {
        let context = Context::new(self.clone(), None, None);
        Exchange::begin(context, Flow::Handle(Box::new(HandleFlow::new(op, None))))
    }

    /// Signs a principal out everywhere: everything that began until now, or begins within the
    /// clock tolerance after it, is refused. The ledger remembers it for
    /// [`CEILING`](crate::ledger::CEILING), longer than anything lives. A shorter `retain_for` saves space:
    /// the longest lifetime of anything that the service issues, now or later.
    ///
    /// The exchange asks the ledger, and ends with [`Step::Done`] once the ledger has recorded it.
    /// After a [`Step::Reply`] the principal is possibly not signed out; [`Exchange::refused`] has the
    /// reason.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] without a ledger, and for a principal without client and subject.
    pub fn revoke(
        &self,
        principal: &Principal,
        retain_for: Option<Duration>,
    ) -> Result<(Exchange, Step), Error> {
        let names = &self.ledger()?.names;
        let command = names.revoke(principal, retain_for, self.now())?;
        let flow = Flow::Revoking(Box::new(Revoking::new(command)));
        let context = Context::new(self.clone(), Some(Ok(principal.clone())), None);
        Ok(Exchange::begin(context, flow))
    }
}

impl Exchange {
    fn begin(mut context: Context, flow: Flow) -> (Self, Step) {
        // A ledger does not know tokens sealed before it began, so it is opened before any are.
        let opened = match &flow {
            Flow::Request(request) if !request.may_seal(&context) => Ok(()),
            Flow::Revoking(_) => context.open_ledger(0),
            _ => context.open_ledger(PAUSE),
        };
        Self::opened_first(context, flow, opened)
    }

    /// Begins with the step that opens the ledger, if there is one.
    fn opened_first(context: Context, flow: Flow, opened: Result<(), Step>) -> (Self, Step) {
        let mut exchange = Self {
            context,
            flow,
            asked: None,
        };
        let step = match opened {
            Ok(()) => exchange.advance(),
            Err(step) => step,
        };
        let step = exchange.settle(step);
        (exchange, step)
    }

    /// Reports the outcome of the last step, and returns the next one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if the event does not match that step: the adapter's fault.
    pub fn on(&mut self, event: Event<'_>) -> Result<Step, Error> {
        let step = self.take(event).ok_or(OUT_OF_ORDER)?;
        let Context { time, guard, .. } = &mut self.context;
        time.stop(|| guard.now_ms());
        Ok(self.settle(step))
    }

    /// Returns the next step; `None` if the event does not match the last one.
    ///
    /// What the flows do is never inlined here: HotSpot compiles no method of over 8,000 bytes, and the
    /// portable module's functions are methods in Java.
    fn take(&mut self, event: Event<'_>) -> Option<Step> {
        let context = &mut self.context;
        match (context.awaited.take(), event) {
            (Some(Awaited::Caller), Event::Principal(found)) => {
                Some(match context.identify(found) {
                    Ok(()) => self.advance(),
                    Err(reason) => self.unidentified(reason),
                })
            }
            (Some(Awaited::Opening(pending)), Event::Ledger(answer)) => {
                let again = context.ledger_opened(pending, answer);
                Some(again.unwrap_or_else(|| self.advance()))
            }
            (awaited @ Some(_), _) => {
                context.awaited = awaited;
                None
            }
            (None, event) => match &mut self.flow {
                Flow::Request(request) => request.take(context, event),
                Flow::Transport(flow) => flow.take(context, event),
                Flow::Handle(handle) => handle.take(context, event),
                Flow::Revoking(revoking) => revoking.take(context, event),
                Flow::Over => None,
            },
        }
    }

    /// Returns the bytes that belong to the last step, of a message on HTTP or stdio: those for the SDK where they are others than
    /// came, or for the client.
    #[must_use]
    pub fn text(&mut self) -> Option<String> {
        match &mut self.flow {
            Flow::Transport(flow) => flow.text.take(),
            _ => None,
        }
    }

    /// Gives the body of the HTTP request, for which [`Step::Body`] asks, and returns the next step.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if none was asked for.
    pub fn body(&mut self, body: Body<'_>) -> Result<Step, Error> {
        let Some(Question::Body) = self.asked else {
            return Err(OUT_OF_ORDER);
        };
        let context = &mut self.context;
        let flow = self.flow.transport()?;
        flow.read(context.guard.settings(), body);
        context.message = flow.origin();
        let step = self.advance();
        Ok(self.settle(step))
    }

    /// Takes the beginning of the answer to a delivered HTTP request. Returns whether its body is to go through
    /// [`piece`](Self::piece); otherwise the answer leaves as it is, and [`answered`](Self::answered) ends the exchange all the same.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] unless it was delivered.
    pub fn answer(&mut self, head: &AnswerHead<'_>) -> Result<bool, Error> {
        Ok(self.flow.transport()?.http()?.head(head))
    }

    /// Takes a piece of that body, cut anywhere. Returns what can be sent already.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] unless it was delivered.
    pub fn piece(&mut self, bytes: &[u8]) -> Result<Option<String>, Error> {
        Ok(self.flow.transport()?.http()?.piece(bytes))
    }

    /// Ends that body. The rest of it is the [`text`](Self::text) beside [`Step::Respond`]; [`Step::Reply`] replaces the answer.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] unless it was delivered.
    pub fn answered(&mut self) -> Result<Step, Error> {
        match self.flow.transport()?.http()?.result() {
            Ok(Some(result)) => self.on(Event::Result(HandlerResult {
                whole: Some(&result),
                ..HandlerResult::default()
            })),
            Ok(None) => Ok(self.settle(Step::Respond(Box::default()))),
            Err(why) => self.on(Event::Broke(why.into())),
        }
    }

    /// Begins the exchange of a message on HTTP or stdio.
    pub(crate) fn of_transport(mut context: Context, flow: TransportFlow) -> (Self, Step) {
        context.message = flow.origin();
        Self::begin(context, Flow::Transport(Box::new(flow)))
    }

    /// Makes an exchange whose flow has begun.
    pub(crate) fn with(context: Context, flow: TransportFlow) -> Self {
        Self {
            context,
            flow: Flow::Transport(Box::new(flow)),
            asked: None,
        }
    }

    /// Makes an exchange that is over.
    pub(crate) fn over(context: Context, text: Option<String>) -> Self {
        Self::with(context, TransportFlow::over(text))
    }

    /// Begins a separate exchange for a handler's operation on a handle, a link, or a cursor in its result.
    #[must_use]
    pub fn handle(&self, op: HandleOp<'_>) -> (Self, Step) {
        let request = self.flow.request().ok();
        let page = request.and_then(|request| request.page(&self.context.guard, &op));
        let flow = Flow::Handle(Box::new(HandleFlow::new(op, page)));
        let mut context = self.context.inner();
        let opened = match request {
            Some(request) if !request.may_seal(&context) => context.open_ledger(PAUSE),
            // That of the message has opened it, or could not.
            _ => Ok(()),
        };
        Self::opened_first(context, flow, opened)
    }

    /// Returns the opened `requestState`, while the handler runs; `None` in the first round.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a method without `requestState`, and before and after its
    /// handler.
    pub fn state(&self) -> Result<Option<&str>, Error> {
        self.flow.request()?.state()
    }

    /// Returns the call to run in place of the one that came, while the message is delivered.
    #[must_use]
    pub fn called(&self) -> Option<Called> {
        self.flow.request().ok()?.called()
    }

    /// Returns whether to report the whole result, while the message is delivered.
    #[must_use]
    pub fn reports_whole(&self) -> bool {
        let request = self.flow.request();
        request.is_ok_and(Request::reports_whole)
    }

    /// Seals the next `requestState` for this request and its caller, and returns the token: the
    /// `requestState` of a result with `resultType: "input_required"`, which is sent as it is. Unlike
    /// the value, the token shows nothing wherever it ends up.
    ///
    /// # Errors
    ///
    /// As [`state`](Self::state); [`Error::InvalidArgument`] for invalid JSON, and for arguments that a
    /// state cannot be bound to, in words for the model; [`Error::TooLarge`],
    /// [`Error::EntropyUnavailable`]. The author hears of it, so the engine logs nothing.
    pub fn seal_state(&mut self, json: &str) -> Result<String, Error> {
        self.flow.request_mut()?.seal_state(&self.context, json)
    }

    /// Returns a key for an API that does a thing once for each, such as in `Idempotency-Key`: 32 letters and digits, the same at
    /// every retry of this request. It is of the caller, the request, and the confirmation or the `requestState` that it
    /// carries; without either, the same call again has the same key.
    ///
    /// # Errors
    ///
    /// As [`seal_state`](Self::seal_state).
    pub fn idempotency_key(&self) -> Result<String, Error> {
        self.flow.request()?.idempotency_key(&self.context)
    }

    /// Returns what the last step asked.
    #[cfg(feature = "documents")]
    pub(crate) fn asked(&self) -> Option<Question> {
        self.asked
    }

    /// Returns whether anything was refused, or failed, since the last call of [`refused`](Self::refused).
    #[cfg(feature = "documents")]
    pub(crate) fn was_refused(&self) -> bool {
        !self.context.refused.is_empty()
    }

    #[cfg(feature = "documents")]
    pub(crate) fn has_events(&self) -> bool {
        !self.context.events.is_empty()
    }

    /// Returns the members of the request that carry a token.
    #[cfg(feature = "documents")]
    pub(crate) fn token_fields(&self) -> Option<TokenFields> {
        match &self.flow {
            Flow::Request(request) => request.token_fields(),
            _ => None,
        }
    }

    /// Returns the data-layer session of the request, while the handler runs, if there is one. A
    /// list has none.
    #[must_use]
    pub fn session(&self) -> Option<&Session> {
        self.flow.request().ok()?.session()
    }

    /// Writes the value of the session, as JSON: it is sent with the result. With a ledger, the
    /// result is discarded if another request wrote in the meantime.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] without a session, in a notification, before and after its
    /// handler, if the server holds the value, and for invalid JSON.
    pub fn write(&mut self, json: &str) -> Result<(), Error> {
        self.flow.request_mut()?.write(json)
    }

    /// Forks the session: the new one starts with the written value, or else the opened one, and
    /// this one continues. The new one keeps the start, from which the maximum age counts. Returns
    /// the new metadata, for a result.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write); [`Error::TooLarge`], [`Error::EntropyUnavailable`].
    pub fn fork(&mut self) -> Result<SessionMetadata, Error> {
        self.flow.request()?.fork(&mut self.context)
    }

    /// Returns the value of a handle, as JSON, before it is accepted: an adapter that fails to
    /// convert it must not let it count as used.
    #[must_use]
    pub fn opened(&self) -> Option<&str> {
        match &self.flow {
            Flow::Handle(handle) => handle.opened(),
            _ => None,
        }
    }

    /// Returns the refusals and failures since the last call: for the log, and the author's hook.
    #[must_use]
    pub fn refused(&mut self) -> Vec<Refused<'static>> {
        std::mem::take(&mut self.context.refused)
    }

    /// Returns what happened to tokens since the last call, if
    /// [`GuardBuilder::events`](crate::GuardBuilder::events) asks for it: for the author's hook.
    #[must_use]
    pub fn events(&mut self) -> Vec<TokenEvent> {
        std::mem::take(&mut self.context.events)
    }

    fn advance(&mut self) -> Step {
        let context = &mut self.context;
        match &mut self.flow {
            Flow::Request(request) => request.advance(context),
            Flow::Transport(flow) => flow.advance(context),
            Flow::Handle(handle) => handle.advance(context),
            Flow::Revoking(revoking) => revoking.advance(),
            Flow::Over => Step::Drop,
        }
    }

    /// Refuses a caller without a principal: the authentication in front should have done so.
    fn unidentified(&mut self, reason: Reason) -> Step {
        let context = &mut self.context;
        match &self.flow {
            Flow::Request(request) => request.fail(context, reason),
            Flow::Transport(flow) => flow.fail(context, reason),
            Flow::Handle(handle) => handle.refuse(context, reason),
            Flow::Revoking(_) | Flow::Over => Step::Drop,
        }
    }

    /// Collects the tokens that leave with a result.
    fn sealed(&mut self, respond: &Respond) {
        let context = &mut self.context;
        if let Flow::Request(request) = &self.flow {
            request.sealed(context, respond);
        } else if let Some(session) = &respond.header {
            context.sealed(Item::Session, session, None);
        }
    }

    /// Returns the final form of a step, which may end the exchange. Answers by itself what is known
    /// already, and what there is no time left to ask.
    fn settle(&mut self, mut step: Step) -> Step {
        loop {
            let context = &mut self.context;
            let guard = &context.guard;
            let limit = guard.settings().time_limit;
            let answer = match &mut step {
                Step::Identify => context.given.take().map(Event::Principal),
                Step::Ledger(command) => {
                    // The engine can try it once more.
                    command.within = context.time.wait(guard.now_ms(), limit * 3 / 10);
                    let late = || Event::Ledger(Err(Failed::Late));
                    command.within.is_zero().then(late)
                }
                Step::List(list) => {
                    // What is asked later needs the rest.
                    let half = context.time.left() / 2;
                    list.within = context.time.wait(guard.now_ms(), half);
                    let late = || Event::Listed(Err(Failed::Late));
                    list.within.is_zero().then(late)
                }
                Step::Deliver(deliver) => {
                    deliver.within = context.time.left();
                    None
                }
                _ => None,
            };
            let Some(answer) = answer else { break };
            step = self.take(answer).unwrap_or(Step::Drop);
        }
        // A notification gets no answer.
        if let (Flow::Request(request), Step::Reply(_)) = (&self.flow, &step)
            && request.is_notification()
        {
            step = Step::Drop;
        }
        if let Step::Respond(respond) = &step {
            self.sealed(respond);
        }
        if let Flow::Transport(flow) = &mut self.flow {
            flow.settle(&mut step);
        } else if step.ends() {
            self.flow = Flow::Over;
        }
        self.asked = step.asks();
        step
    }
}

impl Step {
    pub(crate) fn asks(&self) -> Option<Question> {
        match self {
            Self::Identify => Some(Question::Principal),
            Self::Ledger(_) => Some(Question::Ledger),
            Self::Begin => Some(Question::Initial),
            Self::Word(_) => Some(Question::Confirm),
            Self::Elicit(_) => Some(Question::Elicit),
            Self::Body => Some(Question::Body),
            Self::Replay => Some(Question::Replay),
            Self::List(_) => Some(Question::ListTools),
            _ => None,
        }
    }

    pub(crate) fn ends(&self) -> bool {
        matches!(
            self,
            Self::Respond(_) | Self::Reply(_) | Self::Done(_) | Self::Drop | Self::Replayed
        )
    }
}

/// Opened values are not logged.
impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Exchange")
            .field(&self.context.guard)
            .finish()
    }
}
