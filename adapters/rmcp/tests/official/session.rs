//! Data-layer sessions, through servers and clients of rmcp over HTTP.

use rmcp::model::*;
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{Guard, Sessions, from_claims};
use serde_json::{Value, json};

use crate::accept::{Rule, end_of, yes};
use crate::clients::{SESSION, call_in, client, create, json_of, legacy, raw};
use crate::serving::{fresh, serve};
use crate::session_server::{Rows, connect, not_found, start, start_with, write};

#[tokio::test]
async fn a_session_is_made_read_written_and_deleted() {
    let server = start_with(fresh(), |it| it.ledger(Memory::default()), |it| it).await;
    for revision in ["2026-07-28", "2025-11-25"] {
        let alice = connect(revision, &server.uri, "alice").await;
        let made = raw(&alice, "sessions/create", json!({"begin": "hello"}))
            .await
            .unwrap();
        let complete = made["resultType"] == "complete";
        assert_eq!(complete, revision == "2026-07-28", "{made}");
        let first = &made["session"];
        assert!(first["expiresAt"].as_str().unwrap().ends_with('Z'));
        assert!(!first["state"].as_str().unwrap().contains("hello"));

        let read = call_in(&alice, "read", json!({}), first).await.unwrap();
        let seen = &read["structuredContent"];
        assert_eq!(
            (&seen["value"], &seen["generation"]),
            (&json!("hello"), &json!(0))
        );
        let ulid = seen["ulid"].as_str().unwrap();
        assert_eq!(ulid.len(), 32);
        // Nothing was written, so only the id comes back.
        assert_eq!(
            read["_meta"][SESSION],
            json!({"sessionId": first["sessionId"]})
        );

        let second = write(&alice, "there", first).await;
        let read = call_in(&alice, "read", json!({}), &second).await.unwrap();
        let seen = &read["structuredContent"];
        assert_eq!(
            (&seen["value"], &seen["generation"]),
            (&json!("there"), &json!(1))
        );
        assert_eq!(seen["ulid"], ulid);

        // The id alone is enough to delete.
        let alone = json!({SESSION: {"sessionId": first["sessionId"]}});
        let deleted = raw(&alice, "sessions/delete", json!({"_meta": alone}))
            .await
            .unwrap();
        let expected = if complete {
            json!({"resultType": "complete"})
        } else {
            json!({})
        };
        assert_eq!(deleted, expected);
    }
    assert!(server.refusals.take().is_empty());
}

#[tokio::test]
async fn the_server_says_that_it_has_sessions() {
    let server = start().await;
    for alice in [
        client(&server.uri, "alice").await,
        legacy(&server.uri, "alice").await,
    ] {
        let info = serde_json::to_value(&*alice.peer_info().unwrap()).unwrap();
        assert_eq!(
            info["capabilities"]["experimental"]["sessions"],
            json!({}),
            "{info}"
        );
    }
}

#[tokio::test]
async fn other_metadata_stays() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    let kept = call_in(&alice, "write", json!({"text": "a"}), &session)
        .await
        .unwrap();
    assert_eq!(kept["_meta"]["com.example/other"], 1);
}

