//! An adapter without an SDK: takes messages apart for the engine, and carries out its steps.

use sealwax_mcp::{
    ClientSession, ClientValue, Event, Exchange, Failed, HandlerResult, Level, Message, Outcome,
    Reply, Report, Respond, Scope, Step, TokenFields, TransportMessage, Updated,
};
use serde_json::{Value, json};

use crate::world::World;
use crate::{handler, matching};

const SESSION: &str = "io.modelcontextprotocol/session";

/// The outcome of an event.
#[derive(Debug, Default)]
pub struct Found {
    pub asked: Vec<String>,
    /// Whether each token that `accept` was asked about is bound to no principal.
    pub anybodys: Vec<bool>,
    pub delivered: Value,
    pub did: Vec<Value>,
    /// The commands that the ledger got, but `open`.
    pub commands: Vec<&'static str>,
    /// What is wrong with an event during this one.
    pub wrong: Option<String>,
    /// What was given to `update`, for a newer value.
    pub updates: Vec<handler::Update>,
    pub answered: Value,
    pub reported: Vec<Value>,
    /// What happened to tokens: event, kind, id of the key and age.
    pub happened: Vec<String>,
    /// The message that was sent, for the session id that an answer echoes.
    pub sent: Value,
    pub identified: bool,
}

impl Found {
    pub fn report(&mut self, exchange: &mut Exchange) {
        for one in exchange.refused() {
            let level = matches!(one.level, Level::Warn | Level::Error);
            assert!(level && !one.message.is_empty(), "{one:?}");
            self.reported
                .push(json!({"code": one.code, "kind": one.item.name()}));
        }
        for event in exchange.events() {
            let (key_id, age) = (event.key_id.map(|id| id.to_string()), event.age);
            let happened = matching::happened(event.event, event.item, key_id, age);
            self.happened.push(happened);
        }
    }
}

/// Plays the events of a transcript, or of a handler. Returns what differs first.
pub fn play_all(world: &mut World, events: &Value) -> Result<(), String> {
    for (at, event) in events.as_array().into_iter().flatten().enumerate() {
        let found = play(world, event);
        matching::compare(world, event, &found).map_err(|why| format!("event {at}: {why}"))?;
    }
    Ok(())
}

fn play(world: &mut World, event: &Value) -> Found {
    world.before(event);
    let message = world.resolved(&event["message"]);
    let mut found = Found {
        sent: message.clone(),
        ..Found::default()
    };
    let answered = match event["via"].as_str() {
        Some("request") => at_the_handlers(world, event, &message, None, &mut found),
        Some("http") => over_http(world, event, message, &mut found),
        Some("stdio") => on_stdio(world, event, message, &mut found),
        Some("operator") => Some(revoke(world, event, &mut found)),
        other => panic!("no way is named {other:?}"),
    };
    found.answered = answered.unwrap_or_default();
    found
}

fn revoke(world: &mut World, event: &Value, found: &mut Found) -> Value {
    let principal = world.principal(event["revoke"].as_str().unwrap());
    let (mut exchange, mut step) = world.guard.revoke(&principal.unwrap(), None).unwrap();
    let done = loop {
        match step {
            Step::Ledger(command) => step = exchange.on(found.run(world, &command)).unwrap(),
            Step::Done(_) => break true,
            _ => break false,
        }
    };
    found.report(&mut exchange);
    json!({"done": done})
}

