//! A request or a notification in the guard: its session and its token on the way in, the token and
//! the session of its result on the way out.

mod handler;
mod responding;
mod sessions;
mod transition;

use std::sync::Arc;

use self::responding::{Committing, Outgoing};
use self::sessions::CREATE;
use crate::admission;
use crate::admission::Admission;
use crate::answer::FIELD_LIMIT;
use crate::context::{About, Context};
use crate::input::{ClientValue, Event, Message, OwnedClientValue};
use crate::ledger::Check;
use crate::log::Origin;
use crate::reason::Reason;
use crate::session::Session;
use crate::settings::SessionSettings;
use crate::step::{Deliver, Item, OUT_OF_ORDER, Reply, Report, Step};
use crate::token_fields::TokenFields;
use sealwax::{Error, Kind, Opened, RequestContext, View};

pub(super) struct Request {
    method: Arc<str>,
    target: Option<Arc<str>>,
    arguments: Option<String>,
    notification: bool,
    modern: bool,
    header: Option<String>,
    fields: Option<TokenFields>,
    token: OwnedClientValue,
    client_session: Option<(OwnedClientValue, OwnedClientValue)>,
    phase: Phase,
    /// The opened `requestState`.
    state: Option<String>,
    /// The context that it is bound to, and the next one too.
    bound: Option<RequestContext>,
    session: Option<Session>,
    /// The tokens that the handler sealed, one of which its result may hold.
    sealed: Vec<String>,
}

enum Phase {
    /// Not checked yet.
    Entering,
    /// The author's opener is asked about its token; these others it has too.
    Transition {
        tokens: Vec<admission::Token>,
        then: Box<Deliver>,
    },
    /// Its tokens are being judged; then this is delivered.
    Admission {
        admission: Admission,
        then: Box<Deliver>,
    },
    /// The author is asked for the first value of a session.
    Beginning,
    /// The handler runs.
    Delivered,
    /// The handler has run; the caller may still be unknown.
    Responding(Outgoing),
    /// The ledger is asked to commit the new state.
    Committing(Box<Committing>),
    /// The author is asked to update another request's state.
    Updating(Outgoing),
}

impl Request {
    pub fn new(message: Message<'_>) -> Self {
        let fields = TokenFields::for_method(message.method).filter(|_| !message.notification);
        let session = message.session;
        Self {
            method: message.method.into(),
            target: message.target.map(Into::into),
            arguments: message.arguments.map(Into::into),
            notification: message.notification,
            modern: message.modern,
            header: message.header.map(Into::into),
            fields,
            token: message.token.owned(),
            client_session: session.map(|sent| (sent.id.owned(), sent.state.owned())),
            phase: Phase::Entering,
            state: None,
            bound: None,
            session: None,
            sealed: Vec::new(),
        }
    }

    /// Returns the message, for the log.
    pub fn origin(&self) -> Origin {
        Origin::new(Some(self.method.clone()), self.target.clone())
    }

    #[cfg(feature = "documents")]
    pub fn token_fields(&self) -> Option<TokenFields> {
        self.fields
    }

    #[inline(never)]
    pub fn advance(&mut self, context: &mut Context) -> Step {
        let guard = context.guard.clone();
        let step = match &self.phase {
            Phase::Entering => match &guard.settings().sessions {
                Some(sessions) => self.enter_sessions(context, sessions),
                None => self.enter(context, None),
            },
            Phase::Responding(..) => self.respond(context),
            _ => Ok(Step::Drop),
        };
        step.unwrap_or_else(|step| step)
    }

    #[inline(never)]
    pub fn take(&mut self, context: &mut Context, event: Event<'_>) -> Option<Step> {
        let phase = std::mem::replace(&mut self.phase, Phase::Entering);
        match (phase, event) {
            (
                Phase::Admission {
                    mut admission,
                    then,
                },
                event,
            ) => {
                let admitted = admission.take(context, event);
                let Some(admitted) = admitted else {
                    self.phase = Phase::Admission { admission, then };
                    return None;
                };
                Some(self.admitted(context, admission, then, admitted))
            }
            (Phase::Transition { tokens, then }, Event::Transition(opened)) => {
                Some(self.opened_elsewhere(context, tokens, *then, opened))
            }
            (Phase::Beginning, Event::Begun(first)) => {
                let first = first.map_err(|failed| Error::argument(failed.0));
                let created = first.and_then(|first| self.create(context, first));
                Some(self.created(context, created))
            }
            (Phase::Delivered, Event::Result(result)) => {
                self.phase = Phase::Responding(Outgoing::new(&result, 0));
                Some(self.advance(context))
            }
            (Phase::Committing(committing), Event::Ledger(reply)) => {
                Some(self.committed(context, *committing, reply))
            }
            (Phase::Updating(outgoing), Event::Updated(updated)) => {
                Some(self.updated(context, outgoing, updated))
            }
            (phase, _) => {
                self.phase = phase;
                None
            }
        }
    }

