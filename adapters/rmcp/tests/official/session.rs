//! Data-layer sessions, through servers and clients of rmcp over HTTP.

use sealwax_rmcp::{Guard, Sessions, from_claims};
use serde_json::json;

use crate::clients::{SESSION, call_in, client, create, legacy, raw};
use crate::serving::{fresh, serve};
use crate::session_server::{Rows, start};

#[tokio::test]
async fn the_server_says_that_it_has_sessions() {
    let server = start().await;
    for alice in [
        client(&server.uri, "alice").await,
        legacy(&server.uri, "alice").await,
    ] {
        let info = serde_json::to_value(&*alice.peer_info().unwrap()).unwrap();
        // What the server says itself stays.
        let said = json!({"sessions": {}, "com.example/own": {}});
        assert_eq!(info["capabilities"]["experimental"], said, "{info}");
    }
}

#[tokio::test]
async fn the_author_may_refuse_to_begin_a_session() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let error = raw(&alice, "sessions/create", json!({"begin": "never"})).await;
    assert_eq!(error, Err(json!({"code": -32602, "message": "never"})));
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
async fn no_cache_serves_a_result_of_a_session_to_others() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    let methods = [
        "resources/list",
        "notes/list",
        "notes/count",
        "server/discover",
    ];
    for method in methods {
        for (meta, scope, ttl) in [
            (json!({}), "public", 60_000),
            (json!({ SESSION: session }), "private", 0),
        ] {
            if method == "notes/count" && scope == "public" {
                continue;
            }
            let list = raw(&alice, method, json!({ "_meta": meta })).await;
            let list = list.unwrap();
            assert_eq!(
                (&list["cacheScope"], &list["ttlMs"]),
                (&json!(scope), &json!(ttl)),
                "{method}"
            );
        }
    }
}

#[tokio::test]
async fn a_forgotten_protect_gives_no_session() {
    let guard = Guard::builder(fresh(), from_claims).sessions(Sessions::held_by_server());
    let guard = guard.build().unwrap();
    let session = create(&client(&serve(guard.protect(Rows)).await, "alice").await).await;
    let uri = serve(Rows).await;
    let alice = client(&uri, "alice").await;
    let refused = call_in(&alice, "row", json!({}), &session).await;
    assert_eq!(refused.unwrap_err()["code"], -32603);
}
