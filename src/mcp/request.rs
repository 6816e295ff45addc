//! The way of a request or a notification through the guard: in by its session and by what it carries,
//! out by what its result carries and what its session wrote.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::asking::{self, Ask, Asking, Times};
use super::context::{About, Context, Reason};
use super::exchange::OUT_OF_ORDER;
use super::guard::{SessionSettings, is_list};
use super::input::Kept;
use super::session::{self, Written, json};
use super::{
    Carried, Deliver, Event, Failed, Item, Leave, Message, Outcome, Profile, Reply, Scope, Sent,
    Session, Stale, Step, Watch,
};
use crate::ledger::{Command, Commit};
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
    /// What it brought is asked about; then this is delivered.
    Asking { asking: Asking, then: Box<Deliver> },
    /// The author is asked for the first value of a session.
    Beginning,
    /// The handler runs.
    Delivered,
    /// It has run; who asks may still have to be found out.
    Leaving(Left),
    /// The ledger is told of the new state.
    Committing(Box<Committing>),
    /// The author is asked what to make of somebody else's state.
    Updating(Left),
}

/// What the handler gave.
struct Left {
    token: Kept,
    outcome: Outcome,
    scope: Option<Scope>,
    no_meta: bool,
    /// How often somebody else's state came in between.
    updates: u8,
}

/// What leaves once the ledger has the session's new state.
struct Committing {
    left: Left,
    leave: Leave,
    command: Command,
    /// Whether it was tried once, and nobody answered.
    tried: bool,
}

