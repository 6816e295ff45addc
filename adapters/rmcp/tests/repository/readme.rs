//! The server of README.md, in a process on stdio, and examples/http.rs; the test of docs/testing.md.

use rmcp::ClientServiceExt as _;
use rmcp::model::{CallToolRequestParams, ClientConfig};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

use crate::clients::{json_of, modern, state};
use crate::programs::{built, jwt, key, served};

#[tokio::test]
async fn the_server_of_the_readme_takes_three_rounds() {
    let example = include_str!("../../examples/rounds.rs");
    let (_, server) = example.split_once("\n\n").unwrap();
    let shown = format!("```rust,no_run\n{server}```\n");
    assert!(include_str!("../../README.md").contains(&shown));

    let mut command = tokio::process::Command::new(built("rounds"));
    command.env("SEALWAX_KEYS", key());
    let process = TokioChildProcess::new(command).unwrap();
    let client = ClientConfig::default();
    let client = client.serve_with_lifecycle(process, modern()).await;
    let client = client.unwrap();
    let count = || CallToolRequestParams::new("count");
    let first = state(&client, count()).await;
    let second = state(&client, count().with_request_state(first)).await;
    assert!(second.starts_with("sw1."), "{second}");
    let last = count().with_request_state(second);
    for request in [last, count()] {
        let done = json_of(client.call_tool(request).await).unwrap();
        assert_eq!(done["content"][0]["text"], "done");
    }
}

#[tokio::test]
async fn the_server_of_the_first_steps_takes_tokens_for_itself_only() {
    let mut command = std::process::Command::new(built("http"));
    let server = served(&mut command, &key(), Some("secret"));
    let status = async |audience: Value| {
        let request = reqwest::Client::new().post(&server.uri).body("{}");
        let token = jwt(&audience, "secret", "alice", 600);
        let request = request.header("authorization", format!("Bearer {token}"));
        request.send().await.unwrap().status()
    };
    assert_ne!(status(json!("https://notes.example.com")).await, 401);
    assert_eq!(status(json!("https://other.example.com")).await, 401);
    assert_eq!(status(Value::Null).await, 401);
}

#[test]
fn the_test_of_the_documentation_is_a_test() {
    let tests = include_str!("../official/testing.rs");
    let begins = tests.find("#[tokio::test]").unwrap();
    let ends = begins + tests[begins..].find("\n}\n").unwrap() + 3;
    let shown = format!("```rust,ignore\n{}```\n", &tests[begins..ends]);
    assert!(include_str!("../../../../docs/testing.md").contains(&shown));
}
