//! Takes messages apart for the engine, and carries out its steps.

use sealwax::Principal;
use sealwax_mcp::{
    AnswerHead, Body, Client, ClientSession, ClientValue, Deliver, Event, Exchange, Failed,
    HandlerResult, HttpRequest, Message, Outcome, Reply, Report, Respond, Scope, Set, Step,
    TokenFields,
};
use serde_json::{Value, json};

use crate::stage::report;
use crate::{Program, handler, say};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SESSION: &str = "io.modelcontextprotocol/session";

/// Returns what is answered: a message; over HTTP with the status and the header.
pub fn answered(program: &mut Program, told: &Value) -> Option<Value> {
    match told["via"].as_str().unwrap() {
        "request" => at_the_handlers(program, told, told["message"].clone(), None),
        "http" => Some(over_http(program, told)),
        _ => on_stdio(program, told),
    }
}

/// A request or a notification at the SDK's handlers. `known` is the principal, if it was resolved before.
fn at_the_handlers(
    program: &mut Program,
    told: &Value,
    message: Value,
    known: Option<Principal>,
) -> Option<Value> {
    let method = message["method"].as_str().unwrap();
    let params = &message["params"];
    let carries = TokenFields::for_method(method);
    let member = |name: Option<&'static str>| name.and_then(|name| params.get(name));
    let target = member(carries.and_then(|carries| carries.target));
    let arguments = params.get("arguments").filter(|it| !it.is_null());
    let arguments = arguments.map(Value::to_string);
    let session = params["_meta"].get(SESSION).filter(|it| !it.is_null());
    let notification = told["notification"] == true;
    let responses = params.get("inputResponses").map(Value::to_string);
    let settled: Option<Value> = program
        .negotiated
        .take()
        .and_then(|it| serde_json::from_str(&it).ok());
    let settled = settled
        .as_ref()
        .map(|settled| &settled["clientCapabilities"]);
    let capabilities = match params["_meta"].get(CAPABILITIES).or(settled) {
        Some(capabilities) => capabilities.to_string(),
        None => r#"{"elicitation":{"form":{}}}"#.into(),
    };
    let client = Client {
        capabilities: Some(&capabilities),
        responses: responses.as_deref(),
        can_be_asked: told["via"] == "stdio",
    };
    let guard = program.stage().guard.clone();
    let message = Message {
        method,
        // A tool is named whatever it carries.
        target: target.and_then(Value::as_str),
        arguments: arguments.as_deref(),
        notification,
        modern: told["modern"] == true,
        header: told["header"].as_str(),
        token: sent(member(carries.map(|carries| carries.param))),
        session: session.map(|sent_session| ClientSession {
            id: sent(sent_session.get("sessionId")),
            state: sent(sent_session.get("state")),
        }),
        principal: known.map(Ok),
        within: None,
    };
    let (mut exchange, mut step) = guard.message_from(message, Some(&client));
    let mut words;
    let mut returned = None;
    let mut watched = false;
    let answered = loop {
        let next = match step {
            Step::Identify => program.stage().identify(),
            Step::Ledger(command) => program.stage().run(&command),
            Step::Begin => {
                returned = Some(json!(program.stage().initial()));
                Event::Begun(Ok(returned.as_ref().unwrap().as_str().unwrap()))
            }
            Step::Word(_) => Event::Worded(match program.stage().words() {
                Some(made) => {
                    words = made;
                    Ok(&words)
                }
                None => Err(Failed::Threw("an error".into())),
            }),
            Step::Elicit(elicitation) => {
                say(json!({"elicited": elicitation.params}));
                words = program.elicited().to_string();
                let answer: Value = serde_json::from_str(&words).unwrap();
                words = answer["result"].to_string();
                Event::Elicited(match &answer["error"] {
                    Value::Null => Ok(&words),
                    error => Err(Failed::Threw(error.to_string())),
                })
            }
            Step::List(list) => {
                let cursor = list.cursor.as_deref().unwrap_or_default();
                let page = program.stage().listed(cursor);
                words = page.clone().unwrap_or_default();
                let threw = || Failed::Threw("an error".into());
                Event::Listed(page.map(|_| &*words).ok_or_else(threw))
            }
            Step::Deliver(deliver) => {
                let mut seen = json!({"session": handler::session_of(&exchange)});
                if let Some(carries) = carries {
                    let cursor = carries.param == "cursor";
                    seen[if cursor { "cursor" } else { "state" }] = json!(deliver.opened);
                }
                seen["arguments"] = match exchange.called() {
                    Some(called) => called.arguments,
                    None => params["arguments"].clone(),
                };
                let result = match deliver.builtin_result {
                    Some(own) => Some(serde_json::from_str(&own).unwrap()),
                    None => handler::run(program, &mut exchange, seen),
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
                words = result.to_string();
                returned = Some(result);
                let result = returned.as_ref().unwrap();
                Event::Result(HandlerResult {
                    whole: exchange.reports_whole().then_some(&*words),
                    ..head(result, carries.map(|carries| carries.result))
                })
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
    report(&mut exchange);
    answered
}

/// Answers the questions about a message on HTTP or stdio; returns the next step, and the bytes that belong to it.
fn driven(
    program: &mut Program,
    exchange: &mut Exchange,
    mut step: Step,
    known: &mut Option<Principal>,
) -> (Step, Option<String>) {
    loop {
        let next = match step {
            Step::Identify => {
                let identified = program.stage().identify();
                if let Event::Principal(Ok(principal)) = &identified {
                    known.clone_from(principal);
                }
                identified
            }
            Step::Ledger(command) => program.stage().run(&command),
            step => {
                report(exchange);
                return (step, exchange.text());
            }
        };
        step = exchange.on(next).unwrap();
    }
}

fn over_http(program: &mut Program, told: &Value) -> Value {
    let (http, headers) = (told["http"].as_str().unwrap(), &told["headers"]);
    let came = match &told["message"] {
        Value::Null => String::new(),
        message => message.to_string(),
    };
    let modern = Some("2026-07-28").filter(|_| told["modern"] == true);
    let version = headers["mcp-protocol-version"].as_str();
    let guard = program.stage().guard.clone();
    let (mut exchange, step) = guard.http(HttpRequest {
        method: http,
        version: modern.or(version).into(),
        session: sent(headers.get("mcp-session-id")),
        body: (http == "POST").then_some(Body::Whole(came.as_bytes())),
        ..HttpRequest::default()
    });
    let mut known = None;
    let (step, body) = driven(program, &mut exchange, step, &mut known);
    let deliver = match step {
        Step::Deliver(deliver) => deliver,
        // As servers answer a method that is none of the protocol's.
        Step::Drop => return json!({"status": 202}),
        Step::Reply(reply) => return replied_over_http(&reply, body.as_deref()),
        other => panic!("a transport gives no {other:?}"),
    };
    if deliver.negotiated.is_some() {
        assert_eq!(deliver.version.is_some(), version.is_none());
    }
    let message: Value = serde_json::from_str(&body.unwrap_or(came)).unwrap_or_default();
    if message["method"].is_null() {
        let status = if ["POST", "GET", "DELETE"].contains(&http) {
            202
        } else {
            405
        };
        return json!({"status": status});
    }
    let Some(answer) = at_the_sdk(program, told, &message, &deliver, known.clone()) else {
        return json!({"status": 202});
    };
    let head = AnswerHead {
        status: 200,
        content_type: Some("application/json"),
        session: None,
    };
    let changes = exchange.answer(&head).unwrap();
    assert_eq!(
        changes,
        deliver.report == Report::Always || deliver.add_session_id.is_some()
    );
    if !changes {
        return json!({"status": 200, "message": told_of(&answer)});
    }
    assert_eq!(exchange.piece(answer.as_bytes()).unwrap(), None);
    let step = exchange.answered().unwrap();
    match driven(program, &mut exchange, step, &mut known) {
        (Step::Respond(respond), rest) => {
            let mut answered = json!({"status": 200, "message": told_of(&rest.unwrap())});
            if let Some(header) = respond.header {
                answered["headers"] = json!({"mcp-session-id": header});
            }
            answered
        }
        (Step::Reply(reply), text) => replied_over_http(&reply, text.as_deref()),
        other => panic!("an answer gives no {other:?}"),
    }
}

fn replied_over_http(reply: &Reply, text: Option<&str>) -> Value {
    let mut answered = json!({"status": reply.status.unwrap_or(200), "headers": {}});
    if let Some(allow) = reply.allow {
        answered["headers"]["allow"] = allow.into();
    }
    if let Some(text) = text {
        answered["message"] = told_of(text);
    }
    answered
}

/// Returns what a message says: its result or its error.
fn told_of(text: &str) -> Value {
    let message: Value = serde_json::from_str(text).unwrap();
    let of = |name: &str| message.get(name).map(|value| json!({name: value}));
    of("result").or(of("error")).unwrap_or_default()
}

/// Serves a message as an SDK does; returns its answer, if it has one.
fn at_the_sdk(
    program: &mut Program,
    told: &Value,
    message: &Value,
    deliver: &Deliver,
    known: Option<Principal>,
) -> Option<String> {
    let mut answer = if message["method"] == "initialize" {
        json!({"result": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"},
        }})
    } else {
        program.session_id.clone_from(&deliver.id);
        program.negotiated.clone_from(&deliver.negotiated);
        at_the_handlers(program, told, message.clone(), known)?
    };
    answer["id"] = message["id"].clone();
    Some(answer.to_string())
}

fn on_stdio(program: &mut Program, told: &Value) -> Option<Value> {
    let connection = program.stage().connection.clone();
    let line = told["message"].to_string();
    let (mut exchange, step) = connection.line(line.as_bytes());
    let mut known = None;
    let (mut step, mut text) = driven(program, &mut exchange, step, &mut known);
    if let Step::Replay = step {
        let asked: Value = serde_json::from_str(&text.unwrap()).unwrap();
        let answer = match told["again"] == false {
            true => json!({"id": asked["id"], "error": {"code": -32602, "message": "refused"}}),
            false => {
                json!({"id": asked["id"], "result": {"protocolVersion": asked["params"]["protocolVersion"]}})
            }
        };
        let (mut replayed, begun) = connection.leaves(answer.to_string().as_bytes(), None);
        assert!(matches!(begun, Step::Replayed));
        let answer = replayed.text().unwrap();
        let next = exchange.on(Event::Replayed(Ok(&answer))).unwrap();
        (step, text) = driven(program, &mut exchange, next, &mut known);
    }
    let deliver = match step {
        Step::Deliver(deliver) => deliver,
        Step::Reply(_) => return text.map(|text| told_of(&text)),
        Step::Drop => return None,
        other => panic!("a line gives no {other:?}"),
    };
    // Behind what begins the session again.
    let text = text.unwrap();
    let message: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    if message["method"].is_null() {
        return None;
    }
    let answer = at_the_sdk(program, told, &message, &deliver, known.clone())?;
    let (mut exchange, step) = connection.leaves(answer.as_bytes(), None);
    let (_, text) = driven(program, &mut exchange, step, &mut known);
    text.map(|text| told_of(&text))
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
    for Set(path, value) in leave.set(carries) {
        let place = path
            .iter()
            .fold(&mut result, |place, name| &mut place[*name]);
        *place = json!(value);
    }
    result
}

fn replied(reply: &Reply) -> Value {
    match (&reply.error, &reply.tool, reply.done) {
        (Some(error), _, _) => json!({"error": error}),
        (_, Some(tool), _) => json!({"result": tool}),
        (_, _, true) => json!({"result": {}}),
        _ if reply.result.is_some() => json!({"result": reply.result}),
        _ => Value::Null,
    }
}
