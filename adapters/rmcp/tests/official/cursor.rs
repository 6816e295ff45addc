//! Cursors that rmcp types, and those that it does not.

use sealwax_mcp::Profile;
use serde_json::json;

use crate::clients::{client, internal, raw, refusal};
use crate::server::*;

#[tokio::test]
async fn the_typed_methods_of_the_client_page_through() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    assert!(alice.list_all_resources().await.unwrap().is_empty());
    assert!(alice.list_all_tools().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_cursor_that_is_no_text_never_reaches_a_handler() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let refused = raw(&alice, "notes/list", json!({"cursor": 2})).await;
    assert_eq!(refused, Err(refusal(Profile::Cursor)));
    assert_eq!(server.refusals.code(), "malformed");
    // In its own lists rmcp drops it before the guard sees it, so the client gets the first page.
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
