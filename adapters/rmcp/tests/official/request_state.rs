//! `requestState` of tools, prompts and resources.

use rmcp::model::*;
use sealwax_mcp::Profile;
use serde_json::{Value, json};

use crate::clients::{Client, call, client, json_of, legacy, raw, refusal, state};
use crate::server::*;

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
    let with = |arguments: &Value| {
        let params = json!({"name": "delete", "arguments": arguments, "requestState": sealed});
        raw(&alice, "tools/call", params)
    };
    let refused = with(&json!([8])).await;
    assert_eq!(refused, Err(refusal(Profile::RequestState)));
    assert_eq!(server.refusals.code(), "unauthentic");
    for arguments in [json!("8"), json!(8), json!(true)] {
        let refused = with(&arguments).await.unwrap();
        assert_eq!(refused["isError"], true, "{arguments}: {refused}");
        assert_eq!(server.refusals.code(), "invalid_request");
    }
}
