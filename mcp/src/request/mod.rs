//! A request or a notification in the guard: its session and its token on the way in, the token and
//! the session of its result on the way out.

pub(crate) mod handle;
pub(crate) mod session;

mod confirming;
mod handler;
mod link;
mod listing;
pub(crate) mod page;
mod responding;
mod sessions;
mod showing;

use std::sync::Arc;

use self::confirming::Confirmation;
use self::responding::{Committing, Outgoing};
use self::sessions::CREATE;
use self::showing::Shown;
use crate::exchange::admission;
use crate::exchange::admission::Admission;
use crate::ledger::Check;
use crate::message::context::{About, Context};
use crate::message::input::{ClientValue, Event, Message, OwnedClientValue};
use crate::message::token::Token;
use crate::message::token_fields::TokenFields;
use crate::reply::answer::{Answer, FIELD_LIMIT};
use crate::reply::log::Origin;
use crate::reply::reason::Reason;
use crate::reply::step::{Deliver, Item, Reply, Report, Step};
use crate::request::session::Session;
use crate::settings::SessionSettings;
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
    /// What its token opened to.
    opened: Option<String>,
    /// The context that an opened `requestState` is bound to, and the next one too.
    bound: Option<RequestContext>,
    /// Whether that token may be anybody's: the cursor of a public page.
    public: bool,
    session: Option<Session>,
    /// Of a tool that is confirmed.
    confirmation: Option<Box<Confirmation>>,
    /// What it shows of confirmations.
    shown: Option<Box<Shown>>,
    /// The tokens that the handler sealed, one of which its result may hold.
    sealed: Vec<String>,
}

enum Phase {
    /// Not checked yet.
    Entering,
    /// Its tokens are being judged; then this is delivered.
    Admission {
        admission: Admission,
        then: Box<Deliver>,
    },
    /// The author is asked for the first value of a session.
    Beginning,
    /// The author is asked for the question of a confirmation.
    Wording,
    /// The server is asked for its list of tools.
    Listing,
    /// The user is asked, since this time in Unix milliseconds.
    Asking { at: u64 },
    /// The handler runs.
    Delivered,
    /// The handler has run; the caller may still be unknown.
    Responding(Outgoing),
    /// The ledger is asked to commit the new state.
    Committing(Box<Committing>),
}

impl Request {
    pub fn new(message: Message<'_>) -> Self {
        let fields = TokenFields::for_method(message.method);
        // Its name tells it too; without one it is a request.
        let is_named = fields.is_none() && !message.method.is_empty();
        let notification = message.notification || is_named;
        let fields = fields.filter(|_| !notification);
        let session = message.session;
        Self {
            method: message.method.into(),
            target: message.target.map(Into::into),
            arguments: message.arguments.map(Into::into),
            notification,
            modern: message.modern,
            header: message.header.map(Into::into),
            fields,
            token: message.token.owned(),
            client_session: session.map(|sent| (sent.id.owned(), sent.state.owned())),
            phase: Phase::Entering,
            opened: None,
            bound: None,
            public: false,
            session: None,
            confirmation: None,
            shown: None,
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
            (Phase::Beginning, Event::Begun(first)) => {
                let first = first.map_err(|failed| Error::argument(failed.says("initial")));
                let created = first.and_then(|first| self.create(context, first));
                Some(self.created(context, created))
            }
            (Phase::Wording, Event::Worded(words)) => Some(self.worded(context, words)),
            (Phase::Listing, Event::Listed(page)) => Some(self.listed(context, page)),
            (Phase::Asking { at }, Event::Elicited(answer)) => {
                Some(self.elicited(context, at, answer))
            }
            (Phase::Delivered, Event::Result(result)) => {
                if let Some(shown) = &mut self.shown {
                    shown.take(&result);
                }
                self.phase = Phase::Responding(Outgoing::new(&result));
                Some(self.advance(context))
            }
            (Phase::Committing(committing), Event::Ledger(reply)) => {
                Some(self.committed(context, *committing, reply))
            }
            (phase, _) => {
                self.phase = phase;
                None
            }
        }
    }

    /// Returns whether its handler may make a token that the ledger judges later. A list makes its
    /// cursor with the result, and opens the ledger for a handle then.
    pub fn may_seal(&self, context: &Context) -> bool {
        let (fields, settings) = (
            self.fields.map(|fields| fields.kind),
            context.guard.settings(),
        );
        settings.mints_at_once || settings.sessions.is_some() || fields == Some(Kind::RequestState)
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
        if let Some(shown) = &mut self.shown {
            if let Some(page) = shown.page() {
                return Ok(page);
            }
            deliver.report = Report::Always;
        }
        if self.notification && self.confirmation.is_some() {
            // Nobody can be asked, and no SDK runs a tool for one.
            return Ok(Step::Drop);
        }
        let mut tokens = Vec::new();
        if let (Some(session), Some((_, state))) = (&self.session, &self.client_session) {
            tokens.push(session.token(state.borrowed()));
        }
        let has_token = !self.token.is_absent();
        // A handler that may write a state must not run without a caller.
        if let Some(fields) = self.fields
            && (has_token || fields.needs_caller())
        {
            let view = context.view()?;
            if self.confirmation.is_some() && self.is_confirmed(context, fields, &view)? {
                deliver.opened = self.confirm(context, fields, &view, &mut tokens)?;
            } else if has_token {
                match self.open(context, fields, &view) {
                    Ok((text, token)) => {
                        deliver.opened = Some(text);
                        tokens.push(token);
                    }
                    Err(reason) => return Ok(self.refuse_token(context, fields, reason)),
                }
            }
        }
        Ok(self.admit(context, tokens, deliver))
    }

