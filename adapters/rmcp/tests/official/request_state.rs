//! State that has a type, and requests that fit none of rmcp's types.

use sealwax_mcp::Profile;
use serde_json::{Value, json};

use crate::clients::{call, client, json_of, legacy, raw, refusal, state};
use crate::server::*;

#[tokio::test]
async fn a_state_of_another_type_is_refused() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let fickle = || call("fickle", json!({}));
    let sealed = state(&alice, fickle()).await;
    let again = alice.call_tool_once(fickle().with_request_state(sealed));
    let refused = json_of(again.await.map(|_| ()));
    assert_eq!(refused, Err(refusal(Profile::RequestState)));
    let told = server.refusals.take();
    assert_eq!((told.len(), told[0].code), (1, "malformed"));
    assert!(told[0].id.is_some() && told[0].principal.is_some());
}

/// The model hears which argument it is, where `State::write` seals as where the guard does.
#[tokio::test]
async fn what_cannot_be_bound_is_told_where_a_state_is_sealed() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let told = tool(&alice, "fickle", json!({"n": 9_007_199_254_740_993_u64})).await;
    let said = "Invalid arguments. argument \"n\": expected numbers of magnitude below 2^53: pass a larger one as a string";
    assert_eq!(told["isError"], true, "{told}");
    assert_eq!(told["content"], json!([{"type": "text", "text": said}]));
    let refused = server.refusals.take();
    assert_eq!((refused.len(), refused[0].code), (1, "invalid_request"));
    assert_eq!(refused[0].target.as_deref(), Some("fickle"));
    assert!(!refused[0].message.contains("9007199254740993"));
}

/// In revisions without `input_required` rmcp returns an error, which does not contain the plain state.
#[tokio::test]
async fn an_older_client_gets_no_state() {
    let server = start().await;
    let alice = legacy(&server.uri, "alice").await;
    let error = json_of(alice.call_tool(call("fickle", json!({}))).await).unwrap_err();
    assert_eq!(error["code"], -32600);
    assert!(!error.to_string().contains("no number"));
}

/// rmcp passes it on as a custom request.
#[tokio::test]
async fn what_fits_none_of_rmcps_types_is_guarded_too() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let read = |state: &Value| {
        let params = json!({"uri": "note:///1", "inputResponses": 5, "requestState": state});
        raw(&alice, "resources/read", params)
    };
    let first = read(&json!(null)).await.unwrap();
    let sealed = &first["requestState"];
    assert!(sealed.as_str().unwrap().starts_with("sw1."), "{first}");
    assert_eq!(read(sealed).await.unwrap()["saw"], "kept");
    assert!(server.refusals.is_empty());
    let called = |name: Value, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments, "requestState": "x"});
        raw(&alice, "tools/call", params)
    };
    let refused = called(json!(["count"]), json!({})).await;
    let expected = json!({"code": -32602, "message": "Invalid params"});
    assert_eq!(refused, Err(expected));
    assert_eq!(server.refusals.code(), "invalid_request");
    let refused = called(json!("count"), json!("8")).await.unwrap();
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(server.refusals.code(), "invalid_request");
    let refused = called(json!("count"), json!([8])).await;
    assert_eq!(refused, Err(refusal(Profile::RequestState)));
    assert_eq!(server.refusals.code(), "malformed");
}

#[tokio::test]
async fn a_cursor_that_is_no_text_neither_comes_nor_leaves() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let refused = raw(&alice, "notes/list", json!({"cursor": 2})).await;
    assert_eq!(refused, Err(refusal(Profile::Cursor)));
    assert_eq!(server.refusals.code(), "malformed");
    let refused = raw(&alice, "bad/list", json!({})).await;
    assert_eq!(refused, Err(internal(Profile::Cursor)));
    assert_eq!(server.refusals.code(), "invalid_argument");
}
