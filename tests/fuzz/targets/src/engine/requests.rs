//! Requests and notifications at the SDK's handlers.

use sealwax::{Inspected, Kind, RequestContext, SessionMetadata, inspect};
use sealwax_mcp::{
    ClientSession, ClientValue, Deliver, Event, Exchange, HandlerResult, Message,
    Outcome as OutcomeIs, Respond, Scope, Step, TokenFields,
};

use super::input::{Act, Begun, How, Left, Method, Outcome, Result, SessionsAre};
use super::over;
use super::run::Run;
use super::world::{Token, What, World, token_id, value};
use crate::world::Who;

/// A message that was delivered.
pub struct Waiting {
    pub exchange: Exchange,
    pub run: Run,
    pub request: Request,
    pub opened: bool,
    /// The tokens that the handler sealed.
    pub sealed: Vec<String>,
}

#[derive(Clone)]
pub struct Request {
    pub method: &'static str,
    pub fields: Option<TokenFields>,
    target: Option<&'static str>,
    arguments: Option<&'static str>,
    notification: bool,
    token: Option<Option<String>>,
    session: Option<[Option<Option<String>>; 2]>,
}

const ARGUMENTS: [Option<&str>; 7] = [
    None,
    Some("{}"),
    Some("{\"id\":7}"),
    Some("{\"id\":7.0,\"x\":1}"),
    Some("{\"id\":8}"),
    Some("null"),
    Some("{"),
];

pub fn begin(world: &mut World, begun: &Begun<'_>) -> Option<Waiting> {
    let method = begun.method.text();
    // The name tells it too.
    let notification = begun.notification || method.starts_with("notifications/");
    let fields = TokenFields::for_method(method).filter(|_| !notification);
    let kind = fields.map(|fields| fields.kind);
    let carries = |what: &What| match what {
        What::RequestState(_) => kind == Some(Kind::RequestState),
        What::Cursor { .. } => kind == Some(Kind::Cursor),
        _ => false,
    };
    let session = begun.session.as_ref().map(|(id, state)| {
        let id = world.sent(id, |what| *what == What::SessionId);
        let of = id.clone().flatten();
        let state = world.sent(
            state,
            |what| matches!(what, What::State(id) if Some(id) == of.as_ref()),
        );
        [id, state]
    });
    let request = Request {
        method,
        fields,
        target: [Some("play"), Some("other"), None][usize::from(begun.target) % 3],
        arguments: ARGUMENTS[usize::from(begun.arguments) % ARGUMENTS.len()],
        notification,
        token: world.sent(&begun.token, carries),
        session,
    };
    let header = begun.header.as_ref().and_then(|header| {
        world
            .sent(header, |what| *what == What::SessionId)
            .flatten()
    });
    let guard = world.guards[usize::from(begun.replica)].clone();
    let session = request.session.as_ref().map(|[id, state]| ClientSession {
        id: value(id),
        state: value(state),
    });
    let (mut exchange, step) = guard.message(Message {
        method,
        target: request.target,
        arguments: request.arguments,
        notification,
        modern: begun.modern,
        header: header.as_deref(),
        token: value(&request.token),
        session,
        principal: begun.given.then(|| Ok(begun.who.principal())),
        within: None,
    });
    let mut run = Run::new(begun.who);
    run.sent = request.texts();
    let step = run.drive(world, &mut exchange, step, &begun.how);
    let Step::Deliver(deliver) = step else {
        assert!(notification == matches!(step, Step::Drop), "{step:?}");
        over(&mut exchange);
        return None;
    };
    let mut waiting = Waiting {
        opened: false,
        exchange,
        run,
        request,
        sealed: Vec::new(),
    };
    waiting.delivered(world, &deliver);
    Some(waiting)
}

impl Request {
    fn texts(&self) -> Vec<String> {
        let session = self.session.iter().flatten();
        session
            .chain([&self.token])
            .flatten()
            .flatten()
            .cloned()
            .collect()
    }

    fn session_id(&self) -> &str {
        match &self.session {
            Some([Some(Some(id)), _]) => id,
            _ => panic!("none was sent"),
        }
    }

    /// What its `requestState` is bound to.
    pub fn context(&self, world: &World) -> Option<[u8; 32]> {
        let target = self.target?;
        let by_name = self.fields?.target == Some("name");
        // No arguments in any form are one call.
        let arguments = self.arguments.filter(|&json| by_name && json != "{}");
        let context = match world.settings.only && target == "play" && by_name {
            true => RequestContext::only(self.method, target, arguments, &["id"]),
            false => RequestContext::new(self.method, target, arguments),
        };
        context.ok().map(|context| *context.as_bytes())
    }
}