/// How often a function of the author's is applied to a state that came in between.
const MAX_UPDATES: u8 = 32;

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
            (Phase::Asking { mut asking, then }, event) => {
                let asked = asking.take(context, event);
                let Some(asked) = asked else {
                    self.phase = Phase::Asking { asking, then };
                    return None;
                };
                Some(self.asked(context, asking, then, asked))
            }
            (Phase::Beginning, Event::Begun(first)) => {
                let first = first.map_err(|failed| Error::argument(failed.0));
                let created = first.and_then(|first| self.create(context, first));
                Some(self.created(context, created))
            }
            (Phase::Delivered, Event::Left(head)) => {
                self.phase = Phase::Leaving(Left {
                    token: head.token.owned(),
                    outcome: head.outcome,
                    scope: head.scope,
                    no_meta: head.no_meta,
                    updates: 0,
                });
                Some(self.advance(context))
            }
            (Phase::Committing(committing), Event::Ledger(reply)) => {
                Some(self.committed(context, *committing, reply))
            }
            (Phase::Updating(left), Event::Updated(value)) => {
                Some(self.updated(context, left, value))
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
        if self.method == DELETE && !context.guard.settings().remembers() {
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
                let token = asking::Token::made(presented, id.created_at_ms(), Ask::End);
                let then = Deliver {
                    own: Some("{}".into()),
                    ..Deliver::default()
                };
                self.ask(context, vec![token], then)
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
        let mut tokens = Vec::new();
        if let (Some(session), Some(view), Some((_, state))) =
            (&self.session, context.known(), &self.sent_session)
        {
            tokens.push(session.asked(&view, state.sent()));
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
                        tokens.push(token);
                    }
                    Err(error) => return Ok(self.refuse_carried(context, carries, error.into())),
                }
            }
        }
        Ok(self.ask(context, tokens, deliver))
    }

    /// Delivers a message once all that it brought is good.
    fn ask(&mut self, context: &mut Context, tokens: Vec<asking::Token>, then: Deliver) -> Step {
        let mut asking = Asking::new(tokens);
        let asked = asking.step(context);
        self.asked(context, asking, Box::new(then), asked)
    }

    fn asked(
        &mut self,
        context: &mut Context,
        asking: Asking,
        then: Box<Deliver>,
        asked: Result<Option<Step>, asking::Refusal>,
    ) -> Step {
        match asked {
            Ok(Some(step)) => {
                self.phase = Phase::Asking { asking, then };
                step
            }
            Ok(None) => self.deliver(*then),
            Err((_, Reason::Stale(latest))) => self.stale(context, false, &latest),
            Err((at, reason)) => self.refuse(context, at, reason),
        }
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
    ) -> Result<(String, asking::Token), Error> {
        let Sent::Text(token) = self.sent.sent() else {
            return Err(Error::Malformed("a token that is a text"));
        };
        if carries.kind == Kind::RequestState {
            let bound = self.binding(context)?;
            let opened = view.request_state(&bound).open(token)?;
            self.bound = Some(bound);
            let ledger = context.ledger().map(|(ledger, _)| &ledger.settings);
            let ask = match ledger {
                Some(settings) if settings.reusable_request_state => Ask::Live,
                _ => Ask::Once,
            };
            return read(Item::RequestState, opened, ask);
        }
        let method = self.method.as_str();
        match view.cursor(method).open(token) {
            // Of a public page, which any cache may have handed to anybody.
            Err(Error::PrincipalMismatch) => {
                let public = &context.guard.settings().public;
                let opened = public.cursor(method).open(token)?;
                let (text, mut token) = read(Item::Cursor, opened, Ask::Rule)?;
                token.presented.public = true;
                Ok((text, token))
            }
            opened => read(Item::Cursor, opened?, Ask::Rule),
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

    fn leave(&mut self, context: &mut Context) -> Result<Step, Step> {
        let Phase::Leaving(left) = &self.phase else {
            return Ok(Step::Drop);
        };
        let guard = context.guard.clone();
        let sessions = guard.settings().sessions.as_ref();
        let mut leave = Leave::default();
        if left.outcome == Outcome::Error {
            return Ok(Step::Leave(Box::new(leave)));
        }
        leave.private = self.session.is_some();
        leave.declare = sessions.is_some() && declares(&self.method);
        if let Some(carries) = self.carries
            && !left.token.is_absent()
            // A complete result may have a member of this name, which is the tool's own.
            && (carries.kind == Kind::Cursor || left.outcome == Outcome::InputRequired)
        {
            let public = left.scope == Some(Scope::Public) && !leave.private;
            let view = match carries.kind {
                Kind::Cursor if public => None,
                _ => Some(context.view()?),
            };
            match self.seal(context, carries, view.as_deref(), left.token.sent()) {
                Ok(token) => leave.token = Some(token),
                Err(error) => {
                    let about = About::new(item(carries));
                    return Ok(context.reply(Reason::Unsealed(error), about));
                }
            }
        }
        if let (Some(session), Some(sessions)) = (&self.session, sessions) {
            // The next round sends the same state again, so nothing may take its place.
            let asks_back =
                left.outcome == Outcome::InputRequired && guard.settings().ledger.is_some();
            let sealed = if left.no_meta && session.is_written() {
                Err(Error::argument(
                    "session: the SDK gives this method's result no metadata, so what was written \
                     would be lost; write it in another",
                ))
            } else if asks_back {
                Ok(session.unchanged())
            } else {
                session.leave(sessions, &*context.view()?, !left.no_meta)
            };
            let sealed = match sealed {
                Ok(sealed) => sealed,
                Err(error) => return Ok(self.refuse_session(context, Reason::Unsealed(error))),
            };
            let command = commit(context, session, &sealed);
            leave.metadata = Some(sealed.metadata);
            if let Some(command) = command {
                return Ok(self.committing(leave, command));
            }
        }
        Ok(Step::Leave(Box::new(leave)))
    }

    fn committing(&mut self, leave: Leave, command: Command) -> Step {
        let Phase::Leaving(left) = core::mem::replace(&mut self.phase, Phase::Entering) else {
            return Step::Drop;
        };
        let step = Step::Ledger(Box::new(command.clone()));
        self.phase = Phase::Committing(Box::new(Committing {
            left,
            leave,
            command,
            tried: false,
        }));
        step
    }

    /// The ledger took the new state, or not.
    fn committed(
        &mut self,
        context: &mut Context,
        mut committing: Committing,
        reply: Result<Vec<String>, Failed>,
    ) -> Step {
        let lost = match reply {
            Err(_) if !committing.tried => {
                // The same again is no second write.
                committing.tried = true;
                let step = Step::Ledger(Box::new(committing.command.clone()));
                self.phase = Phase::Committing(Box::new(committing));
                return step;
            }
            Err(Failed(why)) => Reason::LedgerUnavailable(why),
            Ok(reply) => match (reply.first().map(String::as_str), &reply[..]) {
                (Some("ok"), _) => match asking::confirmed(context, &reply, None) {
                    Ok(()) => return Step::Leave(Box::new(committing.leave)),
                    Err(reason) => reason,
                },
                (Some("ended"), _) => Reason::Ledger("ended", "it has ended"),
                // After a try that nobody answered: it may have been ours that somebody wrote upon.
                (Some("stale"), [_, token, generation, state]) if !committing.tried => {
                    Reason::Stale(Box::new([token, generation, state].map(Clone::clone)))
                }
                _ => Reason::LedgerUnavailable(asking::failure(&reply)),
            },
        };
        let session = self.session.as_ref();
        if session.is_some_and(|session| !session.is_written()) {
            return self.not_renewed(context, committing.leave, lost);
        }
        match lost {
            Reason::Stale(latest) => self.overtaken(context, committing.left, &latest),
            lost => self.refuse_session(context, lost),
        }
    }

    /// A renewal that does not come about never refuses a read.
    fn not_renewed(&self, context: &mut Context, mut leave: Leave, lost: Reason) -> Step {
        leave.metadata = self
            .session
            .as_ref()
            .map(|session| session.unchanged().metadata);
        if let Reason::LedgerUnavailable(_) = lost {
            let about = About {
                id: self.session.as_ref().map(Session::ulid),
                ..About::new(Item::Session)
            };
            context.refuse(lost, about);
        }
        Step::Leave(Box::new(leave))
    }

    /// Somebody else wrote the session in the meantime.
    fn overtaken(&mut self, context: &mut Context, left: Left, latest: &[String; 3]) -> Step {
        let updates = self.session.as_ref().is_some_and(Session::is_updated);
        if !updates || left.updates == MAX_UPDATES {
            return self.stale(context, true, latest);
        }
        match self.adopt(context, latest) {
            Ok(_) => {
                let value = self.session.as_ref().and_then(Session::value);
                let value = value.unwrap_or_default().into();
                self.phase = Phase::Updating(Left {
                    updates: left.updates + 1,
                    ..left
                });
                Step::Update(value)
            }
            Err(error) => self.refuse_session(context, error.into()),
        }
    }

    /// The author's functions were applied to the state that came in between.
    fn updated(&mut self, context: &mut Context, left: Left, value: Result<&str, Failed>) -> Step {
        let value = value.map_err(|Failed(why)| Error::argument(why));
        let session = self.session.as_mut().ok_or(NO_SESSION);
        let written = value.and_then(|value| session?.write(value, Written::Again));
        match written {
            Ok(()) => {
                self.phase = Phase::Leaving(left);
                self.advance(context)
            }
            Err(error) => self.refuse_session(context, Reason::Unsealed(error)),
        }
    }

    /// The answer to a state that is not the latest one: it, for the client is honest.
    fn stale(&mut self, context: &mut Context, ran: bool, latest: &[String; 3]) -> Step {
        let adopted = match self.adopt(context, latest) {
            Ok(adopted) => adopted,
            Err(error) => return self.refuse_session(context, error.into()),
        };
        let about = About {
            id: self.session.as_ref().map(Session::ulid),
            ..About::new(Item::Session)
        };
        context.refuse(Reason::Stale(Box::new(latest.clone())), about);
        Step::Reply(
            Stale::new(ran, adopted)
                .answer(&self.method, self.modern)
                .into(),
        )
    }

    fn adopt(&mut self, context: &Context, latest: &[String; 3]) -> Result<SessionMetadata, Error> {
        let guard = context.guard.clone();
        let (Some(sessions), Some(view), Some(session)) = (
            &guard.settings().sessions,
            context.known(),
            &mut self.session,
        ) else {
            return Err(OUT_OF_ORDER);
        };
        session.adopt(sessions, &view, &latest[2])
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

    pub fn write(&mut self, json: &str, how: Written) -> Result<(), Error> {
        if self.notification {
            return Err(Error::argument(
                "write: expected a request, found a notification, which has no answer",
            ));
        }
        if self.session().is_none() {
            return Err(NO_SESSION);
        }
        self.session.as_mut().ok_or(NO_SESSION)?.write(json, how)
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

fn read<K>(item: Item, opened: Opened<K>, ask: Ask) -> Result<(String, asking::Token), Error> {
    let token = asking::Token::new(item, Times::of(&opened), ask);
    let text = String::from_utf8(opened.into_payload());
    let text = text.map_err(|_| Error::Malformed("a payload that is UTF-8"))?;
    Ok((text, token))
}

/// What the ledger is told of a session that leaves with a new state.
fn commit(context: &Context, session: &Session, sealed: &session::Left) -> Option<Command> {
    let (ledger, _) = context.ledger()?;
    let (seen, generation) = session.seen()?;
    let (token, until) = sealed.token.as_ref()?;
    Some(Command::commit(
        &ledger.names,
        &Commit {
            session: &session.ulid(),
            seen: (&seen, generation),
            token,
            until: *until,
            state: sealed.metadata.state.as_deref()?,
        },
    ))
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
