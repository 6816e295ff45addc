//! `examples/sessions.rs` in a process, on stdio and on HTTP: logical sessions, which outlive the
//! process that began them.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{LazyLock, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use rmcp::model::*;
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientServiceExt as _, ServiceExt as _};
use sealwax_mcp::ledger::Namespace;
use serde_json::{Value, json};

use crate::clients::{Client, SESSION, call_in, client, create, json_of, legacy, modern};
use crate::example::{built, jwt, key};
use crate::valkey::Valkey;

static COUNTER: LazyLock<PathBuf> = LazyLock::new(|| built("sessions"));

async fn stdio(key: &str, revision: &str) -> Client {
    let mut command = tokio::process::Command::new(&*COUNTER);
    command.env("SEALWAX_KEYS", key);
    command.env_remove("PORT").env_remove("SEALWAX_LEDGER");
    let process = TokioChildProcess::new(command).unwrap();
    let client = ClientConfig::default();
    match revision {
        "2026-07-28" => client
            .serve_with_lifecycle(process, modern())
            .await
            .unwrap(),
        _ => client.serve(process).await.unwrap(),
    }
}

pub struct Http {
    child: Child,
    pub uri: String,
    said: Mutex<Receiver<String>>,
}

impl Drop for Http {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn http(key: &str) -> Http {
    http_with(key, None)
}

fn http_with(key: &str, secret: Option<&str>) -> Http {
    served(
        Command::new(&*COUNTER).env_remove("SEALWAX_LEDGER"),
        key,
        secret,
    )
}

/// Starts a server whose ledger began a minute ago.
fn remembering(key: &str, valkey: &Valkey) -> Http {
    let ledger = Namespace::new("https://counter.example.com", "");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let began = now.as_secs() - 60;
    let client = redis::Client::open(valkey.url()).unwrap();
    redis::cmd("MSET")
        .arg(&[ledger.began(), began.to_string()])
        .arg(&[ledger.fence(), format!("{began} - {began}")])
        .exec(&mut client.get_connection().unwrap())
        .unwrap();
    let mut command = Command::new(&*COUNTER);
    served(command.env("SEALWAX_LEDGER", valkey.url()), key, None)
}

pub fn served(command: &mut Command, key: &str, secret: Option<&str>) -> Http {
    let mut child = command
        .env("SEALWAX_KEYS", key)
        .env("PORT", "0")
        .env_remove("NOTES_JWT_SECRET")
        .envs(secret.map(|secret| ("NOTES_JWT_SECRET", secret)))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let (tell, said) = channel();
    std::thread::spawn(move || {
        for line in stderr.lines().map_while(Result::ok) {
            let _ = tell.send(line);
        }
    });
    let first = said.recv().unwrap();
    let uri = first.strip_prefix("listening on ").unwrap().to_owned();
    Http {
        child,
        uri,
        said: Mutex::new(said),
    }
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
        let stranger = stdio(&crate::example::key(), revision).await;
        let refused = call_in(&stranger, "count", json!({}), &left.0).await;
        assert_eq!(refused.unwrap_err()["code"], -32043);
    }
}

#[tokio::test]
async fn on_http_sessions_go_from_replica_to_replica_and_the_log_knows_them() {
    let key = key();
    let (here, there) = (http(&key), http(&key));
    tour(
        &client(&here.uri, "any").await,
        &client(&there.uri, "any").await,
    )
    .await;
    tour(
        &legacy(&here.uri, "any").await,
        &legacy(&there.uri, "any").await,
    )
    .await;

    let replica = http(&key);
    let alice = client(&replica.uri, "any").await;
    let mut session = Conversation(create(&alice).await);
    session.good(&alice, "count", json!({})).await;
    session.good(&alice, "count", json!({})).await;
    let said = replica.said.lock().unwrap();
    // Beside these, the guard warns that nobody reads the client's token.
    let counted = said.iter().filter(|line| line.starts_with("count "));
    let lines: Vec<_> = counted.take(2).collect();
    let ulid = lines[0].split(' ').nth(1).unwrap();
    assert_eq!(ulid.len(), "session=".len() + 32);
    assert_eq!(lines[0], format!("count {ulid} generation=0"));
    assert_eq!(lines[1], format!("count {ulid} generation=1"));
}

#[tokio::test]
async fn on_http_sessions_are_of_the_user_of_the_token() {
    let secret = "a secret of thirty-two characters";
    let (key, user) = (key(), |name: &str, seconds| jwt(secret, name, seconds));
    let (here, there) = (http_with(&key, Some(secret)), http_with(&key, Some(secret)));
    for connect in ["2026-07-28", "2025-11-25"] {
        let as_user = async |uri: &str, token: String| match connect {
            "2026-07-28" => client(uri, &token).await,
            _ => legacy(uri, &token).await,
        };
        let alice = as_user(&here.uri, user("alice", 60)).await;
        let refreshed = as_user(&there.uri, user("alice", 600)).await;
        tour(&alice, &refreshed).await;
        let mut session = Conversation(create(&alice).await);
        session.good(&refreshed, "count", json!({})).await;
        let mallory = as_user(&here.uri, user("mallory", 60)).await;
        let refused = call_in(&mallory, "count", json!({}), &session.0).await;
        assert_eq!(refused.unwrap_err()["code"], -32043);
    }
}

#[tokio::test]
async fn its_log_says_that_the_ledger_does_not_answer() {
    let mut command = Command::new(&*COUNTER);
    // Nobody listens there.
    let server = served(
        command.env("SEALWAX_LEDGER", "redis://127.0.0.1:1"),
        &key(),
        None,
    );
    let client = client(&server.uri, "").await;
    let session = create(&client).await;
    let counted = call_in(&client, "count", json!({}), &session).await;
    assert_eq!(counted.unwrap_err()["code"], -32603);
    let said = server.said.lock().unwrap();
    let mut lines = std::iter::from_fn(|| said.recv().ok());
    assert!(lines.any(|line| line.contains("ledger_unavailable")));
}

#[tokio::test]
async fn over_http_the_transport_has_a_session_of_its_own() {
    let valkey = Valkey::start();
    let server = remembering(&key(), &valkey);
    let request = |body: &str| {
        reqwest::Client::new()
            .post(&server.uri)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(body.to_owned())
            .send()
    };
    let without = request(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(without.await.unwrap().status().as_u16(), 400);
    let begun = request(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
            "capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
    );
    let begun = begun.await.unwrap();
    let session = begun.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(session.starts_with("sw1."));
    let said = begun.text().await.unwrap();
    assert!(said.contains(r#""sessions":{}"#), "{said}");
    let delete = async || {
        let delete = reqwest::Client::new().delete(&server.uri);
        let ended = delete.header("mcp-session-id", &session).send().await;
        ended.unwrap().status().as_u16()
    };
    assert_eq!((delete().await, delete().await), (204, 404));
}
