//! Sessions of the transport: `Mcp-Session-Id` of the revisions up to 2025-11-25 without a store,
//! and SEP-1359. The session is a token that holds the negotiated values.

mod negotiated;
mod refusals;

use std::time::Duration;

use self::negotiated::{Initialized, Params, negotiated, open, seal};
use crate::exchange::admission::{Admission, RefusedAt};
use crate::guard::Settings;
use crate::ledger::Check;
use crate::ledger::LARGEST_CLOCK_TOLERANCE;
use crate::message::context::{About, Context};
use crate::message::input::{ClientValue, Event, HandlerResult, Outcome, OwnedClientValue};
use crate::message::text::token_id;
use crate::message::token::Token;
use crate::reply::log::Origin;
use crate::reply::reason::Reason;
use crate::reply::step::{Deliver, Item, OUT_OF_ORDER, Reply, Report, Respond, Step};
use crate::wire::{Body, Came, Carrier, Http, IN_USE, Mistake, Nothing, Unread};
use sealwax::{Error, Kind};

/// The methods of HTTP that the protocol has. Any other is for the server around it, such as the
/// `OPTIONS` with which a browser asks first.
const METHODS: [&str; 3] = ["POST", "GET", "DELETE"];
const TERMINATE: &str = "session/terminate";
const UNKNOWN: Unread = Unread::Unclear("a message that the SDK reads");
const UNREAD: Unread =
    Unread::Unclear("a message of well-formed Unicode, and of at most 128 levels");

/// A message on HTTP or stdio.
pub(super) struct TransportFlow {
    /// The method of an HTTP request; `None` on stdio. Any other than `POST`, `GET` and `DELETE` is delivered without a check.
    http: Option<String>,
    /// The HTTP header `MCP-Protocol-Version`.
    version: Option<String>,
    /// The HTTP header `Mcp-Session-Id`.
    header: OwnedClientValue,
    came: Came,
    /// Whether it is of revision 2026-07-28 or later.
    modern: bool,
    phase: Phase,
    carrier: Box<dyn Carrier>,
    mistake: Option<Mistake>,
    /// The bytes that belong to the last step.
    pub text: Option<String>,
}

enum Phase {
    /// Its body is not there yet.
    Reading,
    Entering,
    /// Its token is being judged; then this follows.
    Admission(Admission, Then),
    /// The SDK has it.
    Delivered,
    /// The SDK is told what was negotiated, before the message.
    Replaying(Box<Deliver>),
    /// These values were negotiated; the caller may still be unknown.
    Responding(String),
    /// It has been answered.
    Over,
}

/// The continuation after a token is accepted.
enum Then {
    Deliver(Box<Deliver>),
    /// The session has ended, at the request of its principal.
    Ended,
    /// The session has ended, because another principal presented it.
    EndedForAnother,
}

impl TransportFlow {
    pub fn new(came: Came, modern: bool, carrier: Box<dyn Carrier>) -> Self {
        Self {
            http: None,
            version: None,
            header: OwnedClientValue::Absent,
            came,
            modern,
            phase: Phase::Entering,
            carrier,
            mistake: None,
            text: None,
        }
    }

    /// Takes the head of an HTTP request.
    pub fn over_http(
        mut self,
        method: &str,
        version: Option<&str>,
        header: ClientValue<'_>,
    ) -> Self {
        self.http = Some(method.into());
        self.version = version.map(Into::into);
        self.header = header.owned();
        self
    }

    /// Begins with the body, which is not there yet.
    pub fn reading(mut self) -> Self {
        self.phase = Phase::Reading;
        self
    }

    /// Makes one that is over.
    pub fn over(text: Option<String>) -> Self {
        Self {
            phase: Phase::Over,
            text,
            ..Self::new(Came::default(), false, Box::new(Nothing))
        }
    }

    /// Makes that of a message at the SDK's handlers that is none.
    pub fn invalid(id_in_use: bool) -> Self {
        let unread = if id_in_use { IN_USE } else { UNREAD };
        Self::new(Came::default(), false, Box::new(Nothing)).mistaken(Some(unread.into()))
    }

    pub fn mistaken(mut self, mistake: Option<Mistake>) -> Self {
        self.mistake = mistake;
        self
    }

    /// Begins with the answer.
    pub fn delivered(mut self) -> Self {
        self.phase = Phase::Delivered;
        self
    }

