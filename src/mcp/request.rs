//! The way of a request or a notification through the guard: in by its session and by what it carries,
//! out by what its result carries and what its session wrote.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::context::{About, Context, Reason};
use super::exchange::OUT_OF_ORDER;
use super::guard::{SessionSettings, is_list};
use super::input::Kept;
use super::session::{self, json};
use super::{
    Carried, Deliver, Event, Item, Leave, Message, Outcome, Presented, Profile, Question, Reply,
    Scope, Sent, Session, Step, Watch,
};
use crate::{Error, Kind, Opened, RequestContext, SessionMetadata, View};

const CREATE: &str = "sessions/create";
const DELETE: &str = "sessions/delete";

pub(super) struct Request {
    method: String,
    target: Option<String>,
    arguments: Option<String>,
    notification: bool,
    modern: bool,
    header: Option<String>,
    carries: Option<Carried>,
    sent: Kept,
    sent_session: Option<(Kept, Kept)>,
    phase: Phase,
    /// What the `requestState` held.
    state: Option<String>,
    /// What it was bound to, and the next one is.
    bound: Option<RequestContext>,
    session: Option<Session>,
}

enum Phase {
    /// Nothing is decided yet.
    Entering,
    /// `accept` is asked; then this is delivered, or ends first.
    Asking {
        then: Box<Deliver>,
        ends: Option<Presented>,
    },
    /// The author is asked for the first value of a session.
    Beginning,
    /// The handler runs.
    Delivered,
    /// It has run; who asks may still have to be found out.
    Leaving(Kept, Outcome, Option<Scope>, bool),
}

impl Request {
    pub fn new(message: Message<'_>) -> Self {
        let carries = Carried::by(message.method).filter(|_| !message.notification);
        let session = message.session;
        Self {
            method: message.method.into(),
            target: message.target.map(Into::into),
            arguments: message.arguments.map(Into::into),
            notification: message.notification,
            modern: message.modern,
            header: message.header.map(Into::into),
            carries,
            sent: message.carried.owned(),
            sent_session: session.map(|sent| (sent.id.owned(), sent.state.owned())),
            phase: Phase::Entering,
            state: None,
            bound: None,
            session: None,
        }
    }

    pub fn advance(&mut self, context: &mut Context) -> Step {
        let guard = context.guard.clone();
        let step = match &self.phase {
            Phase::Entering => match &guard.settings().sessions {
                Some(sessions) => self.enter_sessions(context, sessions),
                None => self.enter(context, None),
            },
            Phase::Leaving(..) => self.leave(context),
            _ => Ok(Step::Drop),
        };
        step.unwrap_or_else(|step| step)
    }

    pub fn take(&mut self, context: &mut Context, event: Event<'_>) -> Option<Step> {
        let phase = core::mem::replace(&mut self.phase, Phase::Entering);
        match (phase, event) {
            (Phase::Asking { then, ends }, Event::Answer(verdict)) => {
                if let Err((at, reason)) = verdict.judged() {
                    return Some(self.refuse(context, at, reason));
                }
                if let Some(ends) = ends {
                    self.phase = Phase::Asking { then, ends: None };
                    return Some(Step::Ask(Question::End(ends)));
                }
                Some(self.deliver(*then))
            }
            (Phase::Beginning, Event::Begun(first)) => {
                let first = first.map_err(|failed| Error::argument(failed.0));
                let created = first.and_then(|first| self.create(context, first));
                Some(self.created(context, created))
            }
            (Phase::Delivered, Event::Left(head)) => {
                self.phase =
                    Phase::Leaving(head.token.owned(), head.outcome, head.scope, head.no_meta);
                Some(self.advance(context))
            }
            (phase, _) => {
                self.phase = phase;
                None
            }
        }
    }

    pub fn is_notification(&self) -> bool {
        self.notification
    }

    /// It is not known who asks.
    pub fn fail(&self, context: &mut Context, error: Error) -> Step {
        let item = match (&self.sent_session, self.carries) {
            (None, Some(carries)) => item(carries),
            _ => Item::Session,
        };
        context.reply(error.into(), About::new(item))
    }
}

