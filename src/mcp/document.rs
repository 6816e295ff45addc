//! The engine for other languages: JSON documents in and out (docs/engine.md has their form).
//!
//! Input of a client never makes these functions fail: an unreadable document, such as one with a
//! lone surrogate, is answered as a malformed message. Mistakes of the adapter are errors.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::{
    Act, Before, Deliver, Event, Exchange, Failed, Guard, Head, Leave, LedgerSettings, Made,
    Message, Outcome, Presented, Question, Refused, Reply, Required, Scope, Sent, SentSession,
    Session, SessionSettings, Step, TransportMessage, TransportSettings, Verdict, Watch, What,
};
use crate::ledger::{Command, Fitness, Judgement, Memory, Script, Write};
use crate::{Codec, Error, Principal};

/// Returns a guard with these settings.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid document, and as
/// [`GuardBuilder::build`](super::GuardBuilder::build).
pub fn guard(codec: Codec, settings: &str) -> Result<Guard, Error> {
    let settings = read(settings)?;
    let settings = Document(&settings);
    let mut builder = Guard::builder(codec);
    builder.asks = settings.is("asks");
    builder.request_state_ttl = settings.seconds("requestStateTtl");
    for (target, names) in settings.members("only") {
        builder.only.push((target.clone(), texts(names)));
    }
    let sessions = settings.at("sessions");
    if sessions.0.is_object() {
        let required = sessions.at("required");
        builder.sessions = Some(SessionSettings {
            ttl: sessions.seconds("ttl"),
            no_expiry: sessions.is("noExpiry"),
            held_by_server: sessions.is("heldByServer"),
            required: Required {
                all: sessions.is("required"),
                methods: texts(required.at("methods").0),
                tools: texts(required.at("tools").0),
            },
        });
    }
    let transport = settings.at("transport");
    builder.transport = TransportSettings {
        required: transport.at("required").0.as_bool() != Some(false),
        ttl: transport.seconds("ttl"),
        idle: transport.seconds("idle"),
        sep1359: transport.is("sep1359"),
        declares: transport.is("declares"),
    };
    let ledger = settings.at("ledger");
    if ledger.0.is_object() {
        builder.ledger = Some(LedgerSettings {
            label: ledger.text("label").unwrap_or_default().into(),
            allowance: ledger.seconds("allowance"),
            local: ledger.is("local"),
            adopt: ledger.number("adopt"),
            reusable_request_state: ledger.is("reusableRequestState"),
        });
    }
    builder.build()
}

/// Begins the exchange of a message at the SDK's handlers; `arguments` are the request's, as JSON.
#[must_use]
pub fn message(guard: &Guard, document: &str, arguments: Option<&str>) -> (Exchange, String) {
    let Ok((document, known)) = received(document) else {
        return unreadable(guard);
    };
    let (principal, mistake) = known;
    let document = Document(&document);
    let session = document.at("session");
    let begun = guard.message(Message {
        method: document.text("method").unwrap_or_default(),
        target: document.text("target"),
        arguments,
        notification: document.is("notification"),
        modern: document.is("modern"),
        header: document.text("header"),
        carried: document.sent("carried"),
        session: (!session.0.is_null()).then(|| SentSession {
            id: session.sent("id"),
            state: session.sent("state"),
        }),
        principal,
    });
    tell(mistaken(begun, mistake))
}

/// Begins the exchange of a message around HTTP or stdio; `initialize` is the `params` of an
/// `initialize` request, as JSON.
#[must_use]
pub fn transport(guard: &Guard, document: &str, initialize: Option<&str>) -> (Exchange, String) {
    let Ok((document, known)) = received(document) else {
        return unreadable(guard);
    };
    let (principal, mistake) = known;
    let document = Document(&document);
    let begun = guard.transport(TransportMessage {
        http: document.text("http"),
        method: document.text("method"),
        notification: document.is("notification"),
        modern: document.is("modern"),
        version: document.text("version"),
        header: document.sent("header"),
        inside: document.sent("inside"),
        initialize,
        principal,
    });
    tell(mistaken(begun, mistake))
}

