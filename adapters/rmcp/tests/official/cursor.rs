//! Cursors of every list method, in both revisions.

use std::time::Duration;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax::{Key, Principal, Profile};
use sealwax_rmcp::{Guard, Kind, from_claims};
use serde_json::{Value, json};

use crate::clients::*;
use crate::server::*;
use crate::session::{SESSION, create};

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

#[tokio::test]
async fn null_is_absent() {
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    for method in LISTS {
        let first = raw(&alice, method, json!({"cursor": null})).await.unwrap();
        assert!(first["nextCursor"].is_string(), "{method}: {first}");
    }
    assert!(server.refusals.take().is_empty());
}

/// Lists of two pages: of resources, in the session of the request if it has one, and of notes. Any
/// cache may hand `public` ones to any user.
#[derive(Clone)]
struct Pages(Option<CacheScope>);

impl ServerHandler for Pages {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_resources().build())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        if cursor.as_deref().is_some_and(|it| it != "page 2") {
            return Err(ErrorData::invalid_request(
                "a cursor of somebody else",
                None,
            ));
        }
        let mut page = ListResourcesResult::with_all_items(vec![]);
        page.next_cursor = cursor.is_none().then(|| "page 2".into());
        page.cache_scope = self.0;
        Ok(page)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let mut page = json!({"resultType": "complete", "cacheScope": self.0});
        if request
            .params
            .is_none_or(|params| params["cursor"].is_null())
        {
            page["nextCursor"] = json!("page 2");
        }
        Ok(CustomResult::new(page))
    }
}

async fn pages(scope: Option<CacheScope>) -> Running {
    let refusals = Refusals::default();
    let guard = Guard::builder(codec(&[&Key::generate().unwrap()]), from_claims)
        .on_refused(refusals.hook())
        .build()
        .unwrap();
    guard.sessions(|_, _| async { Ok(0) }).build().unwrap();
    let uri = serve(guard.protect(Pages(scope))).await;
    Running { uri, refusals }
}

#[tokio::test]
async fn a_cursor_belongs_to_whom_its_page_belongs() {
    let open = pages(Some(CacheScope::Public)).await;
    let [alice, mallory] = [
        client(&open.uri, "alice").await,
        client(&open.uri, "mallory").await,
    ];
    for (method, another) in [
        ("resources/list", "notes/list"),
        ("notes/list", "resources/list"),
    ] {
        let public = cursor(&alice, method).await;
        for anybody in [&alice, &mallory] {
            assert!(list(anybody, method, Some(&public)).await.is_ok());
        }
        let refused = list(&alice, another, Some(&public)).await;
        assert_eq!(refused, Err(refusal(Profile::Cursor)));
        assert_eq!(open.refusals.code(), "unauthentic");
    }
    // The first page needs nobody, and what comes back somebody.
    let nobody = client(&open.uri, "nobody").await;
    let public = cursor(&nobody, "resources/list").await;
    assert!(list(&alice, "resources/list", Some(&public)).await.is_ok());
    let refused = list(&nobody, "resources/list", Some(&public)).await;
    assert_eq!(refused, Err(internal(Profile::Cursor)));
    assert_eq!(open.refusals.code(), "invalid_argument");

    for scope in [None, Some(CacheScope::Private)] {
        let closed = pages(scope).await;
        let alice = client(&closed.uri, "alice").await;
        let mallory = client(&closed.uri, "mallory").await;
        for method in ["resources/list", "notes/list"] {
            let own = cursor(&alice, method).await;
            let refused = list(&mallory, method, Some(&own)).await;
            assert_eq!(refused, Err(refusal(Profile::Cursor)));
            assert_eq!(closed.refusals.code(), "principal_mismatch");
            assert!(list(&alice, method, Some(&own)).await.is_ok());
        }
    }
}

/// Its metadata makes the page the user's, whatever its author said.
#[tokio::test]
async fn in_a_session_every_cursor_is_of_the_user() {
    let open = pages(Some(CacheScope::Public)).await;
    let alice = client(&open.uri, "alice").await;
    let mallory = client(&open.uri, "mallory").await;
    let session = create(&alice).await;
    for method in ["resources/list", "notes/list"] {
        let page = raw(&alice, method, json!({"_meta": {SESSION: session}})).await;
        let page = page.unwrap();
        assert_eq!(page["cacheScope"], "private", "{method}");
        let own = page["nextCursor"].as_str().unwrap();
        let refused = list(&mallory, method, Some(own)).await;
        assert_eq!(refused, Err(refusal(Profile::Cursor)));
        assert_eq!(open.refusals.code(), "principal_mismatch");
        assert!(list(&alice, method, Some(own)).await.is_ok());
    }
}