    /// Returns whether its handler may make a token that the ledger judges later. A list makes its
    /// cursor with the result.
    pub fn may_seal(&self, context: &Context) -> bool {
        let fields = self.fields.map(|fields| fields.kind);
        fields == Some(Kind::RequestState) || context.guard.settings().sessions.is_some()
    }

    pub fn is_notification(&self) -> bool {
        self.notification
    }

    /// Refuses: the caller could not be identified.
    pub fn fail(&self, context: &mut Context, reason: Reason) -> Step {
        let item = match (&self.client_session, self.fields) {
            (None, Some(fields)) if *self.method != *CREATE => item(fields),
            _ => Item::Session,
        };
        context.reply(reason, About::new(item))
    }
}

/// The token of a request.
impl Request {
    fn enter(
        &mut self,
        context: &mut Context,
        sessions: Option<&SessionSettings>,
    ) -> Result<Step, Step> {
        let mut deliver = Deliver {
            report: self.report(sessions),
            ..Deliver::default()
        };
        let mut tokens = Vec::new();
        if let (Some(session), Some(view), Some((_, state))) =
            (&self.session, context.known(), &self.client_session)
        {
            tokens.push(session.token(&view, state.borrowed()));
        }
        let has_token = !self.token.is_absent();
        // A handler that may write a state must not run without a caller.
        if let Some(fields) = self.fields
            && (has_token || fields.needs_caller())
        {
            let view = context.view()?;
            // A handler must not run if the state that it may write could not be sealed. What names no
            // target is no call, and the SDK says so.
            if fields.kind == Kind::RequestState && (has_token || self.target.is_some()) {
                match self.binding(context, fields) {
                    Ok(bound) => self.bound = Some(bound),
                    Err(error) => {
                        let reason = Reason::InvalidRequest(error);
                        return Ok(self.refuse_token(context, fields, reason));
                    }
                }
            }
            if has_token {
                if let Some(token) = self.foreign(context, fields) {
                    let then = Box::new(deliver);
                    self.phase = Phase::Transition { tokens, then };
                    return Ok(token);
                }
                match self.open(context, fields, &view) {
                    Ok((text, token)) => {
                        deliver.opened = Some(text);
                        tokens.push(token);
                    }
                    Err(error) => return Ok(self.refuse_token(context, fields, error.into())),
                }
            }
        }
        Ok(self.admit(context, tokens, deliver))
    }

    /// Delivers a message once all its tokens are accepted.
    fn admit(
        &mut self,
        context: &mut Context,
        tokens: Vec<admission::Token>,
        then: Deliver,
    ) -> Step {
        let mut admission = Admission::new(tokens);
        let admitted = admission.step(context);
        self.admitted(context, admission, Box::new(then), admitted)
    }

    fn admitted(
        &mut self,
        context: &mut Context,
        admission: Admission,
        then: Box<Deliver>,
        admitted: Result<Option<Step>, admission::RefusedAt>,
    ) -> Step {
        match admitted {
            Ok(Some(step)) => {
                self.phase = Phase::Admission { admission, then };
                step
            }
            Ok(None) => self.deliver(*then),
            Err((_, Reason::Stale(latest))) => self.stale(context, false, &latest),
            Err((at, reason)) => self.refuse(context, at, reason),
        }
    }

    fn report(&self, sessions: Option<&SessionSettings>) -> Report {
        if self.notification {
            return Report::Never;
        }
        let declares = sessions.is_some() && declares(&self.method);
        match self.fields {
            _ if self.session.is_some() || declares => Report::Always,
            Some(fields) => Report::Member(fields.result),
            None => Report::Never,
        }
    }