    /// Returns the message, for the log.
    pub fn origin(&self) -> Origin {
        let text = |text: &Option<String>| text.as_deref().map(Into::into);
        Origin::new(text(&self.came.method), text(&self.came.target))
    }

    pub fn http(&mut self) -> Result<&mut Http, Error> {
        let http = match self.phase {
            Phase::Delivered => self.carrier.http(),
            _ => None,
        };
        http.ok_or(OUT_OF_ORDER)
    }

    /// Reads the body.
    pub fn read(&mut self, settings: &Settings, body: Body<'_>) {
        if let Some(http) = self.carrier.http() {
            match http.read(body, &settings.transport) {
                Ok((came, modern)) => (self.came, self.modern) = (came, modern),
                Err(mistake) => self.mistake = Some(mistake),
            }
        }
        self.phase = Phase::Entering;
    }

    /// Gives a step the status that it has over HTTP, where everything is answered, and makes the bytes that belong to it.
    #[inline(never)]
    pub fn settle(&mut self, step: &mut Step) {
        match step {
            Step::Drop if self.http.is_some() => {
                *step = Step::Reply(Reply {
                    status: Some(202),
                    ..Reply::default()
                });
            }
            Step::Reply(reply) if self.http.is_some() => {
                reply.status = reply.status.or(Some(200));
            }
            _ => {}
        }
        // That of `replay` is there already.
        if !matches!(step, Step::Replay) {
            self.text = self.carrier.text(step);
        }
        if step.ends() {
            self.phase = Phase::Over;
        }
    }

    #[inline(never)]
    pub fn advance(&mut self, context: &mut Context) -> Step {
        let step = match &self.phase {
            Phase::Reading => Ok(Step::Body),
            Phase::Responding(_) => self.respond(context),
            Phase::Over => Ok(Step::Drop),
            _ => self.enter(context),
        };
        step.unwrap_or_else(|step| step)
    }

    #[inline(never)]
    pub fn take(&mut self, context: &mut Context, event: Event<'_>) -> Option<Step> {
        let phase = std::mem::replace(&mut self.phase, Phase::Entering);
        match (phase, event) {
            (Phase::Admission(mut admission, then), event) => {
                let admitted = admission.take(context, event);
                let Some(admitted) = admitted else {
                    self.phase = Phase::Admission(admission, then);
                    return None;
                };
                Some(self.admitted(context, admission, then, admitted))
            }
            (Phase::Delivered, Event::Result(result)) => Some(self.initialized(context, &result)),
            (Phase::Replaying(deliver), Event::Replayed(answer)) => {
                Some(self.replayed(context, *deliver, answer.ok()))
            }
            (Phase::Delivered, Event::Replayed(Err(_))) => Some(self.not_resumed(context)),
            (Phase::Over, _) => {
                self.phase = Phase::Over;
                None
            }
            (_, Event::Broke(why)) if self.http.is_some() => {
                let broke = Error::argument(why);
                Some(self.not_begun(context, broke.into()))
            }
            (_, Event::Broke(_)) => Some(match self.is_request() {
                true => self.mistake(context, UNKNOWN.into()),
                false => Step::Drop,
            }),
            (phase, _) => {
                self.phase = phase;
                None
            }
        }
    }

    /// Refuses: the caller could not be identified.
    pub fn fail(&self, context: &mut Context, reason: Reason) -> Step {
        match (&self.phase, reason) {
            (_, Reason::Unauthenticated) => self.unauthenticated(context),
            (Phase::Responding(_), reason) => self.not_begun(context, reason),
            (_, reason) => self.refuse(context, reason),
        }
    }
}

