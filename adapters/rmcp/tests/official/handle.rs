//! Handles whose state the server holds.

use std::time::Duration;

use sealwax::{Key, Profile};
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{Guard, Kind, from_claims};
use serde_json::{Value, json};

use crate::clients::*;
use crate::server::*;

pub async fn tool(client: &Client, tool: &'static str, args: Value) -> Value {
    json_of(client.call_tool(call(tool, args)).await).unwrap()
}

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

#[tokio::test]
async fn the_model_reads_one_text_whatever_the_reason() {
    let [old, new] = [Key::generate().unwrap(), Key::generate().unwrap()];
    let before = start_with(codec(&[&old]), |guard| guard).await;
    let server = start_with(codec(&[&new]), |guard| guard.ledger(Memory::default())).await;
    let alice = client(&server.uri, "alice").await;
    let mallory = client(&server.uri, "mallory").await;
    let good = mint(&alice).await;
    let retired = mint(&client(&before.uri, "alice").await).await;
    let held = tool(&alice, "hold", json!({"bytes": 1})).await["structuredContent"].clone();
    let ended = mint(&alice).await;
    let over = tool(&alice, "end", json!({"handle": handle(&ended)})).await;
    assert_eq!(over["content"][0]["text"], "ended");
    for (who, sent, code) in [
        (&mallory, handle(&good).to_owned(), "unauthentic"),
        (&alice, altered(handle(&good)), "unauthentic"),
        (&alice, handle(&retired).to_owned(), "unauthentic"),
        (
            &alice,
            handle(&good).replace("basket", "cart"),
            "wrong_purpose",
        ),
        (&alice, handle(&held).to_owned(), "malformed"),
        (&alice, "basket_".repeat(500), "too_large"),
        (&alice, "the blue one".into(), "malformed"),
        (&alice, String::new(), "malformed"),
        (&alice, handle(&ended).to_owned(), "ended"),
    ] {
        let refused = tool(who, "check", json!({"handle": sent})).await;
        assert_eq!(refused, refusal(Profile::Handle), "{code}");
        let told = server.refusals.take();
        assert_eq!(
            (told.len(), told[0].code, told[0].kind),
            (1, code, Kind::Handle),
            "{sent}"
        );
        // Of a text that is a token of another kind, its id; and of a handle that was verified.
        let has_id = sent == handle(&held) || code == "ended";
        assert!(told[0].principal.is_some() && told[0].token_id.is_some() == has_id);
    }
    // The other may be used again and again.
    for _ in 0..2 {
        let checked = tool(&alice, "check", json!({"handle": handle(&good)})).await;
        assert_eq!(checked["structuredContent"]["ulid"], good["ulid"]);
    }
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
async fn a_handle_ends_with_its_age() {
    let codec = codec(&[&Key::generate().unwrap()]);
    let refusals = Refusals::default();
    let guard = Guard::builder(codec, from_claims)
        .on_refused(refusals.hook())
        .build()
        .unwrap();
    let handles = guard.handles("basket").max_age(Duration::from_secs(2));
    let held = guard.held_handles("cart").ttl(Duration::from_secs(2));
    let uri = serve(guard.protect(Server { handles, held })).await;
    let alice = client(&uri, "alice").await;
    let minted = mint(&alice).await;
    let held = tool(&alice, "hold", json!({"bytes": 1})).await["structuredContent"].clone();
    tokio::time::sleep(Duration::from_millis(2100)).await;
    for (check, sent) in [("check", minted), ("add", held)] {
        let late = tool(&alice, check, json!({"handle": handle(&sent)})).await;
        assert_eq!(late, refusal(Profile::Handle));
        assert_eq!(refusals.code(), "expired");
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