    /// Returns the opened value, and the question about its token.
    fn open(
        &self,
        context: &Context,
        fields: TokenFields,
        view: &Arc<View>,
    ) -> Result<(String, admission::Token), Error> {
        let ClientValue::Text(token) = self.token.borrowed() else {
            return Err(Error::Malformed("a token that is a text"));
        };
        if fields.kind == Kind::RequestState {
            let bound = self.bound.as_ref().ok_or(OUT_OF_ORDER)?;
            let opened = view.request_state(bound).open(token)?;
            return read(Item::RequestState, opened, Some(once(context)));
        }
        let method = &*self.method;
        if method.len() > FIELD_LIMIT {
            // Only a client can have made up such a name: it is no mistake of the server's.
            return Err(Error::Malformed("a cursor of a method that the server has"));
        }
        match view.cursor(method).open(token) {
            // A cursor of a public page, which a cache may have handed to any user.
            Err(Error::PrincipalMismatch) => {
                let public = context.guard.public()?;
                let opened = public.cursor(method).open(token)?;
                let (text, mut token) = read(Item::Cursor, opened, None)?;
                token.presented.public = true;
                Ok((text, token))
            }
            // What an anonymous caller has belongs to nobody either, and cannot be told from it.
            opened if context.is_anonymous() => read(Item::Cursor, opened?, None),
            opened => read(Item::Cursor, opened?, Some(Check::Live)),
        }
    }

    fn deliver(&mut self, deliver: Deliver) -> Step {
        if let Some(fields) = self.fields
            && fields.kind == Kind::RequestState
        {
            self.state.clone_from(&deliver.opened);
        }
        self.phase = Phase::Delivered;
        Step::Deliver(Box::new(deliver))
    }

    /// Returns the context that this request's `requestState` is bound to.
    fn binding(&self, context: &Context, fields: TokenFields) -> Result<RequestContext, Error> {
        let target = self.target.as_deref();
        let target = target.ok_or(Error::Malformed("a request whose target is a text"))?;
        // Resources have no arguments.
        let arguments = self.arguments.as_deref();
        let arguments = arguments.filter(|_| fields.target == Some("name"));
        let only = &context.guard.settings().only;
        match only.iter().find(|(named, _)| named == target) {
            Some((_, names)) if fields.target == Some("name") => {
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                RequestContext::only(&self.method, target, arguments, &names)
            }
            _ => RequestContext::new(&self.method, target, arguments),
        }
    }

    fn refuse_token(&self, context: &mut Context, fields: TokenFields, reason: Reason) -> Step {
        let about = About {
            token: self.token.borrowed().text(),
            ..About::new(item(fields))
        };
        context.reply(reason, about)
    }

    /// Refuses by the index of the refused token: the session comes first, then the carried token.
    fn refuse(&self, context: &mut Context, at: usize, reason: Reason) -> Step {
        let tokens_before = usize::from(self.session.is_some());
        match self.fields {
            Some(fields) if !self.token.is_absent() && at >= tokens_before => {
                self.refuse_token(context, fields, reason)
            }
            _ => self.refuse_session(context, reason),
        }
    }
}

const NO_SESSION: Error = Error::InvalidArgument(std::borrow::Cow::Borrowed(
    "session: expected a request with a session, before its answer is sent",
));

/// Returns what the ledger is asked about a `requestState`.
fn once(context: &Context) -> Check {
    match context.ledger() {
        Some((ledger, _)) if ledger.settings.reusable_request_state => Check::Live,
        _ => Check::Once,
    }
}

fn read<K>(
    item: Item,
    opened: Opened<K>,
    check: Option<Check>,
) -> Result<(String, admission::Token), Error> {
    let token = admission::Token::new(item, &opened, check);
    let text = String::from_utf8(opened.into_payload());
    let text = text.map_err(|_| Error::Malformed("a payload that is UTF-8"))?;
    Ok((text, token))
}

fn item(fields: TokenFields) -> Item {
    match fields.kind {
        Kind::RequestState => Item::RequestState,
        _ => Item::Cursor,
    }
}

fn declares(method: &str) -> bool {
    matches!(method, "initialize" | "server/discover")
}

fn reply(code: i32, message: &'static str) -> Step {
    Step::Reply(Reply::error(code, message))
}