#[tokio::test]
async fn a_session_is_needed_where_it_was_said() {
    let server = start().await;
    let required = json!({"code": -32043, "message": "Session required",
                          "data": {"reason": "session_required"}});
    let alice = client(&server.uri, "alice").await;
    for tool in ["needy", "read"] {
        let error = json_of(alice.call_tool(CallToolRequestParams::new(tool)).await);
        assert_eq!(error, Err(required.clone()), "{tool}");
        assert_eq!(server.refusals.code(), "malformed");
    }
    let free = json_of(alice.call_tool(CallToolRequestParams::new("free")).await).unwrap();
    assert_eq!(free["content"][0]["text"], "None");
    assert_eq!(free["_meta"][SESSION], Value::Null);
    let session = create(&alice).await;
    let free = call_in(&alice, "free", json!({}), &session).await.unwrap();
    assert_eq!(free["content"][0]["text"], "Some(\"new\")");

    let remembers = start_with(fresh(), |it| it.ledger(Memory::default()), |it| it).await;
    let alice = client(&remembers.uri, "alice").await;
    let deleted = raw(&alice, "sessions/delete", json!({})).await;
    assert_eq!(deleted, Err(required.clone()));

    let strict = start_with(fresh(), |guard| guard, Sessions::require_all).await;
    let alice = client(&strict.uri, "alice").await;
    assert!(alice.list_tools(None).await.is_ok());
    let error = json_of(alice.call_tool(CallToolRequestParams::new("free")).await);
    assert_eq!(error, Err(required.clone()));
    let error = raw(&alice, "notes/any", json!({})).await;
    assert_eq!(error, Err(required));
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
async fn a_list_never_depends_on_a_session() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let first = create(&alice).await;
    let second = write(&alice, "another", &create(&alice).await).await;
    let mut lists = vec![];
    for meta in [json!({}), json!({SESSION: first}), json!({SESSION: second})] {
        let mut list = raw(&alice, "tools/list", json!({"_meta": meta}))
            .await
            .unwrap();
        let left = list.as_object_mut().unwrap().remove("_meta");
        let left = left.map(|meta| meta[SESSION]["sessionId"].clone());
        assert_eq!(left.unwrap_or_default(), meta[SESSION]["sessionId"]);
        // The caching differs, because the metadata does. The list must not differ.
        let scope = list.as_object_mut().unwrap().remove("cacheScope");
        list.as_object_mut().unwrap().remove("ttlMs");
        let expected = if meta[SESSION].is_null() {
            "public"
        } else {
            "private"
        };
        assert_eq!(scope, Some(json!(expected)));
        lists.push(list);
    }
    assert_eq!(lists[0], lists[1]);
    assert_eq!(lists[1], lists[2]);
}

#[tokio::test]
async fn two_writers_at_once_have_the_same_generation() {
    let server = start().await;
    let [alice, agent] = [
        client(&server.uri, "alice").await,
        client(&server.uri, "alice").await,
    ];
    let session = create(&alice).await;
    let (one, two) = tokio::join!(
        write(&alice, "one", &session),
        write(&agent, "two", &session)
    );
    for (left, value) in [(one, "one"), (two, "two")] {
        let read = call_in(&alice, "read", json!({}), &left).await.unwrap();
        let seen = &read["structuredContent"];
        assert_eq!(
            (&seen["value"], &seen["generation"]),
            (&json!(value), &json!(1))
        );
    }
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
async fn a_store_is_told_from_when_on_nothing_of_a_session_opens() {
    let rule = Rule::new(yes);
    let server = start_with(fresh(), |it| it.accept(rule.clone()), |it| it).await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    call_in(&alice, "read", json!({}), &session).await.unwrap();
    let asked = rule.asked.lock().unwrap().pop().unwrap();
    assert_eq!(asked.expires_at, end_of(&asked.id, 30 * 24 * 3600));
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

#[tokio::test]
async fn the_server_may_hold_the_state_by_the_id_alone() {
    let guard = Guard::builder(fresh(), from_claims).sessions(Sessions::held_by_server());
    let guard = guard.build().unwrap();
    let uri = serve(guard.protect(Rows)).await;
    let alice = client(&uri, "alice").await;
    let session = create(&alice).await;
    assert!(session["state"].is_null() && session["expiresAt"].is_string());
    let row = call_in(&alice, "row", json!({}), &session).await.unwrap();
    assert_eq!(row["content"][0]["text"].as_str().unwrap().len(), 32);
    assert_eq!(
        row["_meta"][SESSION],
        json!({"sessionId": session["sessionId"]})
    );
    let mallory = client(&uri, "mallory").await;
    let refused = call_in(&mallory, "row", json!({}), &session).await;
    assert_eq!(refused, Err(not_found(&session)));
}
