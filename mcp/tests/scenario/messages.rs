//! Takes messages apart for the engine, and carries out its steps.

use sealwax_mcp::TokenFields;
use sealwax_mcp::machine::{flag, kind};
use serde_json::{Value, json};

use crate::Program;
use crate::exchange::{Exchange, caller, sent};
use crate::handler::{Handler, client_value, session_of};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SESSION: &str = "io.modelcontextprotocol/session";

/// Returns what is answered: a message; over HTTP with the status and the header.
pub fn answered(program: &mut Program, told: &Value) -> Value {
    match told["via"].as_str().unwrap() {
        "request" => at_the_handlers(program, told, &told["message"], &Value::Null),
        "http" => over_http(program, told),
        _ => on_stdio(program, told),
    }
}

/// A request or a notification at the SDK's handlers. `known` is the principal, if it was resolved before.
fn at_the_handlers(program: &mut Program, told: &Value, message: &Value, known: &Value) -> Value {
    let params = &message["params"];
    let fields = TokenFields::for_method(message["method"].as_str().unwrap());
    let member = |name: Option<&'static str>| sent(name.and_then(|name| params.get(name)));
    let json_of = |value: &Value| (!value.is_null()).then(|| value.to_string().into_bytes());
    let session = &params["_meta"][SESSION];
    let settled = program.negotiated.take();
    let settled = settled.map(|it| serde_json::from_str::<Value>(&it).unwrap());
    let settled = settled
        .as_ref()
        .map(|settled| &settled["clientCapabilities"]);
    let capabilities = match params["_meta"].get(CAPABILITIES).or(settled) {
        Some(capabilities) => capabilities.to_string(),
        None => r#"{"elicitation":{"form":{}}}"#.into(),
    };
    let [arguments, responses] = ["arguments", "inputResponses"].map(|name| json_of(&params[name]));
    let (mut flags, [issuer, client, subject]) = caller(known);
    for (flag, is_set) in [
        (flag::NOTIFICATION, told["notification"] == true),
        (flag::MODERN, told["modern"] == true),
        (flag::SESSION, !session.is_null()),
        (flag::CAN_BE_ASKED, told["via"] == "stdio"),
    ] {
        flags |= if is_set { flag } else { 0 };
    }
    let texts = [
        sent(message.get("method")),
        // A tool is named whatever it carries.
        member(fields.and_then(|fields| fields.target)),
        arguments.as_deref(),
        member(fields.map(|fields| fields.param)),
        issuer,
        client,
        subject,
        sent(told.get("header")),
        sent(session.get("sessionId")),
        sent(session.get("state")),
        None,
        Some(capabilities.as_bytes()),
        responses.as_deref(),
    ];
    let (mut exchange, step) =
        Exchange::begun(&program.stage().guard, kind::MESSAGE, flags, &texts);
    let step = exchange.driven(program, step, &mut Value::Null);
    match step["step"].as_str().unwrap() {
        "deliver" => delivered(program, &mut exchange, told, params, fields, &step),
        "reply" => replied(&step),
        "drop" => Value::Null,
        other => panic!("a message gives no {other}"),
    }
}

