//! The engine by documents, as docs/engine.md specifies them: what the transcripts cannot show.

use sealwax::{Codec, Error, Principal};
use sealwax_mcp::{
    Body, ClientSession, ClientValue, Exchange, Guard, HttpRequest, Message, document,
};
use serde_json::{Value, json};

use crate::common::Clock;

fn codec() -> Codec {
    Clock::at_ms(1_800_000_000_012).codec()
}

fn guard(settings: &Value) -> Result<Guard, Error> {
    document::guard(codec(), &settings.to_string())
}

fn read((exchange, step): (Exchange, String)) -> (Exchange, Value) {
    (exchange, serde_json::from_str(&step).unwrap())
}

fn on(exchange: &mut Exchange, event: &Value, value: Option<&str>) -> Value {
    let step = document::on(exchange, &event.to_string(), value).unwrap();
    serde_json::from_str(&step).unwrap()
}

fn told(exchange: &mut Exchange, answer: &Value) -> Value {
    let step = document::told(exchange, Ok(&answer.to_string())).unwrap();
    serde_json::from_str(&step).unwrap()
}

fn call() -> Message<'static> {
    Message {
        method: "tools/call",
        target: Some("play"),
        ..Message::default()
    }
}

/// What comes of a `tools/call` whose caller is told as `principal`.
fn identified(principal: &Value) -> Value {
    let guard = guard(&json!({})).unwrap();
    let (mut exchange, step) = document::begun(guard.message(call()));
    assert_eq!(step, r#"{"step":"ask","name":"principal"}"#);
    told(&mut exchange, principal)
}

fn over_http(
    guard: &Guard,
    version: Option<&str>,
    body: &Value,
    subject: Option<&str>,
) -> (Exchange, Value) {
    read(document::begun(guard.http(HttpRequest {
        method: "POST",
        version: version.into(),
        body: Some(Body::Whole(body.to_string().as_bytes())),
        principal: subject.map(|subject| Ok(Principal::subject(subject))),
        ..HttpRequest::default()
    })))
}

fn on_stdio(guard: &Guard, body: &Value) -> (Exchange, Value) {
    let line = body.to_string();
    read(document::begun(guard.connection().line(line.as_bytes())))
}

/// Read as nothing, a mistake would leave a tool unprotected.
#[test]
fn settings_are_right_or_refused() {
    let asks = |message: &str| json!({"confirm": {"play": {"message": message}}});
    let asks_of = |message: &str| {
        let mut settings = asks(message);
        settings["only"] = json!({"play": ["id"]});
        settings
    };
    let falls_back =
        |fallback: Value| json!({"confirm": {"play": {"message": "Play?", "fallback": fallback}}});
    let since = |since: Value| json!({"ledger": {"acceptIssuedSince": since}});
    for right in [
        json!({"confirm": false, "only": null}),
        json!({"confirm": {"play": {"message": null}}}),
        asks("Delete note {id}?"),
        asks_of("Delete note {id}?"),
        asks("{{}}"),
        falls_back(json!(null)),
        falls_back(json!("refuse")),
        falls_back(json!("preview")),
        json!({"confirmTtl": 86_400}),
        json!({"sessions": {"ttl": 60}}),
        json!({"sessions": {"noExpiry": true}}),
        json!({"sessions": {"heldByServer": true}}),
        since(json!(u64::MAX)),
    ] {
        assert!(guard(&right).is_ok(), "{right}");
    }
    for wrong in [
        json!({"confirm": ["play"]}),
        json!({"confirm": "play"}),
        json!({"confirm": {"play": {"message": 7}}}),
        json!({"only": ["play"]}),
        asks_of("Delete note {title}?"),
        asks_of("{id} {title}"),
        falls_back(json!("model")),
        falls_back(json!(true)),
        json!({"confirmTtl": 86_401}),
        json!({"confirmTtl": 0}),
        json!({"transport": {"idle": 0}, "ledger": {}}),
        json!({"timeLimitMs": 0}),
        json!({"timeLimitMs": 60_001}),
        // A lifetime that is contradicted was read.
        json!({"sessions": {"ttl": 0}}),
        json!({"sessions": {"ttl": 60, "noExpiry": true}}),
        json!({"sessions": {"ttl": 60, "heldByServer": true}}),
        json!({"sessions": {"noExpiry": true, "heldByServer": true}}),
        json!({"sessions": {"required": {"methods": ["server/discover"]}}}),
        since(json!(-1)),
        since(json!(1.5)),
    ] {
        assert!(guard(&wrong).is_err(), "{wrong}");
    }
    for message in [
        "", " \n", "{", "}", "a{b", "a}b", "{}", "{a{b}}", "{a}}", "}{",
    ] {
        let error = guard(&asks(message)).err().unwrap().to_string();
        assert!(error.contains("confirm play"), "{message}: {error}");
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
    let step = identified(&Value::Null);
    assert_eq!(step["refused"][0]["code"], "unauthenticated");
    assert_eq!(step["refused"][0]["target"], "play");
    assert_eq!(step["error"]["message"], "Authentication required");
    for wrong in [
        json!({}),
        json!({"nobody": true}),
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
        assert_eq!(step["error"]["message"], "Internal error", "{wrong}");
        assert_eq!(step["error"]["code"], -32603, "{wrong}");
        assert_eq!(step["refused"][0]["code"], "invalid_argument");
        let message = step["refused"][0]["message"].as_str().unwrap();
        assert_eq!(message.matches("principal:").count(), 1, "{message}");
        // Where a principal is signed out, too.
        let guard = guard(&json!({"ledger": {}})).unwrap();
        assert!(document::revoke(&guard, &wrong.to_string(), None).is_err());
    }
}

#[test]
fn a_refusal_says_whose_it_is_and_of_which_message() {
    let guard = guard(&json!({})).unwrap();
    let principal = Principal::from_parts(Some("https://idp.example.com"), None, Some("alice"));
    let (_, step) = read(document::begun(guard.message(Message {
        token: ClientValue::Text("forged"),
        principal: Some(Ok(principal.unwrap())),
        ..call()
    })));
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
}

#[test]
fn a_mistake_of_the_adapters_side_is_an_entry_too() {
    let guard = guard(&json!({})).unwrap();
    let report = |fault: Value| {
        let entry = document::report(&guard, &fault.to_string());
        entry.map(|entry| serde_json::from_str::<Value>(&entry).unwrap())
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
    let (_, step) = read(document::begun(guard.message(call())));
    assert_eq!(step["withinMs"], 1);
}

#[test]
fn a_write_that_the_sdk_would_drop_is_an_error() {
    let guard = guard(&json!({"sessions": {}})).unwrap();
    let alice = Principal::subject("alice");
    let view = codec().view(&alice).unwrap();
    let session = view.sessions().create(b"0").unwrap();
    for (writes, no_meta, step) in [
        (true, false, "respond"),
        (true, true, "reply"),
        (false, true, "respond"),
    ] {
        let (mut exchange, _) = guard.message(Message {
            session: Some(ClientSession {
                id: ClientValue::Text(&session.session_id),
                state: session.state.as_deref().into(),
            }),
            principal: Some(Ok(alice.clone())),
            ..call()
        });
        if writes {
            exchange.write("1").unwrap();
        }
        let result = json!({"result": {"noMeta": no_meta}});
        assert_eq!(on(&mut exchange, &result, None)["step"], step);
    }
}

#[test]
fn the_wrapper_declares_sessions_where_the_sdk_has_no_place_for_it() {
    let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"});
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"});
    for (declares, sessions, is_declared) in [
        (true, json!({}), true),
        (false, json!({}), false),
        (true, Value::Null, false),
    ] {
        let settings = json!({"transport": {"declares": declares}, "sessions": sessions});
        let guard = guard(&settings).unwrap();
        let begun = [
            (
                over_http(&guard, Some("2026-07-28"), &discover, None),
                is_declared,
            ),
            (over_http(&guard, None, &initialize, Some("alice")), true),
            (on_stdio(&guard, &initialize), true),
        ];
        for ((mut exchange, step), is_reported) in begun {
            assert_eq!(step["report"] == true, is_reported, "{settings} {step}");
            if is_reported {
                let result = r#"{"protocolVersion":"2025-06-18"}"#;
                let step = on(&mut exchange, &json!({"result": {}}), Some(result));
                let set = step["set"].to_string();
                assert_eq!(set.contains(r#""capabilities""#), is_declared, "{step}");
            }
        }
    }
}

#[test]
fn without_a_caller_a_request_is_answered_and_anything_else_dropped() {
    let guard = guard(&json!({"transport": {"sep1359": true}})).unwrap();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "sessionId": "sw1.AQ"});
    let notification = json!({"jsonrpc": "2.0", "method": "x", "sessionId": "sw1.AQ"});
    let answer = json!({"jsonrpc": "2.0", "sessionId": "sw1.AQ"});
    for ((mut exchange, step), next, status) in [
        (on_stdio(&guard, &request), "reply", Value::Null),
        (on_stdio(&guard, &notification), "drop", Value::Null),
        (on_stdio(&guard, &answer), "drop", Value::Null),
        (over_http(&guard, None, &request, None), "reply", json!(400)),
        (over_http(&guard, None, &answer, None), "reply", json!(400)),
    ] {
        assert_eq!(step["name"], "principal", "{step}");
        let step = told(&mut exchange, &Value::Null);
        assert_eq!(step["refused"][0]["code"], "unauthenticated", "{step}");
        let found = (&step["step"], &step["status"]);
        assert_eq!(found, (&json!(next), &status), "{step}");
    }
}

/// Of a guard whose SDK speaks no later revision.
#[test]
fn where_there_is_no_later_revision_each_request_needs_its_session() {
    let ping = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
    for (modern, expected) in [(true, "deliver"), (false, "reply")] {
        let guard = guard(&json!({"transport": {"modern": modern}})).unwrap();
        let (_, step) = over_http(&guard, Some("2026-07-28"), &ping, None);
        assert_eq!(step["step"], expected);
    }
}