impl Waiting {
    /// Checks what is delivered.
    fn delivered(&mut self, world: &mut World, deliver: &Deliver) {
        let request = self.request.clone();
        if let Some(result) = &deliver.builtin_result {
            assert!(deliver.opened.is_none());
            return self.served(world, result);
        }
        match (&request.token, request.fields) {
            (Some(None), _) | (_, None) => assert_eq!(deliver.opened, None),
            (Some(Some(text)), Some(fields)) => {
                let opened = deliver
                    .opened
                    .as_ref()
                    .expect("what came was opened, or refused");
                self.opened = true;
                self.opened_token(world, text, opened, fields);
            }
            (None, Some(_)) => panic!("no text is a token"),
        }
        if request
            .fields
            .is_some_and(|fields| fields.kind == Kind::RequestState)
        {
            assert_eq!(self.exchange.state().unwrap(), deliver.opened.as_deref());
        } else {
            assert!(self.exchange.state().is_err());
        }
        self.with_session(world);
    }

    fn opened_token(&self, world: &mut World, text: &str, opened: &str, fields: TokenFields) {
        let ledger = world.settings.ledger.filter(|_| !world.lied);
        let once =
            ledger.is_some_and(|ledger| !ledger.reusable) && fields.kind == Kind::RequestState;
        let context = self.request.context(world);
        let method = self.request.method;
        let fits = |what: &What| match what {
            What::RequestState(bound) => {
                fields.kind == Kind::RequestState && context == Some(*bound)
            }
            What::Cursor { method: of, .. } => fields.kind == Kind::Cursor && *of == method,
            _ => false,
        };
        let token = world
            .find(text, fits)
            .expect("we sealed it, for this request")
            .clone();
        assert_eq!(token.payload, opened);
        let public = matches!(token.what, What::Cursor { public: true, .. });
        // An anonymous caller's cursor is anybody's.
        let anybodys = fields.kind == Kind::Cursor && token.who == Who::Anybody;
        assert!(token.who == self.run.who || public || anybodys, "another's");
        let id = token_id(text);
        if !(public || anybodys) {
            world.lives(&id, self.run.who, token.started_at);
        }
        assert!(!once || world.used.insert(id), "twice");
    }

    fn with_session(&mut self, world: &mut World) {
        let is_list = self.request.method.ends_with("/list");
        let sent = self
            .request
            .session
            .as_ref()
            .filter(|_| world.settings.sessions.is_some());
        let Some(session) = self.exchange.session() else {
            assert!(sent.is_none() || is_list);
            let required = world.settings.sessions == Some(SessionsAre::Required);
            let free =
                is_list || ["ping", "sessions/create", "initialize"].contains(&self.request.method);
            assert!(
                sent.is_some() || !required || free || self.request.notification,
                "{} needs a session",
                self.request.method
            );
            return;
        };
        let Some([Some(Some(id)), state]) = sent else {
            panic!("none was sent")
        };
        assert_eq!(session.id(), id);
        let known = world
            .find(id, |what| *what == What::SessionId)
            .expect("we made it");
        assert_eq!(known.who, self.run.who);
        world.lives(&session.ulid(), self.run.who, known.started_at);
        self.run.session = Some(id.clone());
        if world.settings.sessions == Some(SessionsAre::HeldByServer) {
            assert_eq!(session.value(), None);
            return;
        }
        let Some(Some(state)) = state else {
            panic!("no state was sent")
        };
        let token = world
            .find(state, |what| *what == What::State(id.clone()))
            .expect("we sealed it, for this session");
        assert_eq!(
            (token.who, Some(&*token.payload)),
            (self.run.who, session.value())
        );
        assert_eq!(token.generation, session.generation());
        if let Some((latest, generation)) = world.latest.get(id).filter(|_| world.remembers()) {
            let is_latest = token.generation == *generation && token_id(state) == *latest;
            assert!(
                is_latest || token.generation > *generation,
                "a newer state left"
            );
        }
        self.run.value = token.payload.clone();
    }

    /// The guard has served it by itself.
    fn served(&mut self, world: &mut World, result: &str) {
        let result: serde_json::Value = serde_json::from_str(result).unwrap();
        match self.request.method {
            "sessions/create" => {
                let metadata = SessionMetadata::from_json(&result["session"].to_string()).unwrap();
                let value = self.run.value.clone();
                world.keep_session(&metadata, self.run.who, &value);
            }
            method => {
                assert_eq!(
                    (method, result.to_string()),
                    (Method::Delete.text(), "{}".into())
                );
                let id = self.request.session_id();
                let known = world
                    .find(id, |what| *what == What::SessionId)
                    .expect("we made it");
                assert_eq!(known.who, self.run.who);
                let Ok(Inspected::SessionId { ulid, .. }) = inspect(id) else {
                    panic!("{id}")
                };
                world.end(format!("{:032x}", u128::from_be_bytes(ulid)));
            }
        }
    }

