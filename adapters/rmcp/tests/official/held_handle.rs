//! Handles that hold their state.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sealwax::{Codec, Environment, Error, Key, KeyRing, Principal, Profile, System};
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{Guard, Kind, from_claims};
use serde_json::{Value, json};

use crate::accept::{Rule, yes};
use crate::clients::*;
use crate::handle::tool;
use crate::server::*;

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
    // The first still holds what it held: several live at once.
    let again = tool(&alice, "add", json!({ "handle": first })).await;
    assert_eq!(again["structuredContent"]["items"], json!(["x", "more"]));
    assert!(server.refusals.take().is_empty());
}

#[tokio::test]
async fn the_model_reads_one_text_whatever_the_reason() {
    let [old, new] = [Key::generate().unwrap(), Key::generate().unwrap()];
    let before = start_with(codec(&[&old]), |guard| guard).await;
    let server = start_with(codec(&[&new]), |guard| guard.ledger(Memory::default())).await;
    let alice = client(&server.uri, "alice").await;
    let mallory = client(&server.uri, "mallory").await;
    let good = hold(&alice).await;
    let retired = hold(&client(&before.uri, "alice").await).await;
    let minted = tool(&alice, "mint", json!({})).await["structuredContent"]["handle"].clone();
    let cursor = alice.list_tools(None).await.unwrap().next_cursor.unwrap();
    let ended = hold(&alice).await;
    assert_eq!(
        tool(&alice, "release", json!({ "handle": ended })).await["isError"],
        false
    );
    for (who, sent, code) in [
        (&mallory, json!(good), "principal_mismatch"),
        (&alice, json!(altered(&good)), "unauthentic"),
        (&alice, json!(retired), "unknown_key"),
        (
            &alice,
            json!(format!("{good}{}", "A".repeat(6000))),
            "too_large",
        ),
        (&alice, minted, "malformed"),
        (&alice, json!(cursor), "wrong_purpose"),
        (&alice, json!(""), "malformed"),
        (&alice, json!(ended), "ended"),
    ] {
        let refused = tool(who, "add", json!({ "handle": sent })).await;
        assert_eq!(refused, refusal(Profile::Handle), "{code}");
        let told = server.refusals.take();
        assert_eq!(
            (told.len(), told[0].code, told[0].kind),
            (1, code, Kind::HandleState)
        );
    }
}

#[tokio::test]
async fn what_is_too_large_to_seal_is_the_servers_trouble() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let failed: Value = tool(&alice, "hold", json!({"bytes": 5000})).await;
    assert_eq!(failed, internal(Profile::Handle));
    assert_eq!(server.refusals.code(), "too_large");
}

/// A store must not be told that a handle was used which the tool then never sees.
#[tokio::test]
async fn what_a_handle_holds_is_read_before_anybody_is_asked() {
    let rule = Rule::new(yes);
    let codec = codec(&[&Key::generate().unwrap()]);
    let server = start_with(codec.clone(), |guard| guard.accept(rule.clone())).await;
    let alice = client(&server.uri, "alice").await;
    let who = Principal::subject("alice")
        .with_issuer("https://idp.example.com")
        .with_client("cli");
    let view = codec.view(&who).unwrap();
    let other = view.handle_state("cart").seal_json(&7).unwrap();
    let refused = tool(&alice, "add", json!({"handle": other.as_str()})).await;
    assert_eq!(refused, refusal(Profile::Handle));
    assert_eq!(server.refusals.code(), "malformed");
    assert!(rule.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_end_that_nobody_remembers_is_an_error_of_the_authors() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    for (make, end, kind) in [
        ("mint", "end", Kind::Handle),
        ("hold", "release", Kind::HandleState),
    ] {
        let made = tool(&alice, make, json!({"bytes": 1})).await["structuredContent"].clone();
        let failed = tool(&alice, end, json!({"handle": made["handle"]})).await;
        assert_eq!(failed, internal(Profile::Handle));
        let told = server.refusals.take();
        assert_eq!((told.len(), told[0].code), (1, "invalid_argument"));
        assert_eq!(told[0].kind, kind);
        assert!(told[0].message.contains("`accept`"), "{told:?}");
    }
}

/// A clock that is seconds later each time it is asked, as on a machine with much else to do.
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
    let held = guard.held_handles("cart").ttl(Duration::from_secs(1));
    let handles = guard.handles("basket");
    let uri = serve(guard.protect(Server { handles, held })).await;
    let alice = client(&uri, "alice").await;
    let made = tool(&alice, "hold", json!({"bytes": 1})).await;
    let made = &made["structuredContent"];
    assert_eq!(made["expiresAt"], "2023-11-14T22:13:21Z", "{made}");
}
