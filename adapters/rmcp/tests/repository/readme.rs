//! The server of README.md, in a process on stdio.

use rmcp::ClientServiceExt as _;
use rmcp::model::{CallToolRequestParams, ClientConfig};
use rmcp::transport::TokioChildProcess;

use crate::clients::{json_of, modern, state};
use crate::example::{built, key};

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