/// A request or a notification at the SDK's handlers. `known` is the principal, if it was resolved before.
fn at_the_handlers(
    world: &mut World,
    event: &Value,
    message: &Value,
    known: Option<sealwax::Principal>,
    found: &mut Found,
) -> Option<Value> {
    let method = message["method"].as_str().unwrap();
    let params = &message["params"];
    let carries = TokenFields::for_method(method);
    let member = |name: Option<&'static str>| name.and_then(|name| params.get(name));
    let target = member(carries.and_then(|carries| carries.target));
    // A tool is named whatever it carries.
    let target = target.and_then(Value::as_str);
    let arguments = params.get("arguments").filter(|it| !it.is_null());
    let arguments = arguments.map(Value::to_string);
    let session = params["_meta"].get(SESSION).filter(|it| !it.is_null());
    let header = world.resolved(&event["header"]);
    let notification = event["notification"] == true;
    let guard = world.guard.clone();
    let (mut exchange, mut step) = guard.message(Message {
        method,
        target,
        arguments: arguments.as_deref(),
        notification,
        modern: event["era"] == "modern",
        header: header.as_str(),
        token: sent(member(carries.map(|carries| carries.param))),
        session: session.map(|sent_session| ClientSession {
            id: sent(sent_session.get("sessionId")),
            state: sent(sent_session.get("state")),
        }),
        principal: known.clone().map(Ok),
        within: None,
    });
    let mut returned = None;
    #[expect(unused_assignments, reason = "it outlives the step that it is made in")]
    let mut written = String::new();
    let mut watched = false;
    let answered = loop {
        let next = match step {
            Step::Identify => found.identify(world, event),
            Step::Ask { question, .. } => Event::Answer(found.answer(world, question)),
            Step::Ledger(command) => found.run(world, &command),
            Step::Update(value) => match handler::updated(found, event, &value) {
                Ok((value, remade)) => {
                    written = value;
                    let remakes = remade.is_some();
                    returned = remade.or(returned);
                    let made = returned.as_ref().filter(|_| remakes);
                    let member = carries.map(|carries| carries.result);
                    Event::Updated(Ok(Updated {
                        value: &written,
                        result: made.map(|made| head(made, member)),
                    }))
                }
                Err(failed) => Event::Updated(Err(failed)),
            },
            Step::Begin => {
                found.asked.push("begin".into());
                returned = Some(json!(world.initial()));
                Event::Begun(Ok(returned.as_ref().unwrap().as_str().unwrap()))
            }
            Step::Deliver(deliver) => {
                found.delivered = json!({});
                if let Some(carries) = carries {
                    let member = if carries.param == "cursor" {
                        "cursor"
                    } else {
                        "state"
                    };
                    found.delivered[member] = json!(deliver.opened);
                }
                found.delivered["session"] = handler::session_of(&exchange);
                let result = match deliver.builtin_result {
                    Some(own) => Some(serde_json::from_str(&own).unwrap()),
                    None => handler::run(world, &mut exchange, event, found),
                };
                let Some(result) = result else {
                    let error = json!({"code": -32000, "message": "the handler's own"});
                    break Some(json!({"error": error}));
                };
                if notification {
                    break None;
                }
                // Reports every result, even where `watch` asks for none: the outcome must be the same.
                watched = match deliver.report {
                    Report::Never => false,
                    Report::Member(member) => result.get(member).is_some(),
                    _ => true,
                };
                returned = Some(result);
                let result = returned.as_ref().unwrap();
                Event::Result(head(result, carries.map(|carries| carries.result)))
            }
            Step::Respond(leave) => {
                let given = returned.take().unwrap();
                let leaving = left(given.clone(), carries, &leave);
                assert!(watched || leaving == given, "changed, and not watched");
                break Some(json!({"result": leaving}));
            }
            Step::Reply(reply) => break Some(replied(&reply)),
            Step::Drop => break None,
            other => panic!("a message gives no {other:?}"),
        };
        step = exchange.on(next).unwrap();
    };
    found.report(&mut exchange);
    answered
}

fn over_http(world: &mut World, event: &Value, message: Value, found: &mut Found) -> Option<Value> {
    let headers = world.resolved(&event["headers"]);
    let reply = around(world, event, message, &headers, found);
    Some(match reply {
        Around::Answered(message, header) => {
            let mut answered = json!({"status": 200, "message": message});
            if let Some(header) = header {
                answered["headers"] = json!({"mcp-session-id": header});
            }
            answered
        }
        Around::Replied(reply) => {
            let mut answered = json!({"status": reply.status.unwrap_or(200)});
            if reply.error.is_some() || reply.done {
                answered["message"] = replied(&reply);
            }
            answered
        }
        // As servers answer a method that is none of the protocol's.
        Around::Dropped
            if !["POST", "GET", "DELETE"].contains(&event["http"].as_str().unwrap()) =>
        {
            json!({"status": 405})
        }
        Around::Dropped => json!({"status": 202}),
    })
}

fn on_stdio(world: &mut World, event: &Value, message: Value, found: &mut Found) -> Option<Value> {
    match around(world, event, message, &Value::Null, found) {
        Around::Answered(message, _) => Some(message),
        Around::Replied(reply) => Some(replied(&reply)),
        Around::Dropped => None,
    }
}

enum Around {
    Answered(Value, Option<String>),
    Replied(Reply),
    Dropped,
}