/// Returns what the handler's result leaves as.
fn delivered(
    program: &mut Program,
    exchange: &mut Exchange,
    told: &Value,
    params: &Value,
    fields: Option<TokenFields>,
    step: &Value,
) -> Value {
    let opened = &step["opened"];
    let mut seen =
        json!({"session": session_of(&step["session"]), "arguments": params["arguments"]});
    let carries_state = fields.is_some_and(|fields| fields.param == "requestState");
    if fields.is_some() {
        seen[if carries_state { "state" } else { "cursor" }] = opened.clone();
    }
    for set in step["set"].as_array().into_iter().flatten() {
        if set[0] == json!(["arguments"]) {
            seen["arguments"] = set[1].clone();
        }
    }
    let result = match step["builtinResult"].as_str() {
        Some(own) => Some(serde_json::from_str(own).unwrap()),
        None => Handler {
            exchange,
            state: Some(opened.clone()).filter(|_| carries_state),
            session: step["session"].clone(),
        }
        .run(program, seen),
    };
    let Some(result) = result else {
        return json!({"error": {"code": -32000, "message": "the handler's own"}});
    };
    if told["notification"] == true {
        return Value::Null;
    }
    let token = fields.map(|fields| fields.result);
    // Reports every result, even where `report` asks for none: the outcome must be the same.
    let is_asked = match &step["report"] {
        _ if step["short"] == true => token.is_some_and(|token| result.get(token).is_some()),
        Value::String(member) => result.get(member).is_some(),
        report => *report == true,
    };
    let next = reported(exchange, step, &result, token);
    let next = exchange.driven(program, next, &mut Value::Null);
    if next["step"] == "reply" {
        return replied(&next);
    }
    assert_eq!(next["step"], "respond");
    let mut leaving = result.clone();
    for set in next["set"].as_array().into_iter().flatten() {
        let path = set[0].as_array().unwrap().iter();
        *path.fold(&mut leaving, |place, name| {
            &mut place[name.as_str().unwrap()]
        }) = set[1].clone();
    }
    if next["token"].is_string() {
        leaving[token.unwrap()] = next["token"].clone();
    }
    assert!(is_asked || leaving == result, "changed, and not asked for");
    json!({"result": leaving})
}

/// Reports a result: in short, or, where it has a token, the members that were asked for.
fn reported(exchange: &mut Exchange, step: &Value, result: &Value, token: Option<&str>) -> Value {
    let whole = result.to_string();
    let whole = Some(whole.as_bytes()).filter(|_| step["whole"] == true);
    let asked = step["members"].as_array();
    assert!(asked.is_some() || token.is_none() || step["short"] == true);
    let of = |name: &str| sent(result.get(name));
    let carried = token.and_then(of);
    if let Some(asked) = asked.filter(|_| carried.is_some()) {
        let values = asked.iter().map(|name| {
            let name = name.as_str().unwrap();
            (name.to_owned(), client_value(&result[name]))
        });
        let event = json!({"result": {"members": values.collect::<Value>()}}).to_string();
        return exchange.on(kind::EVENT, 0, &[Some(event.as_bytes()), whole]);
    }
    let texts = [of("resultType"), of("cacheScope"), carried, whole];
    let flags = result.get("ttlMs").map_or(0, |_| flag::TTL);
    exchange.on(kind::RESULT, flags, &texts)
}

fn over_http(program: &mut Program, told: &Value) -> Value {
    let (http, headers) = (&told["http"], &told["headers"]);
    let came = Some(told["message"].to_string()).filter(|_| !told["message"].is_null());
    let came = came.unwrap_or_default();
    let version = match told["modern"] == true {
        true => Some("2026-07-28".as_bytes()),
        false => sent(headers.get("mcp-protocol-version")),
    };
    let texts = [
        sent(Some(http)),
        version,
        sent(headers.get("mcp-session-id")),
    ];
    let (mut exchange, step) = Exchange::begun(&program.stage().guard, kind::HTTP, 0, &texts);
    let mut known = Value::Null;
    let mut step = exchange.driven(program, step, &mut known);
    if step["step"] == "ask" {
        let next = exchange.on(kind::BODY, 0, &[Some(came.as_bytes())]);
        step = exchange.driven(program, next, &mut known);
    }
    match step["step"].as_str().unwrap() {
        "deliver" => {}
        // As servers answer a method that is none of the protocol's.
        "drop" => return json!({"status": 202}),
        _ => return replied_over_http(&step, exchange.beside.as_deref()),
    }
    if step["negotiated"].is_string() {
        assert_eq!(step["version"].is_string(), version.is_none());
    }
    let message = exchange.beside.take().unwrap_or(came);
    let message: Value = serde_json::from_str(&message).unwrap_or_default();
    if message["method"].is_null() {
        let served = ["POST", "GET", "DELETE"].map(Value::from).contains(http);
        return json!({"status": if served { 202 } else { 405 }});
    }
    let Some(answer) = at_the_sdk(program, told, &message, &step, &known) else {
        return json!({"status": 202});
    };
    let head = [Some(&b"200"[..]), Some(b"application/json"), None];
    let made = exchange.tell(kind::ANSWER, 0, &head).unwrap();
    let changes = made.flags == flag::CHANGES;
    assert_eq!(
        changes,
        step["report"] == true || step["addSessionId"].is_string()
    );
    if !changes {
        return json!({"status": 200, "message": told_of(&answer)});
    }
    let sent = exchange.tell(kind::PIECE, 0, &[Some(answer.as_bytes())]);
    assert_eq!(sent.unwrap().texts, [None, None]);
    let step = exchange.on(kind::ANSWERED, 0, &[]);
    let step = exchange.driven(program, step, &mut known);
    let body = exchange.beside.as_deref();
    if step["step"] == "reply" {
        return replied_over_http(&step, body);
    }
    let mut answered = json!({"status": 200, "message": told_of(body.unwrap())});
    if let Some(header) = step["headers"].get("Mcp-Session-Id") {
        answered["headers"] = json!({"mcp-session-id": header});
    }
    answered
}