/// Data-layer sessions.
impl Request {
    fn enter_sessions(
        &mut self,
        context: &mut Context,
        sessions: &SessionSettings,
    ) -> Result<Step, Step> {
        if self.method == DELETE && !context.guard.settings().asks {
            // Never promise what nothing keeps.
            return Ok(reply(-32601, "Method not found"));
        }
        let Some((id, state)) = &self.sent_session else {
            if self.method == CREATE {
                let view = context.view()?;
                if sessions.held_by_server {
                    let minted = sessions.of(&view).mint();
                    return Ok(self.created(context, minted));
                }
                self.phase = Phase::Beginning;
                return Ok(Step::Begin);
            }
            // Nothing could tell the client of a notification that it needs one.
            let required =
                !self.notification && sessions.required.by(&self.method, self.target.as_deref());
            if required || self.method == DELETE {
                let about = About {
                    profile: Profile::DataLayerRequired,
                    ..About::new(Item::Session)
                };
                let error = Error::Malformed("a session, which this request needs");
                return Ok(context.reply(error.into(), about));
            }
            return self.enter(context, Some(sessions));
        };
        if self.method == CREATE {
            let error = Error::Malformed("no session in sessions/create");
            context.refuse(error.into(), About::new(Item::Session));
            return Ok(reply(
                -32602,
                "Invalid params: sessions/create takes no session",
            ));
        }
        let header = self.header.as_deref().filter(|_| self.modern);
        if header.is_some_and(|header| id.sent() != Sent::Text(header)) {
            let error = Error::Malformed("one session in the header and in the message");
            context.refuse(error.into(), About::new(Item::Session));
            return Ok(reply(
                -32020,
                "Header mismatch: Mcp-Session-Id is not the session of the body",
            ));
        }
        let view = context.view()?;
        if self.method == DELETE {
            return Ok(self.delete(context, sessions, &view));
        }
        match Session::open(sessions, &view, id.sent(), state.sent()) {
            Ok(session) => self.session = Some(session),
            Err(error) => return Ok(self.refuse_session(context, error.into())),
        }
        self.enter(context, Some(sessions))
    }

    fn create(&self, context: &mut Context, first: &str) -> Result<SessionMetadata, Error> {
        let guard = context.guard.clone();
        let (Some(sessions), Some(view)) = (&guard.settings().sessions, context.known()) else {
            return Err(OUT_OF_ORDER);
        };
        let first = json(first.as_bytes())
            .map_err(|_| Error::argument("initial: expected a value as JSON"))?;
        sessions.of(&view).create(first.as_bytes())
    }

