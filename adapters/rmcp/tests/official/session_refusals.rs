//! Data-layer sessions that are refused.

use std::time::Duration;

use sealwax::{Codec, Key, KeyRing};
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{Guard, Kind, Sessions, from_claims};
use serde_json::{Value, json};

use crate::accept::{Rule, fails};
use crate::clients::{SESSION, altered, call_in, client, create, raw};
use crate::serving::{codec, fresh, serve};
use crate::session_server::{Rows, connect, not_found, start, start_with, write};

#[tokio::test]
async fn the_client_cannot_tell_why_it_was_refused() {
    let [old, new] = [Key::generate().unwrap(), Key::generate().unwrap()];
    let before = start_with(codec(&[&old]), |guard| guard, |sessions| sessions).await;
    let server = start_with(codec(&[&new]), |guard| guard, |sessions| sessions).await;
    for revision in ["2026-07-28", "2025-11-25"] {
        let alice = connect(revision, &server.uri, "alice").await;
        let mallory = connect(revision, &server.uri, "mallory").await;
        let [good, other] = [create(&alice).await, create(&alice).await];
        let retired = create(&connect(revision, &before.uri, "alice").await).await;
        let with = |member: &str, value: Value| {
            let mut sent = good.clone();
            sent[member] = value;
            sent
        };
        let state = good["state"].as_str().unwrap();
        let mut alone = good.clone();
        alone.as_object_mut().unwrap().remove("state");
        let id = altered(good["sessionId"].as_str().unwrap());
        for (who, sent, code) in [
            (&mallory, good.clone(), "principal_mismatch"),
            (&alice, with("state", other["state"].clone()), "unauthentic"),
            (&alice, with("state", json!(altered(state))), "unauthentic"),
            (&alice, with("sessionId", json!(id)), "unauthentic"),
            (&alice, with("state", json!(state.repeat(100))), "too_large"),
            (&alice, with("state", json!(5)), "malformed"),
            (&alice, with("sessionId", json!("sess-1")), "malformed"),
            (&alice, retired, "unknown_key"),
            (&alice, alone, "malformed"),
        ] {
            // Also in a tool that needs no session.
            for tool in ["read", "free"] {
                let refused = call_in(who, tool, json!({}), &sent).await;
                assert_eq!(refused, Err(not_found(&sent)), "{code}");
                let told = server.refusals.take();
                assert_eq!((told.len(), told[0].kind), (1, Kind::Session));
                assert_eq!(told[0].code, code);
            }
            let refused = raw(who, "tools/list", json!({"_meta": {SESSION: sent}})).await;
            assert_eq!(refused, Err(not_found(&sent)), "{code}");
            server.refusals.take();
        }
        let odd = call_in(&alice, "free", json!({}), &json!("sess"))
            .await
            .unwrap_err();
        assert_eq!(odd, json!({"code": -32043, "message": "Session not found"}));
        assert_eq!(server.refusals.code(), "malformed");
    }
}

#[tokio::test]
async fn an_idle_and_an_old_session_are_refused_in_the_same_words() {
    let ring = || KeyRing::new([Key::generate().unwrap()]).unwrap();
    let two_seconds = Duration::from_secs(2);
    let short = Codec::builder(ring(), "https://mcp.example.com")
        .session_max_age(two_seconds)
        .build()
        .unwrap();
    let idle = start_with(fresh(), |it| it, |sessions| sessions.ttl(two_seconds)).await;
    let old = start_with(short, |it| it, Sessions::no_expiry).await;
    let mut sessions = vec![];
    for server in [&idle, &old] {
        let alice = client(&server.uri, "alice").await;
        let session = create(&alice).await;
        sessions.push((server, alice, session));
    }
    tokio::time::sleep(Duration::from_millis(2300)).await;
    for (server, alice, session) in sessions {
        let refused = call_in(&alice, "read", json!({}), &session).await;
        assert_eq!(refused, Err(not_found(&session)));
        assert_eq!(server.refusals.code(), "expired");
    }
}

#[tokio::test]
async fn an_ended_session_is_refused_and_its_fork_is_not() {
    let server = start_with(fresh(), |it| it.ledger(Memory::default()), |it| it).await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    let forked = call_in(&alice, "fork", json!({}), &session).await.unwrap();
    let forked = &forked["structuredContent"]["session"];
    assert_ne!(forked["sessionId"], session["sessionId"]);
    let later = write(&alice, "later", &session).await;
    let delete = json!({"_meta": {SESSION: {"sessionId": session["sessionId"]}}});
    raw(&alice, "sessions/delete", delete.clone())
        .await
        .unwrap();
    for sent in [&session, &later] {
        let refused = call_in(&alice, "read", json!({}), sent).await;
        assert_eq!(refused, Err(not_found(&session)));
        assert_eq!(server.refusals.code(), "ended");
    }
    assert_eq!(
        raw(&alice, "sessions/delete", delete).await,
        Err(not_found(&session))
    );
    let read = call_in(&alice, "read", json!({}), forked).await.unwrap();
    assert_eq!(read["structuredContent"]["value"], "new");
}

#[tokio::test]
async fn trouble_of_the_server_does_not_end_a_session() {
    let server = start_with(fresh(), |it| it.accept(Rule::new(fails)), |it| it).await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    let error = call_in(&alice, "read", json!({}), &session).await;
    assert_eq!(
        error,
        Err(json!({"code": -32603, "message": "Internal error"}))
    );
    assert_eq!(server.refusals.code(), "accept_unavailable");
}

#[tokio::test]
async fn too_large_a_state_is_told_to_the_author() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    let error = call_in(&alice, "flood", json!({"bytes": 200_000}), &session).await;
    assert_eq!(
        error,
        Err(json!({"code": -32603, "message": "Internal error"}))
    );
    assert_eq!(server.refusals.code(), "too_large");
    assert!(call_in(&alice, "read", json!({}), &session).await.is_ok());
}

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
