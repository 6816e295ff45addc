//! Data-layer sessions that are refused.

use sealwax_rmcp::{Guard, Sessions, from_claims};
use serde_json::json;

use crate::clients::{SESSION, call_in, client, create, raw};
use crate::serving::{fresh, serve};
use crate::session_server::{Rows, not_found, start, start_with};

/// rmcp reads each member by one name only.
#[tokio::test]
async fn an_alias_shows_a_handler_no_session() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    let mut snake = session.clone();
    snake["session_id"] = snake["sessionId"].take();
    for params in [
        json!({"meta": {SESSION: session}}),
        json!({"Meta": {SESSION: session}}),
        json!({SESSION: session}),
        json!({"session": session}),
        json!({"_meta": {"session": session}}),
        json!({"arguments": {"_meta": {SESSION: session}}}),
    ] {
        let mut params = params;
        params["name"] = json!("read");
        let refused = raw(&alice, "tools/call", params.clone()).await;
        assert_eq!(refused.unwrap_err()["message"], "Session required");
        assert_eq!(server.refusals.code(), "malformed");
    }
    let refused = call_in(&alice, "read", json!({}), &snake).await;
    assert_eq!(refused.unwrap_err()["message"], "Session not found");
    assert_eq!(server.refusals.code(), "malformed");
}

#[tokio::test]
async fn a_state_of_another_type_is_refused_before_any_handler() {
    let codec = fresh();
    let sessions = Sessions::new(|_, _| async { Ok(7) });
    let numbers = Guard::builder(codec.clone(), from_claims).sessions(sessions);
    let numbers = numbers.build().unwrap();
    let uri = serve(numbers.protect(Rows)).await;
    let session = create(&client(&uri, "alice").await).await;
    let texts = start_with(codec, |it| it, |it| it).await;
    let alice = client(&texts.uri, "alice").await;
    let refused = call_in(&alice, "free", json!({}), &session).await;
    assert_eq!(refused, Err(not_found(&session)));
    assert_eq!(texts.refusals.code(), "malformed");
}
