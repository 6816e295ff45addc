//! Data-layer sessions in rmcp's types.

use sealwax_rmcp::{Guard, Sessions, from_claims};
use serde_json::json;

use crate::clients::{SESSION, client, create, legacy, raw};
use crate::server::{start, start_as};
use crate::serving::{fresh, serve};

#[tokio::test]
async fn the_server_says_that_it_has_sessions_beside_what_it_says_itself() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    for client in [&alice, &legacy(&server.uri, "alice").await] {
        let info = serde_json::to_value(&*client.peer_info().unwrap()).unwrap();
        let said = json!({"sessions": {}, "com.example/own": {}});
        assert_eq!(info["capabilities"]["experimental"], said, "{info}");
    }
    // No cache serves to others what a session was told.
    let meta = json!({"_meta": {SESSION: create(&alice).await}});
    for method in ["server/discover", "resources/list", "notes/read"] {
        let told = raw(&alice, method, meta.clone()).await.unwrap();
        let found = (&told["cacheScope"], &told["ttlMs"]);
        assert_eq!(found, (&json!("private"), &json!(0)), "{method}");
    }
}

#[tokio::test]
async fn the_author_begins_a_session_with_the_params_or_refuses() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let error = raw(&alice, "sessions/create", json!({"begin": "never"})).await;
    assert_eq!(error, Err(json!({"code": -32602, "message": "never"})));
    let error = raw(&alice, "sessions/create", json!({"begin": "panic"})).await;
    assert_eq!(error.unwrap_err()["code"], -32603);
    assert_eq!(server.refusals.code(), "invalid_argument");
    let made = raw(&alice, "sessions/create", json!({"begin": "hello"})).await;
    let session = &made.unwrap()["session"];
    let meta = json!({"_meta": {SESSION: session}});
    let read = raw(&alice, "notes/read", meta).await.unwrap();
    let found = (&read["saw"], &read["id"]);
    assert_eq!(found, (&json!("hello"), &session["sessionId"]));
    assert_eq!(read["ulid"].as_str().unwrap().len(), 32);
}

#[tokio::test]
async fn a_write_that_rmcp_would_lose_is_told_to_the_author() {
    let server = start().await;
    let alice = legacy(&server.uri, "alice").await;
    let session = create(&alice).await;
    let level = |level: &str| json!({"level": level, "_meta": {SESSION: session}});
    let quiet = raw(&alice, "logging/setLevel", level("info")).await;
    assert_eq!(quiet, Ok(json!({})));
    let lost = raw(&alice, "logging/setLevel", level("error")).await;
    assert_eq!(lost.unwrap_err()["code"], -32603);
    assert_eq!(server.refusals.code(), "invalid_argument");
}

#[tokio::test]
async fn a_state_of_another_type_is_refused_before_any_handler() {
    let codec = fresh();
    let numbers = Guard::builder(codec.clone(), from_claims);
    let numbers = numbers.sessions(Sessions::new(|_, _| async { Ok(7) }));
    let numbers = serve(
        numbers
            .build()
            .unwrap()
            .protect(crate::pipe::Server::default()),
    )
    .await;
    let session = create(&client(&numbers, "alice").await).await;
    let texts = start_as(Guard::builder(codec, from_claims)).await;
    let alice = client(&texts.uri, "alice").await;
    let refused = raw(&alice, "notes/read", json!({"_meta": {SESSION: session}})).await;
    let data = json!({"sessionId": session["sessionId"]});
    let not_found = json!({"code": -32043, "message": "Session not found", "data": data});
    assert_eq!(refused, Err(not_found));
    assert_eq!(texts.refusals.code(), "malformed");
}
