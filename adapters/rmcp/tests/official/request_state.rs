//! `requestState` of tools, prompts and resources.

use std::time::Duration;

use rmcp::model::*;
use sealwax::Key;
use sealwax_mcp::Profile;
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{GuardBuilder, Kind};
use serde_json::{Value, json};

use crate::clients::{Client, altered, call, client, json_of, legacy, raw, refusal, state};
use crate::server::*;
use crate::serving::{codec, text};

fn delete(id: Value) -> CallToolRequestParams {
    call("delete", json!({ "id": id }))
}

async fn retry(
    client: &Client,
    params: CallToolRequestParams,
    state: &str,
) -> Result<Value, Value> {
    match client
        .call_tool_once(params.with_request_state(state))
        .await
    {
        Ok(CallToolResponse::Complete(result)) => json_of(Ok(result)),
        Ok(other) => panic!("expected an end, found {other:?}"),
        Err(error) => json_of::<Value>(Err(error)),
    }
}

fn said(result: Result<Value, Value>) -> String {
    result.unwrap()["content"][0]["text"]
        .as_str()
        .unwrap()
        .into()
}

#[tokio::test]
async fn comes_back_to_the_handler_as_it_left() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let sealed = state(&alice, delete(json!(8))).await;
    assert!(!sealed.contains("asked"), "sealed, not {sealed}");
    assert_eq!(
        said(retry(&alice, delete(json!(8)), &sealed).await),
        "deleted 8, asked for 8"
    );
    assert!(server.refusals.take().is_empty());

    let plain = state(&alice, call("raw", json!({}))).await;
    assert_eq!(
        said(retry(&alice, call("raw", json!({})), &plain).await),
        "no JSON"
    );
}

#[tokio::test]
async fn goes_with_the_clients_own_loop_and_is_sealed_afresh_each_round() {
    let server = start(|guard| guard.ledger(Memory::default())).await;
    let alice = client(&server.uri, "alice").await;
    let done = alice.call_tool(delete(json!(3))).await.unwrap();
    assert_eq!(done, text("deleted 3, asked for 3"));

    let first = state(&alice, call("count", json!({}))).await;
    let second = state(&alice, call("count", json!({})).with_request_state(&first)).await;
    let third = state(&alice, call("count", json!({})).with_request_state(&second)).await;
    assert!(first != second && second != third);
    assert!(server.refusals.take().is_empty());
}

/// An integer that languages read differently, in a request that carries no state yet.
#[tokio::test]
async fn what_cannot_be_bound_is_refused_before_the_handler() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let told = json_of(
        alice
            .call_tool(delete(json!(9_007_199_254_740_993_u64)))
            .await,
    );
    let invalid = json!({"code": -32602, "message": "Invalid params"});
    assert_eq!(told, Err(invalid));
    let refused = server.refusals.take();
    assert_eq!((refused.len(), refused[0].code), (1, "invalid_request"));
    assert_eq!(refused[0].target.as_deref(), Some("delete"));
    assert!(refused[0].message.contains("pass a larger one as a string"));
    assert!(!refused[0].message.contains("9007199254740993"));
}

#[tokio::test]
async fn prompts_and_resources_carry_it_too() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    alice
        .get_prompt(GetPromptRequestParams::new("greet"))
        .await
        .unwrap();
    alice
        .read_resource(ReadResourceRequestParams::new("note:///1"))
        .await
        .unwrap();

    let first = alice
        .read_resource_once(ReadResourceRequestParams::new("note:///1"))
        .await;
    let ReadResourceResponse::InputRequired(first) = first.unwrap() else {
        panic!("expected a first round");
    };
    let another = ReadResourceRequestParams::new("note:///2")
        .with_request_state(first.request_state.unwrap());
    let refused = json_of(alice.read_resource_once(another).await.map(|_| ()));
    assert_eq!(refused, Err(refusal(Profile::RequestState)));
    assert_eq!(server.refusals.code(), "unauthentic");
}