/// Reports the outcome of the last step. `value` is the first value of a session, or the whole
/// result of `initialize`, as JSON.
///
/// # Errors
///
/// As [`Exchange::on`], and [`Error::InvalidArgument`] for an invalid event.
pub fn on(exchange: &mut Exchange, document: &str, value: Option<&str>) -> Result<String, Error> {
    let document = read(document)?;
    let (name, told) = Document(&document).first().ok_or(NO_DOCUMENT)?;
    let failed = told.text("failed").map(|why| Failed(why.to_owned()));
    let event = match name.as_str() {
        "principal" => Event::Principal(match failed {
            Some(failed) => Err(failed),
            None => principal(told).map_err(|error| Failed(error.to_string())),
        }),
        "answer" => Event::Answer(match failed {
            Some(failed) => Verdict::Unavailable(failed),
            None if told.0.as_str() == Some("yes") => Verdict::Yes,
            None => Verdict::No(place(told.at("no").0)?),
        }),
        "ledger" => Event::Ledger(match failed {
            Some(failed) => Err(failed),
            None => Ok(texts(told.0)),
        }),
        "updated" => Event::Updated(match failed {
            Some(failed) => Err(failed),
            None => Ok(value.ok_or(NO_DOCUMENT)?),
        }),
        "begun" => Event::Begun(match failed {
            Some(failed) => Err(failed),
            None => Ok(value.ok_or(NO_DOCUMENT)?),
        }),
        "left" => Event::Left(Head {
            outcome: match told.text("outcome") {
                Some("input_required") => Outcome::InputRequired,
                Some("error") => Outcome::Error,
                _ => Outcome::Complete,
            },
            token: told.sent("token"),
            scope: told.text("scope").map(|scope| match scope {
                "public" => Scope::Public,
                _ => Scope::Private,
            }),
            no_meta: told.is("noMeta"),
            initialized: value,
        }),
        _ => return Err(NO_DOCUMENT),
    };
    let step = exchange.on(event)?;
    Ok(self::told(exchange, &step))
}

/// Begins an exchange for a handler's action on a handle; `value` is the state to seal, as JSON.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid action.
pub fn act(
    exchange: &Exchange,
    document: &str,
    value: Option<&str>,
) -> Result<(Exchange, String), Error> {
    let document = read(document)?;
    let document = Document(&document);
    let handle = document.sent("handle");
    let max_age = document.seconds("maxAge");
    let before = document.at("before");
    let once = document.is("once");
    let what = match document.text("do") {
        Some("mint") => What::Mint { max_age },
        Some("check") => What::Check { handle, max_age },
        Some("seal") => What::Seal {
            value: value.ok_or(NO_DOCUMENT)?,
            ttl: document.seconds("ttl"),
            before: before.number("startedAt").map(|started_at| Before {
                started_at,
                generation: before
                    .number("generation")
                    .and_then(|number| number.try_into().ok())
                    .unwrap_or_default(),
                id: before.text("id").unwrap_or_default().into(),
                issued_at: before.number("issuedAt").unwrap_or_default(),
                until: before.number("until"),
            }),
            once,
        },
        Some("open") => What::Open {
            handle,
            max_age,
            once,
        },
        Some("end") => What::End {
            handle,
            max_age,
            held: document.is("held"),
        },
        _ => return Err(NO_DOCUMENT),
    };
    let handle_type = document.text("type").unwrap_or_default();
    Ok(tell(exchange.act(Act { handle_type, what })))
}

/// Forks the session, and returns the metadata of the new one, for a result.
///
/// # Errors
///
/// As [`Exchange::fork`].
pub fn fork(exchange: &Exchange) -> Result<String, Error> {
    exchange.fork().map(|forked| forked.to_json())
}

const NO_DOCUMENT: Error = Error::InvalidArgument(alloc::borrow::Cow::Borrowed(
    "engine: expected a document as docs/engine.md specifies",
));

fn read(document: &str) -> Result<Value, Error> {
    match serde_json::from_slice(document.as_bytes()) {
        Ok(document @ Value::Object(_)) => Ok(document),
        _ => Err(NO_DOCUMENT),
    }
}