fn replied_over_http(reply: &Value, text: Option<&str>) -> Value {
    assert_eq!(reply["step"], "reply");
    let mut answered = json!({"status": reply["status"].as_u64().unwrap_or(200), "headers": {}});
    if reply["allow"].is_string() {
        answered["headers"]["allow"] = reply["allow"].clone();
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
    deliver: &Value,
    known: &Value,
) -> Option<String> {
    let answer = if message["method"] == "initialize" {
        json!({"result": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"},
        }})
    } else {
        program.session_id = deliver["id"].as_str().map(str::to_owned);
        program.negotiated = deliver["negotiated"].as_str().map(str::to_owned);
        at_the_handlers(program, told, message, known)
    };
    if answer.is_null() {
        return None;
    }
    // The id is behind the result.
    let answer = answer.to_string();
    Some(format!(
        "{},\"id\":{}}}",
        answer.strip_suffix('}').unwrap(),
        message["id"]
    ))
}

fn on_stdio(program: &mut Program, told: &Value) -> Value {
    let line = told["message"].to_string();
    let (mut exchange, step) = on_connection(program, kind::LINE, &line);
    let mut known = Value::Null;
    let mut step = exchange.driven(program, step, &mut known);
    if step["step"] == "ask" {
        let asked: Value = serde_json::from_str(&exchange.beside.take().unwrap()).unwrap();
        let answer = match told["again"] == false {
            true => json!({"id": asked["id"], "error": {"code": -32602, "message": "refused"}}),
            false => {
                json!({"id": asked["id"], "result": {"protocolVersion": asked["params"]["protocolVersion"]}})
            }
        };
        let (replayed, begun) = on_connection(program, kind::LEAVES, &answer.to_string());
        assert_eq!(begun["step"], "replayed");
        let answer = replayed.beside.unwrap();
        let next = exchange.on(kind::TOLD, 0, &[Some(answer.as_bytes())]);
        step = exchange.driven(program, next, &mut known);
    }
    let Some(text) = exchange.beside else {
        return Value::Null;
    };
    if step["step"] == "reply" {
        return told_of(&text);
    }
    // Behind what begins the session again.
    let message: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    if message["method"].is_null() {
        return Value::Null;
    }
    let Some(answer) = at_the_sdk(program, told, &message, &step, &known) else {
        return Value::Null;
    };
    let (mut exchange, step) = on_connection(program, kind::LEAVES, &answer);
    exchange.driven(program, step, &mut known);
    exchange.beside.map_or(Value::Null, |text| told_of(&text))
}

fn on_connection(program: &mut Program, kind: u8, text: &str) -> (Exchange, Value) {
    Exchange::begun(
        &program.stage().connection,
        kind,
        0,
        &[Some(text.as_bytes())],
    )
}

fn replied(reply: &Value) -> Value {
    for (name, value) in [
        ("error", &reply["error"]),
        ("result", &reply["tool"]),
        ("result", &reply["result"]),
    ] {
        if !value.is_null() {
            return json!({name: value});
        }
    }
    if reply["done"] == true {
        json!({"result": {}})
    } else {
        Value::Null
    }
}
