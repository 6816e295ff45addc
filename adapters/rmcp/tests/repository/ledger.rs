//! The ledger of two replicas, in memory, in SQLite and in a Valkey.

use std::time::Duration;

use futures::future::join_all;
use rmcp::model::CallToolRequestParams;
use sealwax_mcp::Profile;
use serde_json::{Value, json};

use crate::clients::{Client, SESSION, call, create, json_of, raw, refusal, state};
use crate::serving::alice;
use crate::tally::{Fleet, Store, another_second};

/// Calls a tool in a session.
pub async fn call_in(
    client: &Client,
    tool: &str,
    args: Value,
    session: &Value,
) -> Result<Value, Value> {
    let params = json!({"name": tool, "arguments": args, "_meta": {SESSION: session}});
    let params: CallToolRequestParams = serde_json::from_value(params).unwrap();
    json_of(client.call_tool(params).await)
}

fn not_found(session: &Value) -> Value {
    let id = &session["sessionId"];
    json!({"code": -32043, "message": "Session not found", "data": {"sessionId": id}})
}

/// Returns the session after a successful call.
fn next(session: &Value, result: &Value) -> Value {
    assert_eq!(result["isError"], false, "{result}");
    let mut next = session.clone();
    next["state"] = result["_meta"][SESSION]["state"].clone();
    assert!(next["state"].is_string(), "{result}");
    next
}

pub async fn value(client: &Client, session: &Value) -> Value {
    let read = call_in(client, "read", json!({}), session).await.unwrap();
    assert_eq!(read["isError"], false, "{read}");
    read["structuredContent"]["value"].clone()
}

pub async fn sure(client: &Client, state: &str) -> Result<Value, Value> {
    let again = call("sure", json!({})).with_request_state(state);
    json_of(client.call_tool_once(again).await.map(|_| "sure"))
}

#[tokio::test]
async fn a_request_state_comes_back_once_wherever_it_does() {
    for store in Store::each() {
        let fleet = Fleet::on(store).await;
        let [here, there] = fleet.clients("alice").await;
        for (first, second) in [(&here, &here), (&here, &there), (&there, &here)] {
            let sealed = state(first, call("sure", json!({}))).await;
            assert!(sure(first, &sealed).await.is_ok());
            let refused = sure(second, &sealed).await;
            assert_eq!(refused, Err(refusal(Profile::RequestState)));
            assert_eq!(fleet.refusals.code(), "used");
        }
        // Of concurrent requests one succeeds.
        let sealed = state(&here, call("sure", json!({}))).await;
        let all = (0..16).map(|at| sure(if at % 2 == 0 { &here } else { &there }, &sealed));
        let won = join_all(all).await.into_iter().filter(Result::is_ok);
        assert_eq!(won.count(), 1);
        let told = fleet.refusals.take();
        assert_eq!(told.len(), 15);
        assert!(told.iter().all(|told| told.code == "used"), "{told:?}");
    }
}

#[tokio::test]
async fn a_session_that_was_deleted_is_over_everywhere() {
    for store in Store::each() {
        let fleet = Fleet::on(store).await;
        let [here, there] = fleet.clients("alice").await;
        let session = create(&here).await;
        assert_eq!(value(&there, &session).await, 0);
        let meta = json!({"_meta": {SESSION: {"sessionId": session["sessionId"]}}});
        raw(&here, "sessions/delete", meta).await.unwrap();
        for client in [&here, &there] {
            let over = call_in(client, "read", json!({}), &session).await;
            assert_eq!(over, Err(not_found(&session)));
            assert_eq!(fleet.refusals.code(), "ended");
        }
    }
}

#[tokio::test]
async fn of_parallel_writes_one_succeeds_and_the_others_hear_that_they_are_stale() {
    for store in Store::each() {
        let fleet = Fleet::on(store).await;
        let clients = fleet.clients("alice").await;
        let session = create(&clients[0]).await;
        // All have begun before the first is done.
        let calls =
            (0..8).map(|at| call_in(&clients[at % 2], "add", json!({"wait": true}), &session));
        let release = async {
            for replica in &fleet.replicas {
                replica.gate.all(4).await;
            }
            for replica in &fleet.replicas {
                replica.gate.go.add_permits(4);
            }
        };
        let (done, ()) = tokio::join!(join_all(calls), release);
        let done: Vec<_> = done.into_iter().map(Result::unwrap).collect();
        let (won, lost): (Vec<_>, Vec<_>) = done.iter().partition(|it| it["isError"] == false);
        assert_eq!((won.len(), lost.len()), (1, 7), "{done:?}");
        let told = fleet.refusals.take();
        assert!(told.len() == 7 && told.iter().all(|it| it.code == "stale"));
        // Each has the latest state now, and goes on with it.
        for lost in lost {
            assert_eq!(value(&clients[0], &lost["_meta"][SESSION]).await, 1);
        }
        let again = call_in(&clients[1], "add", json!({}), &next(&session, won[0])).await;
        assert_eq!(again.unwrap()["structuredContent"]["value"], 2);
    }
}

#[tokio::test]
async fn who_is_revoked_is_signed_out_everywhere() {
    for store in Store::each() {
        let fleet = Fleet::on(store).await;
        let [here, there] = fleet.clients("alice").await;
        let [bob, _] = fleet.clients("bob").await;
        let (session, bobs) = (create(&here).await, create(&bob).await);
        let sealed = state(&here, call("sure", json!({}))).await;
        let lives = Some(Duration::from_secs(3600));
        let revoking = &fleet.replicas[0].guard;
        revoking.revoke(&alice(), lives).await.unwrap();

        let over = call_in(&there, "read", json!({}), &session).await;
        assert_eq!(over, Err(not_found(&session)));
        assert_eq!(
            sure(&there, &sealed).await,
            Err(refusal(Profile::RequestState))
        );
        let told = fleet.refusals.take();
        assert_eq!(told.len(), 2);
        assert!(told.iter().all(|told| told.code == "revoked"), "{told:?}");
        // No other user is signed out, and alice can begin a new session.
        assert_eq!(value(&bob, &bobs).await, 0);
        another_second().await;
        assert_eq!(value(&there, &create(&here).await).await, 0);
    }
}
