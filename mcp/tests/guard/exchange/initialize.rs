//! What `initialize` says is kept as it is, or the answer and the log say why not.

use serde_json::Value;

use super::*;

const RESULT: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#;

fn begin(guard: &Guard, params: &str, result: &str) -> (Exchange, Step) {
    initialized(guard, params, &format!(r#""result":{result}"#))
}

/// What a session that begins so holds.
fn held(guard: &Guard, params: &str, result: &str) -> String {
    let (mut exchange, step) = begin(guard, params, result);
    assert!(exchange.refused().is_empty(), "{params} {result}");
    let Step::Respond(respond) = step else {
        panic!("{step:?}")
    };
    let header = respond.header.unwrap();
    let (_, step) = over_http(guard, ClientValue::Text(&header), LIST);
    let Step::Deliver(deliver) = step else {
        panic!("{step:?}")
    };
    deliver.negotiated.unwrap()
}

#[test]
fn what_a_reader_of_values_refuses_is_kept_as_it_is() {
    let guard = guard_with(&clock(), |guard| guard);
    let kept = |client: &str, info: &str, server: &str| {
        format!(
            r#"{{"clientCapabilities":{client},"clientInfo":{info},"protocolVersion":"2025-11-25","serverCapabilities":{server}}}"#
        )
    };
    let named = r#"{"name":"c","version":"1"}"#;
    let deep = format!("{}1{}", "[".repeat(125), "]".repeat(125));
    for odd in [
        r#""\ud800""#,
        "1e400",
        r#"{"\udc00":1}"#,
        "9007199254740993",
        &deep,
    ] {
        let client = format!(r#""clientInfo":{named}"#);
        // Beside what is kept, in either of them.
        let params = format!(r#"{{"_meta":{odd},"capabilities":{{"roots":{{}}}},{client}}}"#);
        let result = format!(
            r#"{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"instructions":{odd}}}"#
        );
        let found = held(&guard, &params, &result);
        assert_eq!(found, kept(r#"{"roots":{}}"#, named, r#"{"tools":{}}"#));
        // In what is kept.
        let capabilities = format!(r#"{{"experimental":{odd}}}"#);
        let params = format!(r#"{{"capabilities":{capabilities},{client}}}"#);
        let result = format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities}}}"#);
        let found = held(&guard, &params, &result);
        assert_eq!(found, kept(&capabilities, named, &capabilities));
    }
    // Under a key that is no text, with white space.
    let params = r#" { "\ud800" : 1e400 , "capabilities" : { "roots" : { } } } "#;
    let found: Value = serde_json::from_str(&held(&guard, params, RESULT)).unwrap();
    let expected = serde_json::json!({"roots": {}});
    assert_eq!(found["clientCapabilities"], expected);
    let odd = r#"{"clientInfo":{"name":"\ud800","version":7}}"#;
    let named = r#"{"name":"\ud800","version":""}"#;
    assert_eq!(held(&guard, odd, RESULT), kept("{}", named, "{}"));
}

#[test]
fn what_nobody_can_read_has_an_answer_and_a_line_that_names_the_cause() {
    let guard = guard_with(&clock(), |guard| guard);
    let [no_json, invalid, failed] = [
        (400, -32700, "malformed", "JSON"),
        (400, -32602, "malformed", "initialize"),
        (500, -32603, "invalid_argument", "initialize"),
    ];
    let unanswered = (500, -32603, "invalid_argument", "server");
    for (params, result, expected) in [
        ("[NaN]", RESULT, no_json),
        ("", RESULT, no_json),
        (r#"{"capabilities":NaN}"#, RESULT, no_json),
        (r#"{"capabilities":{}}}"#, RESULT, no_json),
        (r#"{"capabilities":{},"capabilities":{}}"#, RESULT, invalid),
        (r#"{"clientInfo":[]}"#, RESULT, invalid),
        ("{}", "NaN", unanswered),
        ("{}", "", unanswered),
        ("{}", "{}", failed),
        ("{}", r#"{"protocolVersion":7}"#, failed),
        ("{}", r#"{"protocolVersion":"\ud800"}"#, failed),
    ] {
        let (mut exchange, step) = begin(&guard, params, result);
        let (status, code, logged, named) = expected;
        let refused = exchange.refused();
        let reply = reply(step);
        assert_eq!(reply.status, Some(status), "{params} {result}");
        assert_eq!(reply.error.unwrap().code, code);
        assert_eq!(refused[0].code, logged);
        assert!(refused[0].message.contains(named), "{}", refused[0].message);
    }
}

#[test]
fn without_params_and_for_an_error_of_the_server_nothing_is_wrong() {
    let guard = guard_with(&clock(), |guard| guard);
    let none = held(&guard, "null", RESULT);
    assert!(none.contains(r#""clientCapabilities":{}"#), "{none}");
    let error = r#""error":{"code":-32000,"message":"no"}"#;
    let (mut exchange, step) = initialized(&guard, "{}", error);
    assert!(matches!(step, Step::Respond(respond) if respond.header.is_none()));
    assert!(exchange.refused().is_empty());
    // As an adapter says it.
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let (mut exchange, _) = over_http(&guard, ClientValue::Absent, body);
    let failed = HandlerResult {
        outcome: Outcome::Error,
        whole: Some(RESULT),
        ..HandlerResult::default()
    };
    let step = responded(&mut exchange, failed);
    assert!(matches!(step, Step::Respond(respond) if respond.header.is_none()));
}

#[test]
fn a_session_of_the_transport_has_at_most_4096_characters() {
    let guard = guard_with(&clock(), |guard| guard);
    let length = |padding: usize| {
        let padding = "x".repeat(padding);
        let params = format!(r#"{{"capabilities":{{"experimental":{{"x":"{padding}"}}}}}}"#);
        match begin(&guard, &params, RESULT) {
            (_, Step::Respond(respond)) => respond.header.map(|header| header.len()),
            (mut exchange, _) => {
                assert_eq!(exchange.refused()[0].code, "too_large");
                None
            }
        }
    };
    assert_eq!((2_700..3_100).map_while(length).last(), Some(4_096));
    assert_eq!(length(3_100), None);
}

/// Beside wire.json: what follows an escaped quote, and what is deep.
#[test]
fn a_message_is_read_to_its_end() {
    let transport = TransportSettings {
        required: false,
        ..TransportSettings::default()
    };
    let guard = guard_with(&clock(), |guard| guard.transport(transport));
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    for (inside, is_read) in [
        (format!(r#""\"{}""#, "[".repeat(200)), true),
        (deep(126), true),
        (deep(127), false),
    ] {
        let params = format!(r#"{{"a":{inside},"b":[]}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#);
        let (_, step) = over_http(&guard, ClientValue::Absent, &body);
        assert_eq!(matches!(step, Step::Deliver(_)), is_read, "{inside}");
    }
}
