//! The engine for other languages: JSON documents in and out (docs/engine.md has their form).
//!
//! What a client sent never makes these functions fail: a document that cannot be read, such as one with
//! a lone surrogate, is answered as a message that is malformed. The adapter's own mistakes are errors.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::time::Duration;

use serde_json::{Map, Value, json};

use super::{
    Act, Before, ErrorData, Event, Exchange, Failed, Front, Guard, Head, Made, Message, Outcome,
    Presented, Question, Refused, Required, RpcError, Scope, Sent, SentSession, SessionSettings,
    Step, Transport, Verdict, Watch, What,
};
use crate::{Codec, Error, Principal};

/// A guard by its settings.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a document that is none, and as
/// [`GuardBuilder::build`](super::GuardBuilder::build).
pub fn guard(codec: Codec, settings: &str) -> Result<Guard, Error> {
    let settings = object(settings)?;
    let mut builder = Guard::builder(codec);
    builder.asks = settings["asks"] == true;
    builder.request_state_ttl = seconds(&settings["requestStateTtl"]);
    for (target, names) in settings["only"].as_object().into_iter().flatten() {
        builder.only.push((target.clone(), texts(names)));
    }
    let sessions = &settings["sessions"];
    if sessions.is_object() {
        let required = &sessions["required"];
        builder.sessions = Some(SessionSettings {
            ttl: seconds(&sessions["ttl"]),
            no_expiry: sessions["noExpiry"] == true,
            held_by_server: sessions["heldByServer"] == true,
            required: Required {
                all: *required == true,
                methods: texts(&required["methods"]),
                tools: texts(&required["tools"]),
            },
        });
    }
    let front = &settings["front"];
    builder.front = Front {
        required: front["required"] != false,
        ttl: seconds(&front["ttl"]),
        sep1359: front["sep1359"] == true,
        declares: front["declares"] == true,
    };
    builder.build()
}

/// Begins the exchange of a message at the SDK's handlers; `arguments` are the request's, as JSON.
#[must_use]
pub fn message(guard: &Guard, document: &str, arguments: Option<&str>) -> (Exchange, String) {
    let Ok(document) = object(document) else {
        return unreadable(guard);
    };
    let (principal, mistake) = known(&document);
    let session = &document["session"];
    let (mut exchange, step) = guard.message(Message {
        method: text(&document["method"]),
        target: document["target"].as_str(),
        arguments,
        notification: document["notification"] == true,
        modern: document["modern"] == true,
        header: document["header"].as_str(),
        carried: sent(&document["carried"]),
        session: (!session.is_null()).then(|| SentSession {
            id: sent(&session["id"]),
            state: sent(&session["state"]),
        }),
        principal,
    });
    let step = mistaken(&mut exchange, step, mistake);
    let told = tell(&mut exchange, step);
    (exchange, told)
}

/// Begins the exchange of a message around HTTP or stdio; `initialize` are the params of such a request,
/// as JSON.
#[must_use]
pub fn transport(guard: &Guard, document: &str, initialize: Option<&str>) -> (Exchange, String) {
    let Ok(document) = object(document) else {
        return unreadable(guard);
    };
    let (principal, mistake) = known(&document);
    let (mut exchange, step) = guard.transport(Transport {
        http: document["http"].as_str(),
        method: document["method"].as_str(),
        notification: document["notification"] == true,
        modern: document["modern"] == true,
        version: document["version"].as_str(),
        header: sent(&document["header"]),
        inside: sent(&document["inside"]),
        initialize,
        principal,
    });
    let step = mistaken(&mut exchange, step, mistake);
    let told = tell(&mut exchange, step);
    (exchange, told)
}

/// Takes what came of the last step. `value` is the first value of a session, or the whole result of
/// `initialize`, as JSON.
///
/// # Errors
///
/// As [`Exchange::on`], and [`Error::InvalidArgument`] for a document that is no event.
pub fn on(exchange: &mut Exchange, document: &str, value: Option<&str>) -> Result<String, Error> {
    let document = object(document)?;
    let failed = |place: &Value| place["failed"].as_str().map(|why| Failed(why.to_owned()));
    let (name, told) = document.iter().next().ok_or(NO_DOCUMENT)?;
    let event = match name.as_str() {
        "principal" => Event::Principal(match failed(told) {
            Some(failed) => Err(failed),
            None => principal(told).map_err(|error| Failed(error.to_string())),
        }),
        "answer" => Event::Answer(match (told.as_str(), failed(told)) {
            (Some("yes"), _) => Verdict::Yes,
            (_, Some(failed)) => Verdict::Unavailable(failed),
            _ => Verdict::No(place(&told["no"])?),
        }),
        "begun" => Event::Begun(match (failed(told), value) {
            (Some(failed), _) => Err(failed),
            (None, Some(value)) => Ok(value),
            (None, None) => return Err(NO_DOCUMENT),
        }),
        "left" => Event::Left(Head {
            outcome: match told["outcome"].as_str() {
                Some("input_required") => Outcome::InputRequired,
                Some("error") => Outcome::Error,
                _ => Outcome::Complete,
            },
            token: sent(&told["token"]),
            scope: told["scope"].as_str().map(|scope| match scope {
                "public" => Scope::Public,
                _ => Scope::Private,
            }),
            no_meta: told["noMeta"] == true,
            initialized: value,
        }),
        _ => return Err(NO_DOCUMENT),
    };
    let step = exchange.on(event)?;
    Ok(tell(exchange, step))
}

