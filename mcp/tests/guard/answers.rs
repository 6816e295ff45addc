//! The members that carry tokens, and the answers to clients.

use sealwax::Error;
use sealwax_mcp::{Answer, Profile, Reply, TokenFields};
use serde_json::{Value, json};

#[test]
fn methods_carry_what_they_carry() {
    let all: Value = serde_json::from_str(include_str!("../../../tests/requests.json")).unwrap();
    for case in all["tokenFields"].as_array().unwrap() {
        let fields = TokenFields::for_method(case["method"].as_str().unwrap());
        let found = fields.map(|found| {
            let (param, result, target) = (found.param, found.result, found.target);
            json!({"kind": found.kind.name(), "param": param, "result": result, "target": target})
        });
        assert_eq!(json!(found), case["tokenFields"]);
    }
}

#[test]
fn answers_follow_the_table_of_the_specification() {
    let error = |code: i32, message: &str, data: Value| match data {
        Value::Null => json!({"error": {"code": code, "message": message}}),
        data => json!({"error": {"code": code, "message": message, "data": data}}),
    };
    let session = json!({"sessionId": "s-1"});
    let required = json!({"reason": "session_required"});
    let state = json!({"reason": "invalid_request_state"});
    let table = [
        (
            "sep-1359",
            error(-32003, "Invalid or expired session", session.clone()),
        ),
        ("data-layer", error(-32043, "Session not found", session)),
        (
            "data-layer-required",
            error(-32043, "Session required", required),
        ),
        (
            "request-state",
            error(-32602, "Invalid or expired requestState", state),
        ),
        ("cursor", error(-32602, "Invalid cursor", Value::Null)),
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
    let failed = Reply::failed();
    assert!(failed.error.is_some_and(|error| error.code == -32603) && failed.tool.is_some());
}
