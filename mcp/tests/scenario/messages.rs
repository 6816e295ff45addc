//! Takes messages apart for the engine, and carries out its steps.

use sealwax::Principal;
use sealwax_mcp::{
    Client, ClientSession, ClientValue, Event, Failed, HandlerResult, Message, Outcome, Reply,
    Report, Respond, Scope, Step, TokenFields, TransportMessage,
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
        _ => match around(program, told) {
            Around::Answered(message, _) => Some(message),
            Around::Replied(reply) => Some(replied(&reply)),
            Around::Dropped => None,
        },
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

fn over_http(program: &mut Program, told: &Value) -> Value {
    match around(program, told) {
        Around::Answered(message, header) => {
            let mut answered = json!({"status": 200, "message": message});
            if let Some(header) = header {
                answered["headers"] = json!({"mcp-session-id": header});
            }
            answered
        }
        Around::Replied(reply) => {
            let mut answered = json!({"status": reply.status.unwrap_or(200), "headers": {}});
            if let Some(allow) = reply.allow {
                answered["headers"]["allow"] = allow.into();
            }
            if reply.error.is_some() || reply.done {
                answered["message"] = replied(&reply);
            }
            answered
        }
        // As servers answer a method that is none of the protocol's.
        Around::Dropped if !["POST", "GET", "DELETE"].contains(&told["http"].as_str().unwrap()) => {
            json!({"status": 405})
        }
        Around::Dropped => json!({"status": 202}),
    }
}

/// What comes of a message at the wrapper around HTTP or stdio.
enum Around {
    Answered(Value, Option<String>),
    Replied(Reply),
    Dropped,
}

fn around(program: &mut Program, told: &Value) -> Around {
    let (mut message, headers) = (told["message"].clone(), &told["headers"]);
    let inside = message
        .as_object_mut()
        .and_then(|message| message.remove("sessionId"));
    let within = message.get_mut("result").and_then(Value::as_object_mut);
    let inside = inside.or_else(|| within.and_then(|result| result.remove("sessionId")));
    let method = message["method"].as_str();
    let initialize = message["params"].to_string();
    let guard = program.stage().guard.clone();
    let (mut exchange, mut step) = guard.transport(TransportMessage {
        http: told["http"].as_str(),
        method,
        target: None,
        unreadable: false,
        notification: told["notification"] == true,
        modern: told["modern"] == true,
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
                let identified = program.stage().identify();
                if let Event::Principal(Ok(principal)) = &identified {
                    known.clone_from(principal);
                }
                identified
            }
            Step::Ledger(command) => program.stage().run(&command),
            Step::Deliver(deliver) if method == Some("initialize") => {
                answered = json!({"result": {
                    "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"},
                }});
                initialized = answered["result"].to_string();
                assert_eq!(deliver.report, Report::Always);
                Event::Result(HandlerResult {
                    whole: Some(&initialized),
                    ..HandlerResult::default()
                })
            }
            Step::Deliver(deliver) => {
                if told["modern"] != true && deliver.negotiated.is_some() {
                    let version = headers["mcp-protocol-version"].as_str();
                    assert_eq!(deliver.version.is_some(), version.is_none());
                }
                if told["again"] == false {
                    let failed = "initialize: refused".into();
                    step = exchange.on(Event::NotResumed(failed)).unwrap();
                    continue;
                }
                if method.is_none() {
                    break Around::Dropped;
                }
                program.session_id = deliver.id;
                program.negotiated = deliver.negotiated;
                let inner = at_the_handlers(program, told, message, known);
                let mut inner = inner.unwrap_or_default();
                let result = inner.get_mut("result");
                if let (Some(stamp), Some(result)) = (deliver.add_session_id, result) {
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
    report(&mut exchange);
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
    if let Some(tools) = &leave.tools {
        result["tools"] = (**tools).clone();
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
        _ if reply.result.is_some() => json!({"result": reply.result}),
        _ => Value::Null,
    }
}