/// The caller, if the adapter gave it, and the fault in it, which is not the client's.
type Known = (Option<Principal>, Option<Error>);

/// Reads a message and its caller.
fn received(document: &str) -> Result<(Value, Known), Error> {
    let document = read(document)?;
    let known = match Document(&document).at("principal") {
        Document(Value::Null) => (None, None),
        told => match principal(told) {
            Ok(known) => (Some(known), None),
            Err(error) => (None, Some(error)),
        },
    };
    Ok((document, known))
}

/// Reports a faulty caller, once the caller is needed.
fn mistaken((mut exchange, step): (Exchange, Step), mistake: Option<Error>) -> (Exchange, Step) {
    let step = match (step, mistake) {
        (Step::Identify, Some(error)) => {
            let failed = Event::Principal(Err(Failed(error.to_string())));
            exchange.on(failed).unwrap_or(Step::Drop)
        }
        (step, _) => step,
    };
    (exchange, step)
}

/// A value, and the members of an object. The methods are not inlined, to keep the WebAssembly
/// small.
#[derive(Clone, Copy)]
struct Document<'a>(&'a Value);

impl<'a> Document<'a> {
    /// Returns a member, or `null`.
    #[inline(never)]
    fn at(self, member: &str) -> Self {
        Self(self.0.get(member).unwrap_or(&Value::Null))
    }

    #[inline(never)]
    fn text(self, member: &str) -> Option<&'a str> {
        self.at(member).0.as_str()
    }

    #[inline(never)]
    fn is(self, member: &str) -> bool {
        self.at(member).0.as_bool() == Some(true)
    }

    #[inline(never)]
    fn sent(self, member: &str) -> Sent<'a> {
        match self.at(member).0 {
            Value::Null => Sent::Absent,
            Value::String(text) => Sent::Text(text),
            _ => Sent::Other,
        }
    }

    #[inline(never)]
    fn number(self, member: &str) -> Option<u64> {
        self.at(member).0.as_u64()
    }

    #[inline(never)]
    fn seconds(self, member: &str) -> Option<Duration> {
        self.number(member).map(Duration::from_secs)
    }

    fn members(self, member: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
        self.at(member).0.as_object().into_iter().flatten()
    }

    fn first(self) -> Option<(&'a String, Self)> {
        let (name, value) = self.0.as_object()?.iter().next()?;
        Some((name, Self(value)))
    }
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items
        .filter_map(Value::as_str)
        .map(ToOwned::to_owned)
        .collect()
}

fn place(value: &Value) -> Result<usize, Error> {
    let place = value.as_u64().and_then(|place| usize::try_from(place).ok());
    place.ok_or(NO_DOCUMENT)
}

fn principal(told: Document<'_>) -> Result<Principal, Error> {
    if told.is("anonymous") {
        return Ok(Principal::anonymous());
    }
    Principal::from_parts(
        told.text("issuer"),
        told.text("client"),
        told.text("subject"),
    )
}

/// Answers a message whose document could not be read.
fn unreadable(guard: &Guard) -> (Exchange, String) {
    tell(Exchange::unreadable(guard.clone()))
}

/// Returns a step as a document, together with the refusals on the way.
fn tell((mut exchange, step): (Exchange, Step)) -> (Exchange, String) {
    let told = told(&mut exchange, &step);
    (exchange, told)
}

fn told(exchange: &mut Exchange, step: &Step) -> String {
    let mut told = Told::default();
    match step {
        Step::Identify => told.step("identify"),
        Step::Ask(Question::Accept(tokens)) => {
            told.step("ask");
            told.list("accept", tokens.iter().map(presented));
        }
        Step::Ask(Question::End(token)) => {
            told.step("ask");
            told.json("end", &presented(token));
        }
        Step::Ledger(command) => {
            told.step("ledger");
            told.command(command);
        }
        Step::Update(value) => {
            told.step("update");
            told.text("value", Some(value));
        }
        Step::Begin => told.step("begin"),
        Step::Deliver(deliver) => {
            told.deliver(deliver);
            if let Some(session) = exchange.session() {
                told.json("session", &self::session(session));
            }
        }
        Step::Leave(leave) => told.leave(leave),
        Step::Reply(reply) => told.reply(reply),
        Step::Done(made) => told.made(made),
        Step::Drop => told.step("drop"),
    }
    let refused = exchange.refused();
    if !refused.is_empty() {
        told.list("refused", refused.iter().map(self::refused));
    }
    told.written()
}