/// The request.
impl TransportFlow {
    fn enter(&mut self, context: &mut Context) -> Result<Step, Step> {
        let settings = context.guard.settings();
        let (transport, remembers) = (settings.transport, settings.ledger.is_some());
        if let Some(mistake) = self.mistake {
            return Ok(self.mistake(context, mistake));
        }
        if self.modern || self.came.method.as_deref() == Some("initialize") {
            let report = match self.came.method.as_deref() {
                Some("initialize") => Report::Always,
                Some("server/discover") if self.declares(context) => Report::Always,
                _ => Report::Never,
            };
            return Ok(self.deliver(Deliver {
                report,
                ..Deliver::default()
            }));
        }
        if self
            .http
            .as_deref()
            .is_some_and(|http| !METHODS.contains(&http))
        {
            return Ok(self.deliver(Deliver::default()));
        }
        let terminates = transport.sep1359 && self.came.method.as_deref() == Some(TERMINATE);
        let ends = self.deletes() || terminates;
        if ends && !remembers {
            return Ok(self.not_offered());
        }
        let token = match (self.header.borrowed(), self.came.session_id.borrowed()) {
            (ClientValue::Absent, ClientValue::Absent) => {
                let needed = self.deletes() || (transport.required && self.http.is_some());
                return Ok(if needed {
                    self.bad_request(context, "a session", "Bad Request: expected Mcp-Session-Id")
                } else {
                    self.deliver(Deliver::default())
                });
            }
            (ClientValue::Absent, message_session_id) => message_session_id,
            (header, ClientValue::Absent) => header,
            (header, message_session_id) if header == message_session_id => header,
            _ => {
                let message = "Bad Request: expected Mcp-Session-Id and sessionId to be one";
                return Ok(self.bad_request(context, "one session in header and message", message));
            }
        };
        if terminates && self.came.is_notification {
            let message = "Bad Request: expected session/terminate to have an id";
            return Ok(self.bad_request(context, "session/terminate as a request", message));
        }
        let view = context.view()?;
        let (negotiated, opened) = match open(&view, token) {
            Ok(opened) => opened,
            Err(Error::PrincipalMismatch) if transport.sep1359 && remembers => {
                let id = token.text().and_then(token_id);
                return Ok(self.end_for_another(context, id));
            }
            Err(error) if !ends && self.is_served_without(context, &error) => {
                return Ok(self.deliver(Deliver::default()));
            }
            Err(error) => return Ok(self.refuse(context, error.into())),
        };
        let version = self.version.as_deref();
        if version.is_some_and(|version| version != negotiated.protocol_version) {
            let message = "Bad Request: expected MCP-Protocol-Version to be what was negotiated";
            return Ok(self.bad_request(context, "the negotiated version", message));
        }
        let then = Deliver {
            id: Some(opened.id.clone()),
            expires_at: negotiated.expires_at,
            version: version.is_none().then_some(negotiated.protocol_version),
            negotiated: Some(negotiated.json),
            add_session_id: self.came.session_id.borrowed().text().map(Into::into),
            ..Deliver::default()
        };
        let (check, then) = match transport.idle {
            _ if ends => (Check::End, Then::Ended),
            Some(idle) => (Check::Idle(idle), Then::Deliver(then.into())),
            None => (Check::Live, Then::Deliver(then.into())),
        };
        let admission = Admission::of_transport(Token {
            check: Some(check),
            ..opened
        });
        Ok(self.admit(context, admission, then))
    }

    fn admit(&mut self, context: &mut Context, mut admission: Admission, then: Then) -> Step {
        let admitted = admission.step(context);
        self.admitted(context, admission, then, admitted)
    }

    fn admitted(
        &mut self,
        context: &mut Context,
        admission: Admission,
        then: Then,
        admitted: Result<Option<Step>, RefusedAt>,
    ) -> Step {
        match (admitted, then) {
            (Ok(Some(step)), then) => {
                self.phase = Phase::Admission(admission, then);
                step
            }
            (Ok(None), Then::Deliver(deliver)) => self.resume(context, deliver),
            (Ok(None), Then::Ended) => Step::Reply(Reply {
                status: self.deletes().then_some(204),
                done: !self.deletes(),
                ..Reply::default()
            }),
            (Err((_, reason)), Then::EndedForAnother) if !reason.is_refusal() => {
                self.refuse(context, reason)
            }
            (_, Then::EndedForAnother) => self.refuse(context, Error::PrincipalMismatch.into()),
            (Err((_, reason)), _) => self.refuse(context, reason),
        }
    }

    /// Delivers a message of a session, of which the SDK may have to be told.
    fn resume(&mut self, context: &mut Context, deliver: Box<Deliver>) -> Step {
        let negotiated = deliver.negotiated.as_deref();
        let line = self.carrier.line().filter(|line| line.needs_replay());
        let (Some(negotiated), Some(line)) = (negotiated, line) else {
            return self.deliver(*deliver);
        };
        match context.draw() {
            Ok(random) => self.text = Some(line.replay(negotiated, random)),
            Err(error) => return self.refuse(context, error.into()),
        }
        self.phase = Phase::Replaying(deliver);
        Step::Replay
    }

