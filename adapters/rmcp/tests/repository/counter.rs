//! `examples/sessions.rs` in a process, on stdio and on HTTP: logical sessions, which outlive the
//! process that began them.

use std::process::Command;

use rmcp::model::*;
use rmcp::{ClientServiceExt as _, ServiceExt as _};
use serde_json::{Value, json};

use crate::clients::{Client, SESSION, client, create, json_of, legacy, modern};
use crate::programs::{built, key, process, served};

async fn stdio(key: &str, revision: &str) -> Client {
    let (client, process) = (ClientConfig::default(), process("sessions", key));
    match revision {
        "2026-07-28" => client.serve_with_lifecycle(process, modern()).await,
        _ => client.serve(process).await,
    }
    .unwrap()
}

/// Calls a tool in a session.
async fn call_in(
    client: &Client,
    tool: &str,
    args: Value,
    session: &Value,
) -> Result<Value, Value> {
    let params = json!({"name": tool, "arguments": args, "_meta": {SESSION: session}});
    let params: CallToolRequestParams = serde_json::from_value(params).unwrap();
    json_of(client.call_tool(params).await)
}

/// A conversation, as a host keeps it.
struct Conversation(Value);

impl Conversation {
    async fn call(&mut self, client: &Client, tool: &str, args: Value) -> (bool, String) {
        let result = call_in(client, tool, args, &self.0).await.unwrap();
        let left = &result["_meta"][SESSION];
        assert_eq!(left["sessionId"], self.0["sessionId"]);
        if left["state"].is_string() {
            self.0["state"] = left["state"].clone();
        }
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (result["isError"] == true, text)
    }

    async fn good(&mut self, client: &Client, tool: &str, args: Value) -> String {
        let (failed, text) = self.call(client, tool, args).await;
        assert!(!failed, "{tool}: {text}");
        text
    }
}

/// Holds two conversations at once, on two servers in turn.
async fn tour(one: &Client, two: &Client) {
    let mut first = Conversation(create(one).await);
    let mut second = Conversation(create(two).await);
    for (turn, client) in [one, two, one].into_iter().enumerate() {
        let count = first.good(client, "count", json!({})).await;
        assert_eq!(count, (turn + 1).to_string());
    }
    assert_eq!(second.good(one, "count", json!({})).await, "1");

    first.good(one, "begin", json!({})).await;
    first.good(two, "write", json!({"text": "Hello"})).await;
    assert_eq!(first.good(one, "read", json!({})).await, "Hello");
    // A tool's own error keeps the session.
    assert!(second.call(two, "read", json!({})).await.0);
    assert_eq!(second.good(one, "count", json!({})).await, "2");

    let bare = json_of(one.call_tool(CallToolRequestParams::new("count")).await);
    assert_eq!(bare.unwrap_err()["message"], "Session required");
}

#[tokio::test]
async fn on_stdio_sessions_go_from_process_to_process() {
    for revision in ["2026-07-28", "2025-11-25"] {
        let key = key();
        let (one, two) = (stdio(&key, revision).await, stdio(&key, revision).await);
        tour(&one, &two).await;
        // A restart, and a server with another key.
        let mut left = Conversation(create(&one).await);
        left.good(&one, "count", json!({})).await;
        one.cancel().await.unwrap();
        let again = stdio(&key, revision).await;
        assert_eq!(left.good(&again, "count", json!({})).await, "2");
        let stranger = stdio(&self::key(), revision).await;
        let refused = call_in(&stranger, "count", json!({}), &left.0).await;
        assert_eq!(refused.unwrap_err()["code"], -32043);
    }
}

/// Those of users are in examples/demo/fleet_sessions.py.
#[tokio::test]
async fn on_http_sessions_go_from_replica_to_replica() {
    let key = key();
    let [here, there] = [(); 2].map(|()| {
        let mut command = Command::new(built("sessions"));
        served(command.env_remove("SEALWAX_LEDGER"), &key, None)
    });
    let [one, two] = [&here.uri, &there.uri];
    tour(&client(one, "any").await, &client(two, "any").await).await;
    tour(&legacy(one, "any").await, &legacy(two, "any").await).await;
}