/// Begins an exchange for what a handler does with a handle; `value` is what it shall hold, as JSON.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for a document that is no act.
pub fn act(
    exchange: &Exchange,
    document: &str,
    value: Option<&str>,
) -> Result<(Exchange, String), Error> {
    let document = object(document)?;
    let handle = sent(&document["handle"]);
    let max_age = seconds(&document["maxAge"]);
    let before = &document["before"];
    let what = match document["do"].as_str() {
        Some("mint") => What::Mint { max_age },
        Some("check") => What::Check { handle, max_age },
        Some("seal") => What::Seal {
            value: value.ok_or(NO_DOCUMENT)?,
            ttl: seconds(&document["ttl"]),
            before: before["startedAt"].as_u64().map(|started_at| Before {
                started_at,
                generation: number(&before["generation"]),
            }),
        },
        Some("open") => What::Open { handle, max_age },
        Some("end") => What::End {
            handle,
            max_age,
            held: document["held"] == true,
        },
        _ => return Err(NO_DOCUMENT),
    };
    let handle_type = text(&document["type"]);
    let (mut acting, step) = exchange.act(Act { handle_type, what });
    let told = tell(&mut acting, step);
    Ok((acting, told))
}

const NO_DOCUMENT: Error = Error::InvalidArgument(alloc::borrow::Cow::Borrowed(
    "engine: expected a document as docs/engine.md has it",
));

fn object(document: &str) -> Result<Object, Error> {
    match serde_json::from_slice(document.as_bytes()) {
        Ok(Value::Object(object)) => Ok(Object(object)),
        _ => Err(NO_DOCUMENT),
    }
}

/// An object whose members that are absent are `null`.
struct Object(Map<String, Value>);

impl core::ops::Index<&str> for Object {
    type Output = Value;

    #[inline(never)]
    fn index(&self, member: &str) -> &Value {
        self.0.get(member).unwrap_or(&Value::Null)
    }
}

impl Object {
    fn iter(&self) -> serde_json::map::Iter<'_> {
        self.0.iter()
    }
}

fn sent(value: &Value) -> Sent<'_> {
    match value {
        Value::Null => Sent::Absent,
        Value::String(text) => Sent::Text(text),
        _ => Sent::Other,
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items
        .filter_map(Value::as_str)
        .map(ToOwned::to_owned)
        .collect()
}

fn seconds(value: &Value) -> Option<Duration> {
    value.as_u64().map(Duration::from_secs)
}

fn number(value: &Value) -> u32 {
    value
        .as_u64()
        .and_then(|number| u32::try_from(number).ok())
        .unwrap_or_default()
}

fn place(value: &Value) -> Result<usize, Error> {
    let place = value.as_u64().and_then(|place| usize::try_from(place).ok());
    place.ok_or(NO_DOCUMENT)
}

/// Who asks, where that is known already; or what is wrong with it, which is not the client's fault.
fn known(document: &Object) -> (Option<Principal>, Option<Error>) {
    match &document["principal"] {
        Value::Null => (None, None),
        told => match principal(told) {
            Ok(known) => (Some(known), None),
            Err(error) => (None, Some(error)),
        },
    }
}

/// Where it has to be known who asks, what is wrong with that.
fn mistaken(exchange: &mut Exchange, step: Step, mistake: Option<Error>) -> Step {
    match (step, mistake) {
        (Step::Identify, Some(error)) => {
            let failed = Event::Principal(Err(Failed(error.to_string())));
            exchange.on(failed).unwrap_or(Step::Drop)
        }
        (step, _) => step,
    }
}

fn principal(told: &Value) -> Result<Principal, Error> {
    if told["anonymous"] == true {
        return Ok(Principal::anonymous());
    }
    let part = |name: &str| told[name].as_str();
    Principal::from_parts(part("issuer"), part("client"), part("subject"))
}

/// What a message is answered whose document could not be read.
fn unreadable(guard: &Guard) -> (Exchange, String) {
    let (mut exchange, step) = Exchange::unreadable(guard.clone());
    let told = tell(&mut exchange, step);
    (exchange, told)
}

