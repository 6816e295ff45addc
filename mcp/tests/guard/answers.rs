//! The members that carry tokens, and the answers to clients.

use sealwax::Error;
use sealwax_mcp::{Answer, Profile, TokenFields};
use serde_json::{Value, json};

#[test]
fn methods_carry_what_they_carry() {
    let all: Value = serde_json::from_str(include_str!("../../../tests/requests.json")).unwrap();
    for case in all["tokenFields"].as_array().unwrap() {
        let fields = TokenFields::for_method(case["method"].as_str().unwrap());
        let found = fields.map(|found| {
            serde_json::json!({
                "kind": found.kind.name(),
                "param": found.param,
                "result": found.result,
                "target": found.target,
            })
        });
        assert_eq!(
            found,
            serde_json::from_value(case["tokenFields"].clone()).unwrap()
        );
    }
}

#[test]
fn answers_follow_the_table_of_the_specification() {
    let table = [
        (
            "sep-1359",
            json!({"error": {"code": -32003, "message": "Invalid or expired session", "data": {"sessionId": "s-1"}}}),
        ),
        (
            "data-layer",
            json!({"error": {"code": -32043, "message": "Session not found", "data": {"sessionId": "s-1"}}}),
        ),
        (
            "data-layer-required",
            json!({"error": {"code": -32043, "message": "Session required", "data": {"reason": "session_required"}}}),
        ),
        (
            "request-state",
            json!({"error": {"code": -32602, "message": "Invalid or expired requestState", "data": {"reason": "invalid_request_state"}}}),
        ),
        (
            "cursor",
            json!({"error": {"code": -32602, "message": "Invalid cursor"}}),
        ),
        ("mcp-session-id", json!({"httpStatus": 404})),
    ];
    for (name, answer) in table {
        let profile: Profile = name.parse().unwrap();
        let said = profile.refusal(Some("s-1")).to_json();
        assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), answer);
        for refused in [
            Error::Unauthentic,
            Error::PrincipalMismatch,
            Error::Expired { at: 1, now: 2 },
        ] {
            assert_eq!(
                profile.answer(&refused, Some("s-1")).to_json(),
                said,
                "which check failed does not show"
            );
        }
    }
    let Answer::ToolResult(result) = Profile::Handle.refusal(None) else {
        panic!("a handle is a tool's")
    };
    assert!(result.is_error);
    assert!("session".parse::<Profile>().is_err());
}

#[test]
fn a_session_id_is_echoed_only_when_well_formed() {
    for odd in ["", "a b", "a\n", "é", "\u{7f}", &"a".repeat(1025)] {
        let Answer::Error(error) = Profile::DataLayer.refusal(Some(odd)) else {
            panic!("an error")
        };
        assert_eq!(error.data, None, "{odd:?}");
    }
}

#[test]
fn the_servers_own_failure_ends_no_session() {
    for error in [
        Error::EntropyUnavailable,
        Error::InvalidArgument("x".into()),
        Error::InvalidKey("x".into()),
    ] {
        let Answer::Error(answer) = Profile::DataLayer.answer(&error, Some("s-1")) else {
            panic!("an error")
        };
        assert_eq!(
            (answer.code, answer.message, answer.data),
            (-32603, "Internal error".into(), None)
        );
        assert_eq!(
            Profile::McpSessionId.answer(&error, None),
            Answer::HttpStatus(500)
        );
        let Answer::ToolResult(result) = Profile::Handle.answer(&error, None) else {
            panic!("a handle is a tool's")
        };
        let text = &result.content[0].text;
        assert!(text.contains("Try again later"), "{text}");
    }
}
