//! Handles whose state the server holds.

use sealwax_mcp::Profile;
use serde_json::{Value, json};

use crate::clients::{Client, client, legacy, refusal, tool};
use crate::server::start;

async fn mint(client: &Client) -> Value {
    tool(client, "mint", json!({})).await["structuredContent"].clone()
}

fn handle(minted: &Value) -> &str {
    minted["handle"].as_str().unwrap()
}

#[tokio::test]
async fn a_handle_is_the_key_of_its_row_in_either_revision() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let before = legacy(&server.uri, "alice").await;
    let (one, two) = (mint(&alice).await, mint(&alice).await);
    assert_ne!(one["ulid"], two["ulid"]);
    for minted in [&one, &two] {
        assert!(handle(minted).starts_with("basket_"));
        let (ulid, end) = (
            minted["ulid"].as_str().unwrap(),
            minted["expiresAt"].as_str().unwrap(),
        );
        assert_eq!((ulid.len(), end.len(), &end[19..]), (32, 20, "Z"));
        for agent in [&alice, &before] {
            let checked = tool(agent, "check", json!({"handle": handle(minted)})).await;
            let checked = &checked["structuredContent"];
            assert_eq!(
                (&checked["ulid"], &checked["expiresAt"]),
                (&minted["ulid"], &minted["expiresAt"])
            );
        }
    }
    assert!(server.refusals.take().is_empty());
}

/// Results before 2026-07-28 have no `resultType`; the rest is the same.
#[tokio::test]
async fn an_older_client_reads_the_same_text() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let mallory = legacy(&server.uri, "mallory").await;
    let mut expected = refusal(Profile::Handle);
    expected.as_object_mut().unwrap().remove("resultType");
    for (make, check) in [("mint", "check"), ("hold", "add")] {
        let made = tool(&alice, make, json!({"bytes": 1})).await;
        let stolen = json!({"handle": made["structuredContent"]["handle"]});
        assert_eq!(tool(&mallory, check, stolen).await, expected);
        assert!(["unauthentic", "principal_mismatch"].contains(&server.refusals.code()));
    }
}

#[tokio::test]
async fn no_handle_is_an_error_of_the_schema() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let absent = tool(&alice, "check", json!({})).await;
    let why = absent["content"][0]["text"].as_str().unwrap();
    assert!(why.contains("missing field `handle`"), "{why}");
    assert_eq!(absent["isError"], true);
    assert!(server.refusals.take().is_empty());
}
