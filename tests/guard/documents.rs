//! The engine by documents, as docs/engine.md specifies them: what the transcripts cannot show.

use sealwax::mcp::document;
use serde_json::{Value, json};

use crate::common::Clock;

/// What comes of a `tools/call` whose caller is told as `principal`.
fn identified(principal: &Value) -> Value {
    let guard = document::guard(Clock::at_ms(1_800_000_000_000).codec(), "{}").unwrap();
    let message = json!({"method": "tools/call", "target": "play"});
    let (mut exchange, step) = document::message(&guard, &message.to_string(), None);
    assert_eq!(step, r#"{"step":"identify"}"#);
    let event = json!({"principal": principal});
    let step = document::on(&mut exchange, &event.to_string(), None).unwrap();
    serde_json::from_str(&step).unwrap()
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
        (
            json!({"nobody": true}),
            "unauthenticated",
            "Authentication required",
        ),
        (
            json!({"failed": "it threw"}),
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
        let ledger = json!({"ledger": {}}).to_string();
        let guard = document::guard(Clock::at_ms(1_800_000_000_000).codec(), &ledger).unwrap();
        assert!(document::revoke(&guard, &wrong.to_string(), None).is_err());
    }
}