    fn created(&mut self, context: &mut Context, created: Result<SessionMetadata, Error>) -> Step {
        match created {
            Ok(session) => self.deliver(Deliver {
                own: Some(alloc::format!(r#"{{"session":{}}}"#, session.to_json())),
                ..Deliver::default()
            }),
            Err(error) => {
                let about = About::new(Item::Session);
                context.reply(Reason::Unsealed(error), about)
            }
        }
    }

    /// Its id alone suffices: a client may have lost the state of what it wants gone.
    fn delete(&mut self, context: &mut Context, sessions: &SessionSettings, view: &View) -> Step {
        let id = self
            .sent_session
            .as_ref()
            .and_then(|(id, _)| id.sent().text());
        let verified = match id {
            Some(id) => sessions.of(view).verify(id),
            None => Err(Error::Malformed("a sessionId that is a text")),
        };
        match verified {
            Ok(id) => {
                let presented = session::presented(view, &id);
                let then = Deliver {
                    own: Some("{}".into()),
                    ..Deliver::default()
                };
                self.phase = Phase::Asking {
                    then: Box::new(then),
                    ends: Some(presented.clone()),
                };
                Step::Ask(Question::Accept(vec![presented]))
            }
            Err(error) => self.refuse_session(context, error.into()),
        }
    }

    fn refuse_session(&self, context: &mut Context, reason: Reason) -> Step {
        let (id, state) = match &self.sent_session {
            Some((id, state)) => (id.sent().text(), state.sent().text()),
            None => (None, None),
        };
        let about = About {
            token: state,
            id: self.session.as_ref().map(Session::ulid),
            session_id: id,
            ..About::new(Item::Session)
        };
        context.reply(reason, about)
    }
}

/// What a request carries, and its result.
impl Request {
    fn enter(
        &mut self,
        context: &mut Context,
        sessions: Option<&SessionSettings>,
    ) -> Result<Step, Step> {
        let mut deliver = Deliver {
            watch: self.watch(sessions),
            ..Deliver::default()
        };
        let mut presented = Vec::new();
        if let (Some(session), Some(view)) = (&self.session, context.known()) {
            presented.push(session.presented(&view));
        }
        let came = !self.sent.is_absent();
        // A handler that may write a state must not run for nobody.
        if let Some(carries) = self.carries
            && (came || carries.kind == Kind::RequestState)
        {
            let view = context.view()?;
            if came {
                match self.open(context, carries, &view) {
                    Ok((text, token)) => {
                        deliver.carried = Some(text);
                        presented.push(token);
                    }
                    Err(error) => return Ok(self.refuse_carried(context, carries, error.into())),
                }
            }
        }
        if context.guard.settings().asks && !presented.is_empty() {
            self.phase = Phase::Asking {
                then: Box::new(deliver),
                ends: None,
            };
            return Ok(Step::Ask(Question::Accept(presented)));
        }
        Ok(self.deliver(deliver))
    }

    fn watch(&self, sessions: Option<&SessionSettings>) -> Watch {
        if self.notification {
            return Watch::Never;
        }
        let declares = sessions.is_some() && declares(&self.method);
        match self.carries {
            _ if self.session.is_some() || declares => Watch::Always,
            Some(carries) => Watch::Member(carries.result),
            None => Watch::Never,
        }
    }

    /// What the token held, and what `accept` is asked of it.
    fn open(
        &mut self,
        context: &Context,
        carries: Carried,
        view: &Arc<View>,
    ) -> Result<(String, Presented), Error> {
        let Sent::Text(token) = self.sent.sent() else {
            return Err(Error::Malformed("a token that is a text"));
        };
        if carries.kind == Kind::RequestState {
            let bound = self.binding(context)?;
            let opened = view.request_state(&bound).open(token)?;
            self.bound = Some(bound);
            return read(Item::RequestState, opened);
        }
        let method = self.method.as_str();
        match view.cursor(method).open(token) {
            // Of a public page, which any cache may have handed to anybody.
            Err(Error::PrincipalMismatch) => {
                let public = &context.guard.settings().public;
                let (text, token) = read(Item::Cursor, public.cursor(method).open(token)?)?;
                let public = true;
                Ok((text, Presented { public, ..token }))
            }
            opened => read(Item::Cursor, opened?),
        }
    }

    fn deliver(&mut self, deliver: Deliver) -> Step {
        if let Some(carries) = self.carries
            && carries.kind == Kind::RequestState
        {
            self.state.clone_from(&deliver.carried);
        }
        self.phase = Phase::Delivered;
        Step::Deliver(Box::new(deliver))
    }

    /// What a `requestState` of this request is bound to.
    fn binding(&self, context: &Context) -> Result<RequestContext, Error> {
        let carries = self.carries.ok_or(OUT_OF_ORDER)?;
        let target = self.target.as_deref();
        let target = target.ok_or(Error::Malformed("a request whose target is a text"))?;
        // A resource has no arguments.
        let arguments = self.arguments.as_deref();
        let arguments = arguments.filter(|_| carries.target == Some("name"));
        let only = &context.guard.settings().only;
        match only.iter().find(|(named, _)| named == target) {
            Some((_, names)) if carries.target == Some("name") => {
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                RequestContext::only(&self.method, target, arguments, &names)
            }
            _ => RequestContext::new(&self.method, target, arguments),
        }
    }

    fn leave(&self, context: &mut Context) -> Result<Step, Step> {
        let Phase::Leaving(token, outcome, scope, no_meta) = &self.phase else {
            return Ok(Step::Drop);
        };
        let guard = context.guard.clone();
        let sessions = guard.settings().sessions.as_ref();
        let mut leave = Leave::default();
        if *outcome == Outcome::Error {
            return Ok(Step::Leave(Box::new(leave)));
        }
        leave.private = self.session.is_some();
        leave.declare = sessions.is_some() && declares(&self.method);
        if let Some(carries) = self.carries
            && !token.is_absent()
            // A complete result may have a member of this name, which is the tool's own.
            && (carries.kind == Kind::Cursor || *outcome == Outcome::InputRequired)
        {
            let public = *scope == Some(Scope::Public) && !leave.private;
            let view = match carries.kind {
                Kind::Cursor if public => None,
                _ => Some(context.view()?),
            };
            match self.seal(context, carries, view.as_deref(), token.sent()) {
                Ok(token) => leave.token = Some(token),
                Err(error) => {
                    let about = About::new(item(carries));
                    return Ok(context.reply(Reason::Unsealed(error), about));
                }
            }
        }
        if let (Some(session), Some(sessions)) = (&self.session, sessions) {
            let left = if *no_meta && session.is_written() {
                Err(Error::argument(
                    "session: the SDK gives this method's result no metadata, so what was written \
                     would be lost; write it in another",
                ))
            } else {
                session.leave(sessions, &*context.view()?)
            };
            match left {
                Ok(metadata) => leave.metadata = Some(metadata),
                Err(error) => return Ok(self.refuse_session(context, Reason::Unsealed(error))),
            }
        }
        Ok(Step::Leave(Box::new(leave)))
    }

    /// `view` is `None` for what may be handed to any user.
    fn seal(
        &self,
        context: &Context,
        carries: Carried,
        view: Option<&View>,
        token: Sent<'_>,
    ) -> Result<String, Error> {
        let payload = token.text().ok_or_else(|| {
            Error::argument(alloc::format!("{}: expected a text", carries.result))
        })?;
        let settings = context.guard.settings();
        let view = view.unwrap_or(&settings.public);
        if carries.kind == Kind::Cursor {
            let token = view.cursor(&self.method).seal(payload.as_bytes())?;
            return Ok(token.into_string());
        }
        let made;
        let bound = match &self.bound {
            Some(bound) => bound,
            None => {
                made = self.binding(context)?;
                &made
            }
        };
        let sealer = match settings.request_state_ttl {
            Some(ttl) => view.request_state(bound).ttl(ttl),
            None => view.request_state(bound),
        };
        Ok(sealer.seal(payload.as_bytes())?.into_string())
    }

    fn refuse_carried(&self, context: &mut Context, carries: Carried, reason: Reason) -> Step {
        let about = About {
            token: self.sent.sent().text(),
            ..About::new(item(carries))
        };
        context.reply(reason, about)
    }

    /// The session, which is asked for first, or else what the request carries was not accepted.
    fn refuse(&self, context: &mut Context, at: usize, reason: Reason) -> Step {
        let asked_first = usize::from(self.session.is_some());
        match self.carries {
            Some(carries) if !self.sent.is_absent() && at >= asked_first => {
                self.refuse_carried(context, carries, reason)
            }
            _ => self.refuse_session(context, reason),
        }
    }
}

/// What a handler reaches.
impl Request {
    pub fn state(&self) -> Result<Option<&str>, Error> {
        let carries = self.carries.map(|carries| carries.kind);
        if carries != Some(Kind::RequestState) {
            return Err(Error::argument(
                "requestState: expected tools/call, prompts/get or resources/read",
            ));
        }
        match self.phase {
            Phase::Delivered => Ok(self.state.as_deref()),
            _ => Err(OUT_OF_ORDER),
        }
    }

    pub fn session(&self) -> Option<&Session> {
        let running = matches!(self.phase, Phase::Delivered) && !is_list(&self.method);
        self.session.as_ref().filter(|_| running)
    }

    pub fn write(&mut self, json: &str) -> Result<(), Error> {
        if self.notification {
            return Err(Error::argument(
                "write: expected a request, found a notification, which has no answer",
            ));
        }
        if self.session().is_none() {
            return Err(NO_SESSION);
        }
        self.session.as_mut().ok_or(NO_SESSION)?.write(json)
    }

    pub fn fork(&self, context: &Context) -> Result<SessionMetadata, Error> {
        let session = self.session().ok_or(NO_SESSION)?;
        let (Some(settings), Some(view)) = (&context.guard.settings().sessions, context.known())
        else {
            return Err(OUT_OF_ORDER);
        };
        session.fork(settings, &view)
    }
}

const NO_SESSION: Error = Error::InvalidArgument(alloc::borrow::Cow::Borrowed(
    "session: expected a request that has one, before its answer has left",
));

fn read<K>(item: Item, opened: Opened<K>) -> Result<(String, Presented), Error> {
    let presented = Presented::token(item, opened.token_id(), opened.expires_at());
    let text = String::from_utf8(opened.into_payload());
    let text = text.map_err(|_| Error::Malformed("a payload that is UTF-8"))?;
    Ok((text, presented))
}

fn item(carries: Carried) -> Item {
    match carries.kind {
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