/// A step as a document, with what was refused on the way.
fn tell(exchange: &mut Exchange, step: Step) -> String {
    let mut told = Told::of(&step);
    match step {
        Step::Ask(Question::Accept(tokens)) => {
            let tokens: Vec<Value> = tokens.iter().map(presented).collect();
            told.put("accept", tokens);
        }
        Step::Ask(Question::End(token)) => told.put("end", presented(&token)),
        Step::Deliver(deliver) => {
            told.text("carried", deliver.carried);
            told.text("own", deliver.own);
            told.text("negotiated", deliver.negotiated);
            told.text("tokenId", deliver.token_id);
            if let Some(expires_at) = deliver.expires_at {
                told.put("expiresAt", expires_at);
            }
            told.text("version", deliver.version);
            told.text("stamp", deliver.stamp);
            match deliver.watch {
                Watch::Never => {}
                Watch::Member(member) => told.put("watch", member),
                Watch::Always => told.put("watch", true),
            }
            if let Some(session) = exchange.session() {
                told.put(
                    "session",
                    json!({
                        "id": session.id(),
                        "ulid": session.ulid(),
                        "generation": session.generation(),
                        "value": session.value(),
                    }),
                );
            }
        }
        Step::Leave(leave) => {
            told.text("token", leave.token);
            if let Some(metadata) = leave.metadata {
                told.put("metadata", self::metadata(metadata).0);
            }
            told.flag("private", leave.private);
            told.flag("declare", leave.declare);
            told.text("header", leave.header);
            if let Some(timeout) = leave.timeout {
                told.put("timeout", timeout);
            }
        }
        Step::Reply(reply) => {
            if let Some(status) = reply.status {
                told.put("status", status);
            }
            if let Some(allow) = reply.allow {
                told.put("allow", allow);
            }
            if let Some(error) = reply.error {
                told.put("error", self::error(error));
            }
            told.flag("done", reply.done);
            if let Some(tool) = reply.tool {
                let content = json!([{"type": "text", "text": tool.content[0].text}]);
                told.put("tool", json!({"content": content, "isError": true}));
            }
        }
        Step::Done(made) => told.made(*made),
        Step::Identify | Step::Begin | Step::Drop => {}
    }
    let refused = exchange.refused();
    if !refused.is_empty() {
        let refused: Vec<Value> = refused.into_iter().map(self::refused).collect();
        told.put("refused", refused);
    }
    told.written()
}

struct Told(Map<String, Value>);

impl Told {
    fn of(step: &Step) -> Self {
        let name = match step {
            Step::Identify => "identify",
            Step::Ask(_) => "ask",
            Step::Begin => "begin",
            Step::Deliver(_) => "deliver",
            Step::Leave(_) => "leave",
            Step::Reply(_) => "reply",
            Step::Done(_) => "done",
            Step::Drop => "drop",
        };
        let mut told = Self(Map::new());
        told.put("step", name);
        told
    }

    fn written(self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    fn put(&mut self, member: &str, value: impl Into<Value>) {
        self.insert(member, value.into());
    }

    /// Small, as WebAssembly: each of its forty calls would be.
    #[inline(never)]
    fn insert(&mut self, member: &str, value: Value) {
        self.0.insert(member.to_owned(), value);
    }

    #[inline(never)]
    fn text(&mut self, member: &str, text: Option<String>) {
        if let Some(text) = text {
            self.insert(member, text.into());
        }
    }

    fn flag(&mut self, member: &str, is: bool) {
        if is {
            self.put(member, true);
        }
    }

    fn made(&mut self, made: Made) {
        self.text("handle", made.handle);
        self.put("id", made.id);
        self.text("expiresAt", made.expires_at);
        self.text("value", made.value);
        if let Some(before) = made.before {
            let (started_at, generation) = (before.started_at, before.generation);
            self.put(
                "before",
                json!({"startedAt": started_at, "generation": generation}),
            );
        }
        if let Some(life) = made.life {
            let mut told = Told(Map::new());
            told.put("issuedAt", life.issued_at);
            told.put("expiresAt", life.expires_at);
            told.flag("needsReseal", life.needs_reseal);
            told.flag("needsRenewal", life.needs_renewal);
            self.insert("life", Value::Object(told.0));
        }
    }
}

fn presented(token: &Presented) -> Value {
    let mut told = Told(Map::new());
    told.put("kind", token.item.name());
    told.put("id", token.id.as_str());
    told.put("until", token.until);
    told.flag("public", token.public);
    Value::Object(told.0)
}

fn refused(one: Refused) -> Value {
    let mut told = Told(Map::new());
    told.put("code", one.code);
    told.put("kind", one.item.name());
    told.text("tokenId", one.token_id);
    told.put("message", one.message);
    Value::Object(told.0)
}

fn metadata(metadata: crate::SessionMetadata) -> Told {
    let mut told = Told(Map::new());
    told.put("sessionId", metadata.session_id);
    told.text("expiresAt", metadata.expires_at);
    told.text("state", metadata.state);
    told
}

fn error(error: RpcError) -> Value {
    let mut told = Told(Map::new());
    told.put("code", error.code);
    told.put("message", error.message);
    match error.data {
        Some(ErrorData::SessionId(id)) => told.put("data", json!({"sessionId": id})),
        Some(ErrorData::Reason(reason)) => told.put("data", json!({"reason": reason})),
        None => {}
    }
    Value::Object(told.0)
}

/// The text of a session's metadata, for a result.
///
/// # Errors
///
/// As [`Exchange::fork`].
pub fn fork(exchange: &Exchange) -> Result<String, Error> {
    exchange.fork().map(|forked| metadata(forked).written())
}
