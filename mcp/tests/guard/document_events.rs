//! The engine by documents: outcomes of steps that adapters report, and what only documents have.

use sealwax::Codec;
use sealwax_mcp::ledger::Memory;
use sealwax_mcp::{Exchange, Failed, Guard, document};
use serde_json::{Value, json};

use crate::common::Clock;
use crate::told;

const NOW: u64 = 1_800_000_000;

fn codec() -> Codec {
    Clock::at_ms(NOW * 1000).codec()
}

fn guard(settings: &Value) -> Guard {
    document::guard(codec(), &settings.to_string()).unwrap()
}

fn read(document: &str) -> Value {
    serde_json::from_str(document).unwrap()
}

fn message(guard: &Guard, mut message: Value) -> (Exchange, Value) {
    message["principal"] = json!({"subject": "alice"});
    let (exchange, step) = told::message(guard, &message, None);
    (exchange, read(&step))
}

fn on(exchange: &mut Exchange, event: &Value, value: Option<&str>) -> Value {
    read(&document::on(exchange, &event.to_string(), value).unwrap())
}

fn answered(exchange: &mut Exchange, answer: Result<&str, Failed>) -> Value {
    read(&document::told(exchange, answer).unwrap())
}

/// Runs what the ledger is asked, until something else is next.
fn run(memory: &mut Memory, exchange: &mut Exchange, mut step: Value) -> Value {
    while step["name"] == "ledger" {
        let reply = document::run(memory, &step.to_string(), NOW).unwrap();
        step = answered(exchange, Ok(&reply));
    }
    step
}