    pub fn finish(
        mut self,
        world: &mut World,
        acts: &[Act<'_>],
        result: &Result<'_>,
        how: &[How<'_>],
    ) {
        for act in acts.iter().take(6) {
            self.act(world, act);
        }
        if self.request.notification {
            assert!(self.exchange.write("1").is_err());
            return;
        }
        let plain = world.payload();
        let text = match result.token {
            Left::Plain => Some(plain),
            Left::Absent | Left::Other => None,
            Left::Sealed => Some(self.sealed.last().cloned().unwrap_or(plain)),
            Left::Text(text) => Some(text.replace("secret", "")),
        };
        let step = self.exchange.on(Event::Result(HandlerResult {
            outcome: match result.outcome {
                Outcome::Asks => OutcomeIs::InputRequired,
                Outcome::Complete => OutcomeIs::Complete,
                Outcome::Error => OutcomeIs::Error,
            },
            token: match result.token {
                Left::Other => ClientValue::Other,
                _ => text.as_deref().into(),
            },
            scope: result.public.map(|public| {
                if public {
                    Scope::Public
                } else {
                    Scope::Private
                }
            }),
            has_ttl: result.has_ttl,
            no_meta: result.no_meta,
            whole: None,
        }));
        let step = self
            .run
            .drive(world, &mut self.exchange, step.unwrap(), how);
        match step {
            Step::Respond(respond) => self.left(world, result, text.as_deref(), &respond),
            Step::Reply(_) => {}
            other => panic!("{other:?}"),
        }
        over(&mut self.exchange);
    }

    /// Checks what leaves, and keeps it.
    fn left(&self, world: &mut World, result: &Result<'_>, text: Option<&str>, respond: &Respond) {
        let is_error = matches!(result.outcome, Outcome::Error);
        let who = self.run.who;
        match (&respond.token, self.request.fields.filter(|_| !is_error)) {
            (None, fields) => assert!(
                fields.is_none() || matches!(result.token, Left::Absent),
                "what must be sealed"
            ),
            (Some(_), None) => panic!("nothing was to be sealed"),
            (Some(token), Some(fields)) => {
                let text = text.expect("a text");
                if self.sealed.iter().any(|sealed| sealed == text) {
                    assert_eq!(token, text);
                } else {
                    self.sealed_result(world, result, fields, token, text);
                }
            }
        }
        assert_eq!(
            respond.metadata.is_some(),
            self.has_session(world) && !is_error
        );
        let Some(metadata) = &respond.metadata else {
            return;
        };
        if result.public.is_some() {
            assert_eq!(respond.cache_scope, Some(Scope::Private));
        }
        let id = self.request.session_id();
        assert_eq!(metadata.session_id, id);
        if let Some(state) = &metadata.state {
            let value = self.list_value(world);
            let latest = world.keep_state(id, state, who, &value);
            if world.remembers() {
                world.latest.insert(id.into(), latest);
            }
        }
    }

    /// Whether the result belongs to a session: not where the request made or ended it.
    fn has_session(&self, world: &World) -> bool {
        let is_served = ["sessions/create", "sessions/delete"].contains(&self.request.method);
        world.settings.sessions.is_some() && self.request.session.is_some() && !is_served
    }

    /// A list shows its handler no session, and renews it all the same.
    fn list_value(&self, world: &World) -> String {
        let Some([_, Some(Some(state))]) = &self.request.session else {
            panic!("none was sent")
        };
        match &self.run.session {
            Some(_) => self.run.value.clone(),
            None => world
                .find(state, |what| matches!(what, What::State(_)))
                .unwrap()
                .payload
                .clone(),
        }
    }

    fn sealed_result(
        &self,
        world: &mut World,
        result: &Result<'_>,
        fields: TokenFields,
        token: &str,
        text: &str,
    ) {
        let (now, who) = (world.clock.now(), self.run.who);
        let context = self.request.context(world);
        let (what, opened) = match fields.kind {
            Kind::RequestState => {
                assert!(
                    matches!(result.outcome, Outcome::Asks),
                    "a state leaves only where the client is asked"
                );
                let bound = context.expect("a context");
                let context = RequestContext::from_bytes(&bound).unwrap();
                (
                    What::RequestState(bound),
                    world
                        .knowing(who)
                        .request_state(&context)
                        .open(token)
                        .unwrap()
                        .into_payload(),
                )
            }
            _ => {
                let public = result.public == Some(true) && !self.has_session(world);
                let (method, seals) =
                    (self.request.method, if public { Who::Anybody } else { who });
                let opened = world.knowing(seals).cursor(method).open(token).unwrap();
                (What::Cursor { method, public }, opened.into_payload())
            }
        };
        assert_eq!(opened, text.as_bytes());
        world.keep(Token::new(token.into(), what, who, text.into(), now));
    }
}
