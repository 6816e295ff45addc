//! The engine by documents, as docs/engine.md specifies them: what the transcripts cannot show.

use sealwax::{Codec, Error};
use sealwax_mcp::ledger::Memory;
use sealwax_mcp::{Exchange, Failed, Guard, document};
use serde_json::{Value, json};

use crate::common::Clock;
use crate::told;

const NOW: u64 = 1_800_000_000;

fn codec() -> Codec {
    Clock::at_ms(NOW * 1000 + 12).codec()
}

fn guard(settings: &Value) -> Result<Guard, Error> {
    document::guard(codec(), &settings.to_string())
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

/// What comes of a `tools/call` whose caller is told as `principal`.
fn identified(principal: &Value) -> Value {
    let guard = guard(&json!({})).unwrap();
    let message = json!({"method": "tools/call", "target": "play"});
    let (mut exchange, step) = told::message(&guard, &message, None);
    assert_eq!(step, r#"{"step":"ask","name":"principal"}"#);
    answered(&mut exchange, Ok(&principal.to_string()))
}

/// The step that begins a message, at a guard with these settings.
fn begun(settings: &Value, message: &Value) -> Value {
    read(&told::message(&guard(settings).unwrap(), message, None).1)
}

#[test]
fn a_fallback_is_known() {
    for (fallback, is_right) in [
        (json!(null), true),
        (json!("refuse"), true),
        (json!("preview"), true),
        (json!("model"), false),
        (json!(true), false),
    ] {
        let settings = json!({"confirm": {"play": {"message": "Play?", "fallback": fallback}}});
        assert_eq!(guard(&settings).is_ok(), is_right, "{fallback}");
    }
}

/// Read as nothing, it would leave the tool unprotected.
#[test]
fn what_is_confirmed_or_bound_is_named() {
    for (settings, is_right) in [
        (json!({"confirm": false, "only": null}), true),
        (json!({"confirm": {"play": {"message": null}}}), true),
        (json!({"confirm": ["play"]}), false),
        (json!({"confirm": "play"}), false),
        (json!({"confirm": {"play": {"message": 7}}}), false),
        (json!({"only": ["play"]}), false),
    ] {
        assert_eq!(guard(&settings).is_ok(), is_right, "{settings}");
    }
}

#[test]
fn a_flag_is_there_if_it_is_true() {
    let list = json!({"method": "resources/list", "principal": {"subject": "alice"}});
    let step = begun(&json!({}), &list);
    assert_eq!(step["report"], "nextCursor", "{step}");
    let ping = json!({"method": "notifications/x", "notification": true});
    assert_eq!(begun(&json!({}), &ping)["report"], Value::Null);
}

#[test]
fn times_are_seconds_in_settings_and_milliseconds_in_steps() {
    let call = json!({"method": "tools/call", "target": "play", "principal": {"subject": "alice"}});
    let mut hurried = call.clone();
    hurried["withinMs"] = 20.into();
    assert_eq!(begun(&json!({"timeLimitMs": 500}), &call)["withinMs"], 500);
    assert_eq!(
        begun(&json!({"timeLimitMs": 500}), &hurried)["withinMs"],
        20
    );
    // A lifetime that is contradicted was read.
    for (sessions, is_good) in [
        (json!({"ttl": 60}), true),
        (json!({"noExpiry": true}), true),
        (json!({"heldByServer": true}), true),
        (json!({"ttl": 60, "noExpiry": true}), false),
        (json!({"ttl": 0}), false),
        (json!({"ttl": 60, "heldByServer": true}), false),
        (json!({"noExpiry": true, "heldByServer": true}), false),
        (json!({"required": {"methods": ["server/discover"]}}), false),
    ] {
        let settings = json!({"sessions": sessions});
        assert_eq!(guard(&settings).is_ok(), is_good, "{settings}");
    }
}

#[test]
fn a_caller_is_known_or_the_author_is_told() {
    for known in [
        json!({"anonymous": true}),
        json!({"anonymous": true, "issuer": null, "client": null, "subject": null}),
        json!({"anonymous": false, "subject": "alice"}),
        json!({"issuer": "https://idp.example.com", "client": "c", "subject": "alice"}),
    ] {
        assert_eq!(identified(&known)["step"], "deliver", "{known}");
    }
    for (told, code, answer) in [
        (Value::Null, "unauthenticated", "Authentication required"),
        (
            json!({"nobody": true}),
            "invalid_argument",
            "Internal error",
        ),
    ] {
        let step = identified(&told);
        assert_eq!(step["refused"][0]["code"], code);
        assert_eq!(step["refused"][0]["target"], "play");
        assert_eq!(step["error"]["message"], answer);
    }
}

#[test]
fn a_principal_that_contradicts_itself_is_nobodys() {
    for wrong in [
        json!({}),
        json!({"anonymous": true, "subject": "alice"}),
        json!({"anonymous": true, "issuer": "https://idp.example.com"}),
        json!({"anonymous": true, "client": 7}),
        json!({"anonymous": "yes"}),
        json!({"anonymous": 1, "subject": "alice"}),
        json!({"issuer": 7, "subject": "alice"}),
        json!({"issuer": ["https://idp.example.com"], "subject": "alice"}),
        json!({"client": true, "subject": "alice"}),
        json!({"subject": {"name": "alice"}}),
        json!({"client": "c", "subject": 7}),
        json!("alice"),
    ] {
        let step = identified(&wrong);
        assert_eq!(step["error"]["code"], -32603, "{wrong}");
        assert_eq!(step["refused"][0]["code"], "invalid_argument");
        // Where the message has it, and where a principal is signed out.
        let guard = guard(&json!({"ledger": {}})).unwrap();
        assert!(document::revoke(&guard, &wrong.to_string(), None).is_err());
    }
}

#[test]
fn a_refusal_says_whose_it_is_and_of_which_message() {
    let step = identified(&json!({"issuer": "https://idp.example.com", "subject": "alice"}));
    assert_eq!(step["refused"], Value::Null);
    let guard = guard(&json!({})).unwrap();
    let message = json!({"method": "tools/call", "target": "play", "token": "forged",
                         "principal": {"issuer": "https://idp.example.com", "subject": "alice"}});
    let step = read(&told::message(&guard, &message, None).1);
    let why = "expected a sealed token, which begins with sw1.";
    assert_eq!(
        step["refused"],
        json!([{
            "time": "2027-01-15T08:00:00.012Z", "level": "warn", "code": "malformed",
            "kind": "request-state", "method": "tools/call", "target": "play",
            "issuer": "https://idp.example.com", "subject": "alice", "message": why,
            "line": format!("sealwax: malformed kind=request-state method=\"tools/call\" target=\"play\" \
                             issuer=\"https://idp.example.com\" subject=\"alice\" message=\"{why}\""),
        }])
    );
    // Around HTTP too, whether the caller was needed yet or not.
    let wrapped = json!({"http": "POST", "method": "tools/call", "target": "play",
                         "principal": {"subject": "alice"}});
    let step = read(&told::transport(&guard, &wrapped, None).1);
    let refused = &step["refused"][0];
    let told = ["method", "target", "subject", "code"].map(|name| refused[name].as_str().unwrap());
    assert_eq!(told, ["tools/call", "play", "alice", "malformed"]);
}

#[test]
fn a_mistake_of_the_adapters_side_is_an_entry_too() {
    let guard = guard(&json!({})).unwrap();
    let report = |fault: Value| {
        let entry = document::report(&guard, &fault.to_string());
        entry.map(|entry| read(&entry))
    };
    let fault = json!({"code": "invalid_argument", "kind": "session", "message": "it threw",
                       "method": "x/1", "id": "01", "principal": {"subject": "alice"}, "target": null});
    let line = r#"sealwax: invalid_argument kind=session method="x/1" subject="alice" id=01 message="it threw""#;
    assert_eq!(
        report(fault).unwrap(),
        json!({"time": "2027-01-15T08:00:00.012Z", "level": "error", "code": "invalid_argument",
               "kind": "session", "method": "x/1", "customMethod": true, "subject": "alice", "id": "01",
               "message": "it threw", "line": line})
    );
    let of = |code| report(json!({"code": code, "kind": "cursor", "message": "m"})).unwrap();
    assert_eq!(of("malformed")["level"], "warn");
    assert_eq!(of("ledger_unavailable")["level"], "error");
    for wrong in [
        json!({"code": "x", "kind": "cursor"}),
        json!({"code": "x", "kind": "x", "message": "m"}),
        json!(7),
    ] {
        assert!(report(wrong).is_err());
    }
}

#[test]
fn a_question_never_has_no_time() {
    let guard = guard(&json!({"timeLimitMs": 1, "ledger": {}})).unwrap();
    let message = json!({"method": "tools/call", "target": "x", "modern": true});
    let step = read(&told::message(&guard, &message, None).1);
    assert_eq!(
        (&step["name"], &step["withinMs"]),
        (&json!("ledger"), &json!(1))
    );
}

#[test]
fn a_session_that_is_refused_is_named_in_the_log() {
    let guard = guard(&json!({"sessions": {}, "ledger": {}})).unwrap();
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
    let step = read(&told::transport(&self::guard(&json!({})).unwrap(), &request, None).1);
    let id = token.id().to_string();
    assert_eq!(refused(&step), ("principal_mismatch", &*id));
}

#[test]
fn a_write_that_the_sdk_would_drop_is_an_error() {
    let guard = guard(&json!({"sessions": {}})).unwrap();
    let session = created(&guard, &mut Memory::new(1, 0));
    for (writes, no_meta, step) in [
        (true, false, "respond"),
        (true, true, "reply"),
        (false, true, "respond"),
    ] {
        let (mut exchange, _) = message(&guard, call_in(&session));
        if writes {
            exchange.write(r#"{"count":1}"#).unwrap();
        }
        let result = json!({"result": {"noMeta": no_meta}});
        assert_eq!(on(&mut exchange, &result, None)["step"], step);
    }
}

#[test]
fn the_wrapper_declares_sessions_where_the_sdk_has_no_place_for_it() {
    for (declares, sessions, is_declared) in [
        (true, json!({}), true),
        (false, json!({}), false),
        (true, Value::Null, false),
    ] {
        let settings = json!({"transport": {"declares": declares}, "sessions": sessions});
        let guard = guard(&settings).unwrap();
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
    let guard = guard(&json!({})).unwrap();
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
    let guard = guard(&json!({"transport": {"sep1359": true}})).unwrap();
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