/// Writes a JSON object.
#[derive(Default)]
struct Told(Vec<u8>);

impl Told {
    fn written(mut self) -> String {
        self.0.push(b'}');
        String::from_utf8(self.0).unwrap_or_default()
    }

    #[inline(never)]
    fn name(&mut self, member: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.write(member);
        self.0.push(b':');
    }

    /// Writes strings, numbers and structs of these, which always serialize.
    fn write(&mut self, value: &(impl Serialize + ?Sized)) {
        let _ = serde_json::to_writer(&mut self.0, value);
    }

    #[inline(never)]
    fn put(&mut self, member: &str, value: &(impl Serialize + ?Sized)) {
        self.name(member);
        self.write(value);
    }

    #[inline(never)]
    fn text(&mut self, member: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.put(member, text);
        }
    }

    #[inline(never)]
    fn number(&mut self, member: &str, number: Option<u64>) {
        self.name(member);
        match number {
            Some(number) => self.write(&number),
            None => self.0.extend_from_slice(b"null"),
        }
    }

    fn flag(&mut self, member: &str, is: bool) {
        if is {
            self.json(member, "true");
        }
    }

    #[inline(never)]
    fn json(&mut self, member: &str, json: &str) {
        self.name(member);
        self.0.extend_from_slice(json.as_bytes());
    }

    fn list(&mut self, member: &str, items: impl Iterator<Item = String>) {
        self.json(member, "[");
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.0.push(b',');
            }
            self.0.extend_from_slice(item.as_bytes());
        }
        self.0.push(b']');
    }

    fn step(&mut self, name: &str) {
        self.put("step", name);
    }

    fn command(&mut self, command: &Command) {
        self.put("script", command.script.name());
        self.put("keys", &command.keys);
        self.put("args", &command.args);
    }

    fn deliver(&mut self, deliver: &Deliver) {
        self.step("deliver");
        self.text("carried", deliver.carried.as_deref());
        self.text("own", deliver.own.as_deref());
        self.text("negotiated", deliver.negotiated.as_deref());
        self.text("tokenId", deliver.token_id.as_deref());
        if let Some(expires_at) = deliver.expires_at {
            self.number("expiresAt", Some(expires_at));
        }
        self.text("version", deliver.version.as_deref());
        self.text("stamp", deliver.stamp.as_deref());
        match deliver.watch {
            Watch::Never => {}
            Watch::Member(member) => self.put("watch", member),
            Watch::Always => self.flag("watch", true),
        }
    }

    fn leave(&mut self, leave: &Leave) {
        self.step("leave");
        self.text("token", leave.token.as_deref());
        if let Some(metadata) = &leave.metadata {
            self.put("metadata", metadata);
        }
        self.flag("private", leave.private);
        self.flag("declare", leave.declare);
        self.text("header", leave.header.as_deref());
        if let Some(timeout) = leave.timeout {
            self.number("timeout", Some(timeout));
        }
    }

    fn reply(&mut self, reply: &Reply) {
        self.step("reply");
        if let Some(status) = reply.status {
            self.number("status", Some(status.into()));
        }
        self.text("allow", reply.allow);
        if let Some(error) = &reply.error {
            self.put("error", error);
        }
        self.flag("done", reply.done);
        if let Some(tool) = &reply.tool {
            self.put("tool", tool);
        }
    }

    fn made(&mut self, made: &Made) {
        self.step("done");
        self.text("handle", made.handle.as_deref());
        self.text("id", Some(&made.id));
        self.text("expiresAt", made.expires_at.as_deref());
        self.text("value", made.value.as_deref());
        if let Some(before) = &made.before {
            let mut told = Self::default();
            told.number("startedAt", Some(before.started_at));
            told.number("generation", Some(before.generation.into()));
            told.put("id", &*before.id);
            told.number("issuedAt", Some(before.issued_at));
            told.number("until", before.until);
            self.json("before", &told.written());
        }
        if let Some(life) = made.life {
            let mut told = Self::default();
            told.number("issuedAt", Some(life.issued_at));
            told.number("expiresAt", life.expires_at);
            told.flag("needsReseal", life.needs_reseal);
            told.flag("needsRenewal", life.needs_renewal);
            self.json("life", &told.written());
        }
    }
}

