//! `examples/sessions.rs` in a process, on stdio and on HTTP: logical sessions, which outlive the
//! process that began them.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use rmcp::model::*;
use rmcp::{ClientServiceExt as _, ServiceExt as _};
use serde_json::{Value, json};

use crate::clients::{Client, SESSION, call_in, client, create, json_of, legacy, modern};
use crate::programs::{Http, built, jwt, key, process, served};

static COUNTER: LazyLock<PathBuf> = LazyLock::new(|| built("sessions"));
const REVISIONS: [&str; 2] = ["2026-07-28", "2025-11-25"];

async fn stdio(key: &str, revision: &str) -> Client {
    let (client, process) = (ClientConfig::default(), process(&COUNTER, key));
    match revision {
        "2026-07-28" => client.serve_with_lifecycle(process, modern()).await,
        _ => client.serve(process).await,
    }
    .unwrap()
}

fn http(key: &str, secret: Option<&str>) -> Http {
    let mut command = Command::new(&*COUNTER);
    served(command.env_remove("SEALWAX_LEDGER"), key, secret)
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

    let (failed, _) = first.call(one, "write", json!({"text": "lost"})).await;
    assert!(failed);
    first.good(one, "begin", json!({})).await;
    first.good(two, "write", json!({"text": "Hello, "})).await;
    first.good(one, "write", json!({"text": "world"})).await;
    assert_eq!(first.good(two, "read", json!({})).await, "Hello, world");
    assert!(second.call(two, "read", json!({})).await.0);
    assert_eq!(first.good(one, "count", json!({})).await, "4");
    assert_eq!(first.good(one, "end", json!({})).await, "Hello, world");
    assert!(first.call(two, "end", json!({})).await.0);

    let bare = json_of(one.call_tool(CallToolRequestParams::new("count")).await);
    assert_eq!(bare.unwrap_err()["message"], "Session required");
}

#[tokio::test]
async fn on_stdio_sessions_go_from_process_to_process() {
    for revision in REVISIONS {
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

#[tokio::test]
async fn on_http_sessions_go_from_replica_to_replica_and_the_log_knows_them() {
    let (key, secret) = (key(), "a secret of thirty-two characters");
    let (here, there) = (http(&key, Some(secret)), http(&key, Some(secret)));
    for revision in REVISIONS {
        let connected = async |to: &Http, name: &str, seconds| {
            let token = jwt(secret, name, seconds);
            match revision {
                "2026-07-28" => client(&to.uri, &token).await,
                _ => legacy(&to.uri, &token).await,
            }
        };
        let alice = connected(&here, "alice", 60).await;
        let refreshed = connected(&there, "alice", 600).await;
        tour(&alice, &refreshed).await;
        let session = create(&alice).await;
        let mallory = connected(&here, "mallory", 60).await;
        let refused = call_in(&mallory, "count", json!({}), &session).await;
        assert_eq!(refused.unwrap_err()["code"], -32043);
    }

    // Nobody has to sign in here.
    let replica = http(&key, None);
    let anybody = client(&replica.uri, "any").await;
    let mut session = Conversation(create(&anybody).await);
    session.good(&anybody, "count", json!({})).await;
    session.good(&anybody, "count", json!({})).await;
    let said = replica.said.lock().unwrap();
    // Beside these, the guard warns that nobody reads the client's token.
    let counted = said.iter().filter(|line| line.starts_with("count "));
    let lines: Vec<_> = counted.take(2).collect();
    let ulid = lines[0].split(' ').nth(1).unwrap();
    assert_eq!(ulid.len(), "session=".len() + 32);
    assert_eq!(lines[0], format!("count {ulid} generation=0"));
    assert_eq!(lines[1], format!("count {ulid} generation=1"));
}