/// All refusals look the same to the client, and have different codes in the log.
#[tokio::test]
async fn the_client_cannot_tell_why_it_was_refused() {
    let [old, new] = [Key::generate().unwrap(), Key::generate().unwrap()];
    let before = start_with(codec(&[&old]), |guard| guard).await;
    let server = start_with(codec(&[&new]), |guard| guard.ledger(Memory::default())).await;
    let a_second = |guard: GuardBuilder| guard.request_state_ttl(Duration::from_secs(1));
    let short = start_with(codec(&[&new]), a_second).await;
    let alice = client(&server.uri, "alice").await;
    let mallory = client(&server.uri, "mallory").await;
    let retired = state(&client(&before.uri, "alice").await, delete(json!(8))).await;
    let mut seen = Vec::new();

    let mut refused = async |who: &Client, params: CallToolRequestParams, token: &str, code| {
        seen.push(retry(who, params, token).await.unwrap_err());
        let told = server.refusals.take();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!((told[0].code, told[0].kind), (code, Kind::RequestState));
        let principal = told[0].principal.as_ref().unwrap();
        let subject = principal.parts().unwrap().subject;
        assert!(matches!(subject, Some("alice" | "mallory")));
        assert!(!told[0].message.contains(token) || token.is_empty());
        told[0].id.clone()
    };
    let state8 = async || state(&alice, delete(json!(8))).await;
    let long = format!("{}{}", state8().await, "A".repeat(6000));

    let known = refused(
        &mallory,
        delete(json!(8)),
        &state8().await,
        "principal_mismatch",
    )
    .await;
    assert_eq!(known.unwrap().len(), 32);
    refused(&alice, delete(json!(9)), &state8().await, "unauthentic").await;
    refused(
        &alice,
        call("count", json!({"id": 8})),
        &state8().await,
        "unauthentic",
    )
    .await;
    refused(
        &alice,
        delete(json!(8)),
        &altered(&state8().await),
        "unauthentic",
    )
    .await;
    refused(&alice, delete(json!(8)), &retired, "unknown_key").await;
    refused(&alice, delete(json!(8)), &long, "too_large").await;
    refused(&alice, delete(json!(8)), "", "malformed").await;
    refused(&alice, delete(json!(8)), r#"{"asked":8}"#, "malformed").await;
    let twice = state8().await;
    assert!(retry(&alice, delete(json!(8)), &twice).await.is_ok());
    refused(&alice, delete(json!(8)), &twice, "used").await;
    let late = state(&client(&short.uri, "alice").await, delete(json!(8))).await;
    tokio::time::sleep(Duration::from_millis(2100)).await;
    refused(&alice, delete(json!(8)), &late, "expired").await;

    for wrong in [json!(5), json!(null), json!({}), json!([])] {
        let params = json!({"name": "delete", "arguments": {"id": 8}, "requestState": wrong});
        match raw(&alice, "tools/call", params).await {
            // rmcp reads null as absent, so this is a first round.
            Ok(first) => assert_eq!(
                (wrong, &first["resultType"]),
                (json!(null), &json!("input_required"))
            ),
            Err(error) => {
                seen.push(error);
                assert_eq!(server.refusals.code(), "malformed");
            }
        }
    }
    assert_eq!(seen.len(), 13);
    for error in seen {
        assert_eq!(error, refusal(Profile::RequestState));
    }
}

#[tokio::test]
async fn a_state_of_another_type_is_refused() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let fickle = || call("fickle", json!({}));
    let sealed = state(&alice, fickle()).await;
    assert_eq!(
        retry(&alice, fickle(), &sealed).await,
        Err(refusal(Profile::RequestState))
    );
    let told = server.refusals.take();
    assert_eq!((told.len(), told[0].code), (1, "malformed"));
    assert!(told[0].id.is_some() && told[0].principal.is_some());
}

#[tokio::test]
async fn binds_to_the_arguments_on_the_wire_not_to_what_the_schema_made_of_them() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    // All of these are id 7 to the handler.
    let spellings = [json!({}), json!({"id": 7}), json!({"id": "7"})];
    for asked in &spellings {
        for retried in &spellings {
            let sealed = state(&alice, call("delete", asked.clone())).await;
            let result = retry(&alice, call("delete", retried.clone()), &sealed).await;
            assert_eq!(result.is_ok(), asked == retried, "{asked} then {retried}");
            if asked != retried {
                assert_eq!(server.refusals.code(), "unauthentic");
            }
        }
    }
    // 7.0 is the same JSON number as 7.
    let sealed = state(&alice, delete(json!(7))).await;
    let params = json!({"name": "delete", "arguments": {"id": 7.0}, "requestState": sealed});
    assert_eq!(
        said(raw(&alice, "tools/call", params).await),
        "deleted 7, asked for 7"
    );
}

