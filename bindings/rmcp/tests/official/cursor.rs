//! Cursors of every list method, in both revisions.

use std::time::Duration;

use rmcp::model::*;
use sealwax::{Key, Principal, Profile};
use sealwax_rmcp::Kind;
use serde_json::{Value, json};

use crate::clients::*;
use crate::server::*;

const LISTS: [&str; 6] = [
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "skills/list",
    "notes/list",
];

async fn list(client: &Client, method: &str, cursor: Option<&str>) -> Result<Value, Value> {
    let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
    raw(client, method, params).await
}

async fn cursor(client: &Client, method: &str) -> String {
    let page = list(client, method, None).await.unwrap();
    page["nextCursor"].as_str().unwrap().into()
}

#[tokio::test]
async fn every_list_gives_a_sealed_cursor_and_sees_its_own() {
    let server = start(|guard| guard).await;
    for alice in [
        client(&server.uri, "alice").await,
        legacy(&server.uri, "alice").await,
    ] {
        for method in LISTS {
            let sealed = cursor(&alice, method).await;
            assert!(!sealed.contains("page"), "{method}: {sealed}");
            let last = list(&alice, method, Some(&sealed)).await.unwrap();
            let saw = last["_meta"]["saw"].as_str().or(last["saw"].as_str());
            assert_eq!(saw, Some("page 2"), "{method}: {last}");
            assert_eq!(last["nextCursor"], Value::Null, "{method}");
        }
    }
    assert!(server.refusals.take().is_empty());
}

#[tokio::test]
async fn the_typed_methods_of_the_client_page_through() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    assert!(alice.list_all_resources().await.unwrap().is_empty());
    assert!(alice.list_all_tools().await.unwrap().is_empty());
}

#[tokio::test]
async fn the_client_cannot_tell_why_it_was_refused() {
    let [old, new] = [Key::generate().unwrap(), Key::generate().unwrap()];
    let before = start_with(codec(&[&old]), |guard| guard).await;
    let server = start_with(codec(&[&new]), |guard| guard).await;
    for connect in ["2026-07-28", "2025-11-25"] {
        let as_user = async |uri: &str, user: &str| match connect {
            "2026-07-28" => client(uri, user).await,
            _ => legacy(uri, user).await,
        };
        let alice = as_user(&server.uri, "alice").await;
        let mallory = as_user(&server.uri, "mallory").await;
        let retired = cursor(&as_user(&before.uri, "alice").await, "tools/list").await;
        let good = cursor(&alice, "tools/list").await;
        let long = format!("{good}{}", "A".repeat(6000));
        for (who, method, token, code) in [
            (&mallory, "tools/list", good.as_str(), "principal_mismatch"),
            (&alice, "prompts/list", &good, "unauthentic"),
            (&alice, "notes/list", &good, "unauthentic"),
            (&alice, "tools/list", &altered(&good), "unauthentic"),
            (&alice, "tools/list", &retired, "unknown_key"),
            (&alice, "tools/list", &long, "too_large"),
            (&alice, "tools/list", "", "malformed"),
            (&alice, "tools/list", "page 2", "malformed"),
        ] {
            let refused = list(who, method, Some(token)).await;
            assert_eq!(refused, Err(refusal(Profile::Cursor)), "{method}: {code}");
            let told = server.refusals.take();
            assert_eq!(
                (told.len(), told[0].code, told[0].kind),
                (1, code, Kind::Cursor)
            );
        }
        // It may be used again: a list is no deed.
        assert!(list(&alice, "tools/list", Some(&good)).await.is_ok());
    }
}

#[tokio::test]
async fn an_expired_cursor_is_refused_in_the_same_words() {
    let codec = codec(&[&Key::generate().unwrap()]);
    let server = start_with(codec.clone(), |guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    // A day is long to wait: sealed as the guard seals it, for a second.
    let who = Principal::subject("alice")
        .with_issuer("https://idp.example.com")
        .with_client("cli");
    let view = codec.view(&who).unwrap();
    let sealer = view.cursor("tools/list").ttl(Duration::from_secs(1));
    let sealed = sealer.seal(b"page 2").unwrap();
    assert!(
        list(&alice, "tools/list", Some(sealed.as_str()))
            .await
            .is_ok()
    );
    tokio::time::sleep(Duration::from_millis(2100)).await;
    let late = list(&alice, "tools/list", Some(sealed.as_str())).await;
    assert_eq!(late, Err(refusal(Profile::Cursor)));
    assert_eq!(server.refusals.code(), "expired");
}

#[tokio::test]
async fn a_cursor_that_is_no_text_never_reaches_a_handler() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let refused = raw(&alice, "notes/list", json!({"cursor": 2})).await;
    assert_eq!(refused, Err(refusal(Profile::Cursor)));
    assert_eq!(server.refusals.code(), "malformed");
    // For its own lists rmcp drops it before anybody can see it: the first page.
    let first = raw(&alice, "tools/list", json!({"cursor": 2}))
        .await
        .unwrap();
    assert!(
        first["nextCursor"].is_string() && first["_meta"]["saw"].is_null(),
        "{first}"
    );
}

#[tokio::test]
async fn what_is_no_text_does_not_leave_as_a_cursor() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let refused = raw(&alice, "bad/list", json!({})).await;
    assert_eq!(refused, Err(internal(Profile::Cursor)));
    assert_eq!(server.refusals.code(), "invalid_argument");
}

#[tokio::test]
async fn a_typed_list_without_params_is_a_first_page() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let first = alice.list_resources(None).await.unwrap();
    let next = PaginatedRequestParams::default().with_cursor(first.next_cursor);
    let last = alice.list_resources(Some(next)).await.unwrap();
    assert_eq!(last.next_cursor, None);
}
