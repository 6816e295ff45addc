//! Tokens of rmcp's own codec, which clients have when the guard takes its place.

use std::time::{Duration, SystemTime};

use rmcp::model::*;
use sealwax_mcp::Profile;
use sealwax_rmcp::ledger::{LedgerSettings, Memory};
use sealwax_rmcp::{GuardBuilder, Transitional, opener_of};
use serde_json::{Value, json};

use crate::clients::{Client, call, client, json_of, refusal, state};
use crate::server::*;

const KEY: &[u8] = b"a key of the server that there was before";

fn before() -> RequestStateCodec {
    RequestStateCodec::try_new(KEY).unwrap()
}

/// What its handler bound a state to.
fn bound(request: &Transitional<'_>) -> Vec<u8> {
    let Transitional {
        method,
        target,
        arguments,
        ..
    } = request;
    format!("{method} {target:?} {arguments:?}").into_bytes()
}

/// What a client has from before, for the deletion of note 8.
fn held(codec: &RequestStateCodec, options: SealOptions<'_>) -> String {
    let bound = br#"tools/call Some("delete") Some("{\"id\":8}")"#;
    codec.seal_with(br#"{"asked":8}"#, &options.associated_data(bound))
}

fn in_an_hour() -> SystemTime {
    SystemTime::now() + Duration::from_secs(3600)
}

async fn retry(client: &Client, id: u64, token: &str) -> Result<Value, Value> {
    let params = call("delete", json!({ "id": id })).with_request_state(token);
    json_of(client.call_tool(params).await)
}

fn transitional(guard: GuardBuilder) -> GuardBuilder {
    guard.transition(in_an_hour(), opener_of(before(), bound))
}

#[tokio::test]
async fn what_rmcp_sealed_is_accepted_until_the_date_and_ours_is_made() {
    let server = start(transitional).await;
    let alice = client(&server.uri, "alice").await;
    let token = held(&before(), SealOptions::new());
    let told = retry(&alice, 8, &token).await.unwrap();
    assert_eq!(told["content"][0]["text"], "deleted 8, asked for 8");
    let ours = state(&alice, call("delete", json!({"id": 8}))).await;
    assert!(ours.starts_with("sw1."));
    assert!(server.refusals.take().is_empty());

    let other = RequestStateCodec::try_new(b"another key, and as long as it has to be").unwrap();
    let late = SealOptions::new().ttl(Duration::ZERO);
    for (id, token) in [
        (9, token.clone()),
        (8, format!("{token}A")),
        (8, "none".into()),
        (8, held(&other, SealOptions::new())),
        (8, held(&before(), late)),
    ] {
        let told = retry(&alice, id, &token).await;
        assert_eq!(told, Err(refusal(Profile::RequestState)), "{token}");
        assert_eq!(server.refusals.code(), "malformed");
    }

    let over = start(|guard| guard.transition(SystemTime::now(), opener_of(before(), bound))).await;
    let alice = client(&over.uri, "alice").await;
    let told = retry(&alice, 8, &token).await;
    assert_eq!(told, Err(refusal(Profile::RequestState)));
}

#[tokio::test]
async fn what_it_fails_at_is_an_error_of_the_server() {
    let fails = |_: &Transitional<'_>| Err("no store".into());
    let panics = |_: &Transitional<'_>| panic!("expected by the test");
    let servers = [
        start(move |guard| guard.transition(in_an_hour(), fails)).await,
        start(move |guard| guard.transition(in_an_hour(), panics)).await,
    ];
    for server in servers {
        let alice = client(&server.uri, "alice").await;
        let told = retry(&alice, 8, "of before").await.unwrap_err();
        assert_eq!(told["code"], -32603);
        assert_eq!(server.refusals.code(), "accept_unavailable");
    }
}

#[tokio::test]
async fn with_a_ledger_it_counts_once() {
    let settings = LedgerSettings {
        accept_issued_since: Some(1),
        ..LedgerSettings::default()
    };
    let server = start(|guard| transitional(guard).ledger_with(Memory::default(), settings)).await;
    let alice = client(&server.uri, "alice").await;
    let token = held(&before(), SealOptions::new());
    assert!(retry(&alice, 8, &token).await.is_ok());
    let told = retry(&alice, 8, &token).await;
    assert_eq!(told, Err(refusal(Profile::RequestState)));
    assert_eq!(server.refusals.code(), "used");
}