    /// Delivers a message once all its tokens are accepted.
    fn admit(&mut self, context: &mut Context, tokens: Vec<Token>, then: Deliver) -> Step {
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
        &mut self,
        context: &Context,
        fields: TokenFields,
        view: &Arc<View>,
    ) -> Result<(String, Token), Reason> {
        if fields.kind == Kind::RequestState {
            let bound = self.binding(context, fields)?;
            self.bound = Some(bound);
            let opened = view
                .request_state(&bound)
                .open(text(self.token.borrowed())?)?;
            return Ok(read(Item::RequestState, opened, Some(once(context)))?);
        }
        let token = text(self.token.borrowed())?;
        let method = &*self.method;
        if method.len() > FIELD_LIMIT {
            // Only a client can have made up such a name: it is no mistake of the server's.
            return Err(Error::Malformed("a cursor of a method that the server has").into());
        }
        match view.cursor(method).open(token) {
            // A cursor of a public page, which a cache may have handed to any user.
            Err(Error::PrincipalMismatch) => {
                let public = context.guard.public()?;
                let opened = public.cursor(method).open(token)?;
                self.public = true;
                Ok(read(Item::Cursor, opened, None)?)
            }
            // What an anonymous caller has belongs to nobody either, and cannot be told from it.
            opened if context.is_anonymous() => Ok(read(Item::Cursor, opened?, None)?),
            opened => Ok(read(Item::Cursor, opened?, Some(Check::Live))?),
        }
    }

    fn deliver(&mut self, deliver: Deliver) -> Step {
        self.opened.clone_from(&deliver.opened);
        self.phase = Phase::Delivered;
        Step::Deliver(Box::new(deliver))
    }

    /// Returns the context that this request's `requestState` is bound to. It is computed only where
    /// there is one: what cannot be bound is none of the guard's concern before.
    fn binding(&self, context: &Context, fields: TokenFields) -> Result<RequestContext, Reason> {
        let target = self.target.as_deref();
        let target = target.ok_or(Error::Malformed("a request whose target is a text"));
        let target = target.map_err(Reason::InvalidRequest)?;
        // Resources have no arguments. No arguments are the same call as none of them: clients and
        // gateways turn one into the other between two rounds.
        let arguments = self.arguments.as_deref();
        let arguments = arguments.filter(|_| fields.target == Some("name"));
        let arguments = arguments.filter(|arguments| !is_empty_object(arguments));
        let only = &context.guard.settings().only;
        let bound = match only.iter().find(|(named, _)| named == target) {
            Some((_, names)) if fields.target == Some("name") => {
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                RequestContext::only(&self.method, target, arguments, &names)
            }
            _ => RequestContext::new(&self.method, target, arguments),
        };
        bound.map_err(Reason::InvalidRequest)
    }

    #[inline(never)]
    fn refuse_token(&self, context: &mut Context, fields: TokenFields, reason: Reason) -> Step {
        let about = About {
            token: self.token.borrowed().text(),
            ..About::new(item(fields))
        };
        self.reply(context, reason, about)
    }

    fn reply(&self, context: &mut Context, reason: Reason, about: About<'_>) -> Step {
        match &reason {
            // A model that hears which argument it is can send it otherwise.
            Reason::InvalidRequest(error)
                if &*self.method == "tools/call" && self.target.is_some() =>
            {
                let answer = Answer::invalid_arguments(error, self.modern);
                context.refuse(reason, about);
                Step::Reply(answer.into())
            }
            _ => context.reply(reason, about),
        }
    }

    /// Refuses by the index of the refused token: the session comes first, then the carried token.
    fn refuse(&self, context: &mut Context, at: usize, reason: Reason) -> Step {
        let tokens_before = usize::from(self.session.is_some());
        if at >= tokens_before && self.is_agreed() {
            return self.no_consent(context, reason);
        }
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

fn text(token: ClientValue<'_>) -> Result<&str, Error> {
    let text = token.text();
    text.ok_or(Error::Malformed("a token that is a text"))
}

fn is_empty_object(json: &str) -> bool {
    let json = json.trim().strip_prefix('{');
    let inside = json.and_then(|json| json.strip_suffix('}'));
    inside.is_some_and(|inside| inside.trim().is_empty())
}

/// Returns what the ledger is asked about a `requestState`.
fn once(context: &Context) -> Check {
    match context.ledger() {
        Some((ledger, _)) if ledger.settings.reusable_request_state => Check::Live,
        _ => Check::Once,
    }
}

fn read<K>(item: Item, opened: Opened<K>, check: Option<Check>) -> Result<(String, Token), Error> {
    let token = Token::new(item, &opened, check);
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
