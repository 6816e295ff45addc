//! The engine by documents, as docs/engine.md specifies them: what the transcripts cannot show.

use sealwax::Error;
use sealwax_mcp::{Guard, document};
use serde_json::{Value, json};

use crate::common::Clock;
use crate::told;

fn guard(settings: &Value) -> Result<Guard, Error> {
    let codec = Clock::at_ms(1_800_000_000_012).codec();
    document::guard(codec, &settings.to_string())
}

/// What comes of a `tools/call` whose caller is told as `principal`.
fn identified(principal: &Value) -> Value {
    let guard = guard(&json!({})).unwrap();
    let message = json!({"method": "tools/call", "target": "play"});
    let (mut exchange, step) = told::message(&guard, &message, None);
    assert_eq!(step, r#"{"step":"ask","name":"principal"}"#);
    let step = document::told(&mut exchange, Ok(&principal.to_string())).unwrap();
    serde_json::from_str(&step).unwrap()
}

/// The step that begins a message, at a guard with these settings.
fn begun(settings: &Value, message: &Value) -> Value {
    let (_, step) = told::message(&guard(settings).unwrap(), message, None);
    serde_json::from_str(&step).unwrap()
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
    let (_, step) = told::message(&guard, &message, None);
    let step: Value = serde_json::from_str(&step).unwrap();
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
    let (_, step) = told::transport(&guard, &wrapped, None);
    let step: Value = serde_json::from_str(&step).unwrap();
    let refused = &step["refused"][0];
    let told = ["method", "target", "subject", "code"].map(|name| refused[name].as_str().unwrap());
    assert_eq!(told, ["tools/call", "play", "alice", "malformed"]);
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
    let message = json!({"method": "tools/call", "target": "x", "modern": true});
    let (_, step) = told::message(&guard, &message, None);
    let step: Value = serde_json::from_str(&step).unwrap();
    assert_eq!(
        (&step["name"], &step["withinMs"]),
        (&json!("ledger"), &json!(1))
    );
}