/// In revisions without `input_required` rmcp returns an error, which does not contain the plain state.
#[tokio::test]
async fn an_older_client_gets_no_state() {
    let server = start(|guard| guard).await;
    let alice = legacy(&server.uri, "alice").await;
    let error = json_of(alice.call_tool(delete(json!(8))).await).unwrap_err();
    assert_eq!(error["code"], -32600);
    assert!(!error.to_string().contains("asked\""));
}

/// rmcp reads the member by one name only, and the handler gets the state that the guard opened.
#[tokio::test]
async fn an_alias_of_the_state_shows_a_handler_nothing() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let sealed = state(&alice, delete(json!(8))).await;
    let requests = [
        (
            "tools/call",
            json!({"name": "delete", "arguments": {"id": 8}}),
        ),
        ("tools/call", json!({"name": "raw", "arguments": {}})),
        ("prompts/get", json!({"name": "greet"})),
        ("resources/read", json!({"uri": "note:///1"})),
    ];
    for (method, params) in requests {
        for alias in ["request_state", "RequestState", "requeststate", "state"] {
            for forged in [json!(r#"{"asked":8}"#), json!({"asked": 8})] {
                let mut params = params.clone();
                params[alias] = forged;
                let first = raw(&alice, method, params.clone()).await.unwrap();
                assert_eq!(first["resultType"], "input_required", "{method}: {alias}");
                params["_meta"] = json!({alias: params[alias], "requestState": params[alias]});
                let first = raw(&alice, method, params).await.unwrap();
                assert_eq!(first["resultType"], "input_required", "{method}: {alias}");
            }
        }
    }
    // Next to a good state it has no effect.
    let params = json!({"name": "delete", "arguments": {"id": 8}, "requestState": sealed,
        "request_state": r#"{"asked":9}"#});
    let done = raw(&alice, "tools/call", params).await;
    assert_eq!(said(done), "deleted 8, asked for 8");
    assert!(server.refusals.take().is_empty());
}

/// Makes params that fit none of rmcp's types, which reach the handler of custom requests.
fn unfit(mut params: Value) -> Value {
    params["inputResponses"] = json!(5);
    params
}

#[tokio::test]
async fn arguments_of_a_resource_bind_nothing() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let typed: fn(Value) -> Value = |params| params;
    for fit in [typed, unfit] {
        let asked = fit(json!({"uri": "note:///1", "arguments": {"n": 9_007_199_254_740_993_u64}}));
        let first = raw(&alice, "resources/read", asked).await.unwrap();
        let sealed = first["requestState"].as_str().unwrap();
        assert!(sealed.starts_with("sw1."), "{first}");
        for arguments in [json!(null), json!({"n": 2}), json!("no object")] {
            let again = fit(json!({"uri": "note:///1", "arguments": arguments,
                "requestState": sealed}));
            let done = raw(&alice, "resources/read", again).await;
            assert_eq!(done.unwrap()["resultType"], "complete", "{arguments}");
        }
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_not_taken_for_none() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let sealed = state(&alice, CallToolRequestParams::new("delete")).await;
    for arguments in [json!([8]), json!("8"), json!(8), json!(true)] {
        let params = json!({"name": "delete", "arguments": arguments, "requestState": sealed});
        let refused = raw(&alice, "tools/call", params).await;
        assert!(refused.is_err(), "{arguments}: {refused:?}");
    }
}

#[tokio::test]
async fn null_is_absent() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let typed: fn(Value) -> Value = |params| params;
    for fit in [typed, unfit] {
        let params = fit(json!({"uri": "note:///1", "requestState": null}));
        let first = raw(&alice, "resources/read", params).await;
        assert_eq!(first.unwrap()["resultType"], "input_required");
    }
    assert!(server.refusals.take().is_empty());
}
