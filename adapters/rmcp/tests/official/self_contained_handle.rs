//! Handles that hold their state.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sealwax::{Codec, Environment, Error, Key, KeyRing, System};
use sealwax_mcp::Profile;
use sealwax_rmcp::{Guard, from_claims};
use serde_json::json;

use crate::clients::{Client, client, legacy, refusal, tool};
use crate::server::*;
use crate::serving::{Refusals, serve};

async fn hold(client: &Client) -> String {
    let held = tool(client, "hold", json!({"bytes": 1})).await;
    held["structuredContent"]["handle"].as_str().unwrap().into()
}

#[tokio::test]
async fn a_handle_holds_its_state_in_either_revision() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let before = legacy(&server.uri, "alice").await;
    let first = hold(&alice).await;
    let second = tool(&before, "add", json!({ "handle": first })).await;
    let second = &second["structuredContent"];
    assert_eq!(second["items"], json!(["x", "more"]));
    assert_eq!(second["expiresAt"].as_str().unwrap().len(), 20);
    let third = tool(&alice, "add", json!({"handle": second["handle"]})).await;
    assert_eq!(
        third["structuredContent"]["items"],
        json!(["x", "more", "more"])
    );
    // The first still opens with its value.
    let again = tool(&alice, "add", json!({ "handle": first })).await;
    assert_eq!(again["structuredContent"]["items"], json!(["x", "more"]));
    assert!(server.refusals.take().is_empty());
}

/// A clock that advances by seconds at each reading, as on a busy machine.
struct Late(AtomicU64);

impl Environment for Late {
    fn now_ms(&self) -> u64 {
        self.0.fetch_add(2000, Ordering::SeqCst)
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        System.fill(bytes)
    }
}

#[tokio::test]
async fn a_handle_is_sealed_though_it_ends_at_once() {
    let ring = KeyRing::new([Key::generate().unwrap()]).unwrap();
    let builder = Codec::builder(ring, "https://mcp.example.com");
    let late = Late(AtomicU64::new(1_700_000_000_000));
    let codec = builder.build_in(late).unwrap();
    let guard = Guard::builder(codec, from_claims).build().unwrap();
    let held = guard
        .self_contained_handles("cart")
        .ttl(Duration::from_secs(1));
    let handles = guard.reference_handles("basket");
    let uri = serve(guard.protect(Server { handles, held })).await;
    let alice = client(&uri, "alice").await;
    let made = tool(&alice, "hold", json!({"bytes": 1})).await;
    let made = &made["structuredContent"];
    assert_eq!(made["expiresAt"], "2023-11-14T22:13:21Z", "{made}");
}

/// A clock that the test moves.
struct Moved(Arc<AtomicU64>);

impl Environment for Moved {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        System.fill(bytes)
    }
}

#[tokio::test]
async fn a_chain_of_handles_has_a_maximum_age() {
    let clock = Arc::new(AtomicU64::new(1_700_000_000_000));
    let ring = KeyRing::new([Key::generate().unwrap()]).unwrap();
    let builder = Codec::builder(ring, "https://mcp.example.com");
    let codec = builder.build_in(Moved(Arc::clone(&clock))).unwrap();
    let refusals = Refusals::default();
    let guard = Guard::builder(codec, from_claims).on_refused(refusals.hook());
    let guard = guard.build().unwrap();
    let held = guard
        .self_contained_handles("cart")
        .max_age(Duration::from_secs(60));
    let handles = guard.reference_handles("basket");
    let uri = serve(guard.protect(Server { handles, held })).await;
    let alice = client(&uri, "alice").await;
    let first = hold(&alice).await;
    clock.fetch_add(59_000, Ordering::SeqCst);
    let second = tool(&alice, "add", json!({ "handle": first })).await;
    let second = second["structuredContent"]["handle"].clone();
    assert!(second.is_string());
    clock.fetch_add(1000, Ordering::SeqCst);
    let refused = tool(&alice, "add", json!({ "handle": second })).await;
    assert_eq!(refused, refusal(Profile::Handle));
    assert_eq!(refusals.code(), "expired");
}