fn around(
    world: &mut World,
    event: &Value,
    mut message: Value,
    headers: &Value,
    found: &mut Found,
) -> Around {
    let inside = message
        .as_object_mut()
        .and_then(|message| message.remove("sessionId"));
    let within = message.get_mut("result").and_then(Value::as_object_mut);
    let inside = inside.or_else(|| within.and_then(|result| result.remove("sessionId")));
    let method = message["method"].as_str();
    let initialize = message["params"].to_string();
    let guard = world.guard.clone();
    let (mut exchange, mut step) = guard.transport(TransportMessage {
        http: event["http"].as_str(),
        method,
        target: None,
        notification: event["notification"] == true,
        modern: event["era"] == "modern",
        version: headers["mcp-protocol-version"].as_str(),
        header: sent(headers.get("mcp-session-id")),
        message_session_id: sent(inside.as_ref()),
        initialize: Some(initialize.as_str()).filter(|_| method == Some("initialize")),
        principal: None,
    });
    let mut known = None;
    let mut answered = Value::Null;
    #[expect(unused_assignments, reason = "it outlives the step that it is made in")]
    let mut initialized = String::new();
    let came = loop {
        let next = match step {
            Step::Identify => {
                let identified = found.identify(world, event);
                if let Event::Principal(Ok(principal)) = &identified {
                    known.clone_from(principal);
                }
                identified
            }
            Step::Ask { question, .. } => Event::Answer(found.answer(world, question)),
            Step::Ledger(command) => found.run(world, &command),
            Step::Deliver(deliver) if method == Some("initialize") => {
                found.delivered = json!({});
                answered = json!({"result": {
                    "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"},
                }});
                initialized = answered["result"].to_string();
                assert_eq!(deliver.report, Report::Always);
                Event::Result(HandlerResult {
                    initialized: Some(&initialized),
                    ..HandlerResult::default()
                })
            }
            Step::Deliver(deliver) => {
                if event["era"] != "modern" && deliver.negotiated.is_some() {
                    let version = headers["mcp-protocol-version"].as_str();
                    assert_eq!(deliver.version.is_some(), version.is_none());
                }
                if event["again"] == false {
                    let failed = Failed("initialize: refused".into());
                    step = exchange.on(Event::NotResumed(failed)).unwrap();
                    continue;
                }
                if message.is_null() {
                    break Around::Dropped;
                }
                let inner = at_the_handlers(world, event, &message, known, found);
                let mut inner = inner.unwrap_or_default();
                if let (Some(stamp), Some(result)) =
                    (deliver.add_session_id, inner.get_mut("result"))
                {
                    result["sessionId"] = stamp.into();
                }
                break Around::Answered(inner, None);
            }
            Step::Respond(leave) => {
                if let Some(timeout) = leave.timeout {
                    answered["result"]["sessionId"] = json!(leave.header);
                    answered["result"]["sessionTimeout"] = timeout.into();
                }
                break Around::Answered(answered, leave.header);
            }
            Step::Reply(reply) => break Around::Replied(reply),
            Step::Drop => break Around::Dropped,
            other => panic!("a transport gives no {other:?}"),
        };
        step = exchange.on(next).unwrap();
    };
    found.report(&mut exchange);
    came
}

/// The value that a client sent at a place.
pub fn sent(value: Option<&Value>) -> ClientValue<'_> {
    value.map_or(ClientValue::Absent, Into::into)
}

fn head<'a>(result: &'a Value, member: Option<&str>) -> HandlerResult<'a> {
    HandlerResult {
        outcome: match result["resultType"].as_str() {
            Some("input_required") => Outcome::InputRequired,
            _ => Outcome::Complete,
        },
        token: sent(member.and_then(|member| result.get(member))),
        scope: result.get("cacheScope").map(|scope| match scope.as_str() {
            Some("public") => Scope::Public,
            _ => Scope::Private,
        }),
        has_ttl: result.get("ttlMs").is_some(),
        ..HandlerResult::default()
    }
}

fn left(mut result: Value, carries: Option<TokenFields>, leave: &Respond) -> Value {
    if let (Some(token), Some(carries)) = (&leave.token, carries) {
        result[carries.result] = token.as_str().into();
    }
    if let Some(scope) = leave.cache_scope {
        assert_eq!(scope, Scope::Private);
        result["cacheScope"] = "private".into();
    }
    if let Some(ttl_ms) = leave.ttl_ms {
        result["ttlMs"] = ttl_ms.into();
    }
    if let Some(metadata) = &leave.metadata {
        result["_meta"][SESSION] = json!(metadata);
    }
    if leave.declare {
        result["capabilities"]["sessions"] = json!({});
        result["capabilities"]["experimental"]["sessions"] = json!({});
    }
    result
}

fn replied(reply: &Reply) -> Value {
    match (&reply.error, &reply.tool, reply.done) {
        (Some(error), _, _) => json!({"error": error}),
        (_, Some(tool), _) => json!({"result": tool}),
        (_, _, true) => json!({"result": {}}),
        _ => Value::Null,
    }
}