    fn replayed(&mut self, context: &mut Context, deliver: Deliver, answer: Option<&str>) -> Step {
        let negotiated = deliver.negotiated.as_deref().unwrap_or_default();
        let line = self.carrier.line();
        match line.is_some_and(|line| line.replayed(negotiated, answer)) {
            true => self.deliver(deliver),
            false => self.not_resumed(context),
        }
    }

    fn deliver(&mut self, deliver: Deliver) -> Step {
        self.phase = Phase::Delivered;
        Step::Deliver(Box::new(deliver))
    }

    /// Ends a session because another principal presented it, as SEP-1359 requires. If its
    /// principal is readable, the token is authentic.
    fn end_for_another(&mut self, context: &mut Context, id: Option<String>) -> Step {
        let Some(id) = id else {
            return self.refuse(context, Error::PrincipalMismatch.into());
        };
        // The token's times are sealed for its own principal, so it may have begun just now, by a
        // clock that is ahead.
        let now = context.guard.now();
        let token = Token {
            item: Item::Session,
            id,
            key_id: None,
            check: Some(Check::Force),
            issued_at: 0,
            started_at: now.saturating_add(LARGEST_CLOCK_TOLERANCE),
            until: None,
        };
        let admission = Admission::of_transport(token);
        self.admit(context, admission, Then::EndedForAnother)
    }

    fn deletes(&self) -> bool {
        self.http.as_deref() == Some("DELETE")
    }

    fn declares(&self, context: &Context) -> bool {
        let settings = context.guard.settings();
        settings.transport.declares && settings.sessions.is_some()
    }
}

/// The result.
impl TransportFlow {
    fn initialized(&mut self, context: &mut Context, result: &HandlerResult<'_>) -> Step {
        let respond = Respond {
            declare: self.declares(context),
            ..Respond::default()
        };
        let begins = self.http.is_some() || context.guard.settings().transport.sep1359;
        let is_begun = self.came.method.as_deref() == Some("initialize") && begins;
        if !is_begun || result.outcome == Outcome::Error {
            return Step::Respond(Box::new(respond));
        }
        let params = match Params::read(self.came.initialize.as_deref()) {
            Ok(params) => params,
            Err(error) => return self.bad_message(context, error, -32602, "Invalid params"),
        };
        let negotiated = match Initialized::read(result.whole) {
            Ok(result) => negotiated(&params, &result),
            Err(error) => return self.not_begun(context, Reason::Unsealed(error)),
        };
        self.phase = Phase::Responding(negotiated);
        self.advance(context)
    }

    fn respond(&self, context: &mut Context) -> Result<Step, Step> {
        let Phase::Responding(negotiated) = &self.phase else {
            return Ok(Step::Drop);
        };
        let view = context.view()?;
        let transport = context.guard.settings().transport;
        let header = match seal(&view, negotiated, transport.ttl) {
            Ok(token) => Some(token),
            // Whoever declares much is served without a session where none is required.
            Err(error @ Error::TooLarge { .. }) if !transport.required => {
                context.refuse(Reason::Unsealed(error), About::new(Item::Session));
                None
            }
            Err(error) => return Ok(self.not_begun(context, Reason::Unsealed(error))),
        };
        let timeout = header.is_some() && transport.sep1359;
        Ok(Step::Respond(Box::new(Respond {
            header,
            timeout: timeout.then(|| life(context).as_secs()),
            declare: self.declares(context),
            ..Respond::default()
        })))
    }

    fn not_begun(&self, context: &mut Context, reason: Reason) -> Step {
        let answer = context.refuse(reason, About::new(Item::Session));
        self.with_status(500, answer.into())
    }
}

/// Returns the lifetime of a session: never renewed, it ends by its own lifetime or the codec's
/// limit, whichever is first.
fn life(context: &Context) -> Duration {
    let settings = context.guard.settings();
    let own = Duration::from_secs(Kind::Session.default_ttl().into());
    let limit = settings.codec.session_max_age();
    settings.transport.ttl.unwrap_or(own).min(limit)
}
