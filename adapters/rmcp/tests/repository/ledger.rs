//! The ledger of two replicas, in SQLite, in a Valkey and in a Cluster.

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

pub async fn sure(client: &Client, state: &str) -> Result<Value, Value> {
    let again = call("sure", json!({})).with_request_state(state);
    json_of(client.call_tool_once(again).await.map(|_| "sure"))
}

#[tokio::test]
async fn a_request_state_comes_back_once_wherever_it_does() {
    for store in Store::each() {
        let fleet = Fleet::on(store).await;
        let [here, there] = fleet.clients("alice").await;
        let sealed = state(&here, call("sure", json!({}))).await;
        let all = (0..16).map(|at| sure(if at % 2 == 0 { &here } else { &there }, &sealed));
        let (won, lost): (Vec<_>, Vec<_>) =
            join_all(all).await.into_iter().partition(Result::is_ok);
        assert_eq!((won.len(), lost.len()), (1, 15));
        let refused = Err(refusal(Profile::RequestState));
        assert!(lost.iter().all(|lost| *lost == refused), "{lost:?}");
        let told = fleet.refusals.take();
        assert_eq!(told.len(), 15);
        assert!(told.iter().all(|told| told.code == "used"), "{told:?}");
    }
}

#[tokio::test]
async fn what_ends_and_who_is_revoked_is_over_everywhere() {
    for store in Store::each() {
        let fleet = Fleet::on(store).await;
        let [here, there] = fleet.clients("alice").await;
        let [bob, _] = fleet.clients("bob").await;
        let read = async |client: &Client, session: &Value| {
            let read = call_in(client, "read", json!({}), session).await;
            read.map(|read| read["structuredContent"]["value"].clone())
        };
        let over = async |session: &Value, code| {
            let data = json!({"sessionId": session["sessionId"]});
            let over = json!({"code": -32043, "message": "Session not found", "data": data});
            assert_eq!(read(&there, session).await, Err(over));
            assert_eq!(fleet.refusals.code(), code);
        };
        let deleted = create(&here).await;
        assert_eq!(read(&there, &deleted).await, Ok(json!(0)));
        let meta = json!({"_meta": {SESSION: {"sessionId": deleted["sessionId"]}}});
        raw(&here, "sessions/delete", meta).await.unwrap();
        over(&deleted, "ended").await;

        let (session, bobs) = (create(&here).await, create(&bob).await);
        let sealed = state(&here, call("sure", json!({}))).await;
        fleet.guards[0].revoke(&alice(), None).await.unwrap();
        over(&session, "revoked").await;
        let refused = sure(&there, &sealed).await;
        assert_eq!(refused, Err(refusal(Profile::RequestState)));
        assert_eq!(fleet.refusals.code(), "revoked");
        // No other user is signed out, and alice can begin a new session.
        assert_eq!(read(&bob, &bobs).await, Ok(json!(0)));
        another_second().await;
        assert_eq!(read(&there, &create(&here).await).await, Ok(json!(0)));
    }
}
