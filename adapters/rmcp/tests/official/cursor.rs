//! Cursors of every list method, in both revisions.

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax::Key;
use sealwax_mcp::Profile;
use sealwax_rmcp::{Guard, Sessions, from_claims};
use serde_json::{Value, json};

use crate::clients::{Client, SESSION, client, create, internal, legacy, raw, refusal};
use crate::principal::unauthenticated;
use crate::server::*;
use crate::serving::{Refusals, codec, serve};

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

/// Lists of two pages: of resources, in the session of the request if it has one, and of notes. A
/// cache may serve `public` ones to any user.
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
        .sessions(Sessions::new(|_, _| async { Ok(0) }))
        .build()
        .unwrap();
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
    // The first page needs no principal, and a cursor that comes back does.
    let nobody = client(&open.uri, "nobody").await;
    let public = cursor(&nobody, "resources/list").await;
    assert!(list(&alice, "resources/list", Some(&public)).await.is_ok());
    let refused = list(&nobody, "resources/list", Some(&public)).await;
    assert_eq!(refused, Err(unauthenticated()));
    assert_eq!(open.refusals.code(), "unauthenticated");

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

/// Session metadata makes the page private, whatever its `cacheScope` was.
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