/// Begins the exchange that signs a principal out everywhere. `lives` is in seconds.
///
/// # Errors
///
/// As [`Guard::revoke`], and [`Error::InvalidArgument`] for an invalid principal.
pub fn revoke(
    guard: &Guard,
    document: &str,
    lives: Option<u64>,
) -> Result<(Exchange, String), Error> {
    let principal = principal(Document(&read(document)?))?;
    Ok(tell(
        guard.revoke(&principal, lives.map(Duration::from_secs))?,
    ))
}

/// Judges a command in a store's transaction: see [`Command::judge`]. `values` is an array of
/// strings and nulls.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid command, and unless there is one value for each key.
pub fn judge(document: &str, now: u64, values: &str) -> Result<String, Error> {
    let command = command(document)?;
    let values: Vec<Value> = match serde_json::from_slice(values.as_bytes()) {
        Ok(Value::Array(values)) if values.len() == command.keys.len() => values,
        _ => return Err(NO_DOCUMENT),
    };
    let values: Vec<_> = values.iter().map(Value::as_str).collect();
    let Judgement { reply, writes } = command.judge(now, &values);
    let mut told = Told::default();
    told.put("reply", &reply);
    told.list("writes", writes.iter().map(written));
    Ok(told.written())
}

fn written(write: &Write) -> String {
    let mut told = Told::default();
    told.put("key", &*write.key);
    told.put("value", &write.value);
    told.number("until", write.until);
    told.written()
}

/// Returns the fitness of a server according to its `INFO`: arrays of strings, `refused` and
/// `warned`.
#[must_use]
pub fn fitness(info: &str) -> String {
    let Fitness { refused, warned } = Fitness::of(info);
    let mut told = Told::default();
    told.put("refused", &refused);
    told.put("warned", &warned);
    told.written()
}

/// Runs a command on a ledger in memory, at `now` in Unix seconds; returns its reply, as a JSON
/// array.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid command.
pub fn run(memory: &mut Memory, document: &str, now: u64) -> Result<String, Error> {
    let reply = memory.run(&command(document)?, now);
    serde_json::to_string(&reply).map_err(|_| NO_DOCUMENT)
}

fn command(document: &str) -> Result<Command, Error> {
    let document = read(document)?;
    let document = Document(&document);
    let script = Script::ALL
        .into_iter()
        .find(|one| Some(one.name()) == document.text("script"));
    let script = script.ok_or(NO_DOCUMENT)?;
    let [keys, args] = ["keys", "args"].map(|name| texts(document.at(name).0));
    Ok(Command::new(script, keys, args))
}

fn presented(token: &Presented) -> String {
    let mut told = Told::default();
    told.put("kind", token.item.name());
    told.put("id", &*token.id);
    told.number("until", token.until);
    told.flag("public", token.public);
    told.written()
}

fn refused(one: &Refused) -> String {
    let mut told = Told::default();
    told.put("code", one.code);
    told.put("kind", one.item.name());
    told.text("tokenId", one.token_id.as_deref());
    told.put("message", &*one.message);
    told.written()
}

fn session(session: &Session) -> String {
    let mut told = Told::default();
    told.put("id", session.id());
    told.put("ulid", &*session.ulid());
    told.number("generation", Some(session.generation().into()));
    match session.value() {
        None => told.json("value", "null"),
        value => told.text("value", value),
    }
    told.written()
}