/// The session that a server makes for Alice, as `_meta` has it.
fn created(guard: &Guard, memory: &mut Memory) -> Value {
    let (mut exchange, step) = message(guard, json!({"method": "sessions/create"}));
    let step = run(memory, &mut exchange, step);
    assert_eq!(step, json!({"step": "ask", "name": "initial"}));
    let step = answered(&mut exchange, Ok(r#"{"count":0}"#));
    let step = run(memory, &mut exchange, step);
    read(step["builtinResult"].as_str().unwrap())["session"].take()
}

fn call_in(session: &Value) -> Value {
    let client = json!({"id": session["sessionId"], "state": session["state"]});
    json!({"method": "tools/call", "target": "play", "session": client})
}

/// Returns the code and the id of what a step says was refused.
fn refused(step: &Value) -> (&str, &str) {
    let refused = &step["refused"][0];
    let [code, id] = ["code", "id"].map(|name| refused[name].as_str().unwrap());
    (code, id)
}

#[test]
fn a_session_that_is_refused_is_named_in_the_log() {
    let guard = guard(&json!({"sessions": {}, "ledger": {}}));
    let mut memory = Memory::new(Memory::CAPACITY, NOW - 9);
    let session = created(&guard, &mut memory);
    let (mut exchange, step) = message(&guard, call_in(&session));
    let step = run(&mut memory, &mut exchange, step);
    let ulid = step["session"]["ulid"].clone();
    exchange.write(r#"{"count":1}"#).unwrap();
    let written = on(&mut exchange, &json!({"result": {"members": {}}}), None);
    run(&mut memory, &mut exchange, written);
    let mut sent = |came: Value| {
        let (mut exchange, step) = message(&guard, came);
        run(&mut memory, &mut exchange, step)
    };
    let late = sent(call_in(&session));
    assert_eq!(refused(&late), ("stale", ulid.as_str().unwrap()));
    let delete = json!({"method": "sessions/delete", "session": {"id": session["sessionId"]}});
    assert_eq!(sent(delete)["builtinResult"], "{}");
    let ended = sent(call_in(&session));
    let (code, id) = refused(&ended);
    assert_eq!((code, id.len()), ("ended", 32));

    let mut stolen = call_in(&session);
    stolen["principal"] = json!({"subject": "mallory"});
    let step = read(&told::message(&guard, &stolen, None).1);
    assert_eq!(refused(&step).1.len(), 32);
    // One of the transport is another token.
    let view = codec();
    let view = view.view(&sealwax::Principal::subject("bob")).unwrap();
    let token = view.session().seal(b"{}").unwrap();
    let request = json!({"http": "POST", "method": "ping", "header": token.as_str(),
                         "principal": {"subject": "alice"}});
    let step = read(&told::transport(&self::guard(&json!({})), &request, None).1);
    let id = token.id().to_string();
    assert_eq!(refused(&step), ("principal_mismatch", &*id));
}

#[test]
fn a_write_that_the_sdk_would_drop_is_an_error() {
    let guard = guard(&json!({"sessions": {}}));
    let session = created(&guard, &mut Memory::new(1, 0));
    for (no_meta, step) in [(false, "respond"), (true, "reply")] {
        let (mut exchange, _) = message(&guard, call_in(&session));
        exchange.write(r#"{"count":1}"#).unwrap();
        let result = json!({"result": {"noMeta": no_meta}});
        assert_eq!(on(&mut exchange, &result, None)["step"], step);
    }
}

#[test]
fn a_session_of_the_transport_holds_what_both_sides_said() {
    let guard = guard(&json!({"transport": {"ttl": 60, "sep1359": true}}));
    let request =
        json!({"http": "POST", "method": "initialize", "principal": {"subject": "alice"}});
    let params = r#"{"protocolVersion":"2025-11-25","clientInfo":{"name":"ours"}}"#;
    let (mut exchange, step) = told::transport(&guard, &request, Some(params));
    assert_eq!(read(&step)["step"], "deliver");
    let result = r#"{"protocolVersion":"2025-06-18"}"#;
    let step = on(&mut exchange, &json!({"result": {}}), Some(result));
    let id = &step["headers"]["Mcp-Session-Id"];
    let next =
        json!({"http": "POST", "method": "ping", "header": id, "principal": {"subject": "alice"}});
    let step = read(&told::transport(&guard, &next, None).1);
    let negotiated = read(step["negotiated"].as_str().unwrap());
    assert!(
        step["id"].as_str().is_some_and(|id| id.len() == 32),
        "{step}"
    );
    assert_eq!(step["expiresAt"], NOW + 60);
    assert_eq!(step["addSessionId"], Value::Null);
    let client = json!({"name": "ours", "version": ""});
    assert_eq!(negotiated["clientInfo"], client, "{negotiated}");
    assert_eq!(negotiated["protocolVersion"], "2025-06-18", "{negotiated}");
}

#[test]
fn the_wrapper_declares_sessions_where_the_sdk_has_no_place_for_it() {
    for (declares, sessions, is_declared) in [
        (true, json!({}), true),
        (false, json!({}), false),
        (true, Value::Null, false),
    ] {
        let settings = json!({"transport": {"declares": declares}, "sessions": sessions});
        let guard = guard(&settings);
        for (message, result) in [
            (
                json!({"http": "POST", "method": "server/discover", "modern": true}),
                None,
            ),
            (
                json!({"method": "initialize"}),
                Some(r#"{"protocolVersion":"2025-06-18"}"#),
            ),
            (
                json!({"http": "POST", "method": "initialize", "principal": {"anonymous": true}}),
                Some(r#"{"protocolVersion":"2025-06-18"}"#),
            ),
        ] {
            let (mut exchange, step) = told::transport(&guard, &message, None);
            let is_initialize = message["method"] == "initialize";
            let reported = read(&step)["report"] == true;
            assert_eq!(
                reported,
                is_initialize || is_declared,
                "{settings} {message}"
            );
            if reported {
                let step = on(&mut exchange, &json!({"result": {}}), result);
                let declared = &told::changed(json!({}), &step)["capabilities"];
                assert_eq!(
                    declared.is_object(),
                    is_declared,
                    "{settings} {message} {step}"
                );
            }
        }
    }
}

#[test]
fn a_session_of_the_transport_has_at_most_4096_characters() {
    let guard = guard(&json!({}));
    let begin = json!({"http": "POST", "method": "initialize", "principal": {"subject": "alice"}});
    let length = |padding: usize| {
        let params = json!({"capabilities": {"experimental": {"x": "x".repeat(padding)}}});
        let params = params.to_string();
        let (mut exchange, _) = told::transport(&guard, &begin, Some(&params));
        let result = r#"{"protocolVersion":"2025-06-18"}"#;
        let step = on(&mut exchange, &json!({"result": {}}), Some(result));
        let id = step["headers"]["Mcp-Session-Id"].as_str().map(str::len);
        id.ok_or_else(|| step["refused"][0]["code"].clone())
    };
    let last = (2_700..3_100)
        .take_while(|&padding| length(padding).is_ok())
        .last();
    assert_eq!(length(last.unwrap()), Ok(4_096));
    assert_eq!(length(last.unwrap() + 1), Err(json!("too_large")));
}

#[test]
fn without_a_caller_a_request_is_answered_and_anything_else_dropped() {
    let guard = guard(&json!({"transport": {"sep1359": true}}));
    for (message, next, status) in [
        (json!({"method": "ping"}), "reply", Value::Null),
        (
            json!({"method": "x", "notification": true}),
            "drop",
            Value::Null,
        ),
        (json!({}), "drop", Value::Null),
        (
            json!({"http": "POST", "method": "ping"}),
            "reply",
            json!(400),
        ),
        (json!({"http": "POST"}), "reply", json!(400)),
    ] {
        let mut message = message;
        message["messageSessionId"] = json!("sw1.AQ");
        let (mut exchange, step) = told::transport(&guard, &message, None);
        assert_eq!(read(&step)["name"], "principal", "{message}");
        let step = answered(&mut exchange, Ok("null"));
        assert_eq!(step["refused"][0]["code"], "unauthenticated", "{step}");
        assert_eq!(
            (&step["step"], &step["status"]),
            (&json!(next), &status),
            "{message}"
        );
    }
}

#[test]
fn numbers_have_64_bits() {
    for (since, is_good) in [
        ("18446744073709551615", true),
        ("-1", false),
        ("1.5", false),
    ] {
        let settings = format!(r#"{{"ledger": {{"acceptIssuedSince": {since}}}}}"#);
        assert_eq!(
            document::guard(codec(), &settings).is_ok(),
            is_good,
            "{since}"
        );
    }
}
