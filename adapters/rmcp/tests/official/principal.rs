//! The principal of a request: claims, functions of the author, and anonymous.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::middleware::from_fn;
use rmcp::RoleServer;
use rmcp::model::{ClientNotification, CustomNotification};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use sealwax::Principal;
use sealwax_mcp::Profile;
use sealwax_rmcp::{Guard, Sessions, anonymous, from_claims};
use serde_json::{Value, json};

use crate::clients::{SESSION, call, client, create, internal, json_of, legacy, raw, state, tool};
use crate::layer_fleet::listen;
use crate::pipe::Server;
use crate::server::{start, start_as, start_with};
use crate::serving::{Refusals, authenticate, fresh, until};

/// Returns the answer to a caller who is not known.
pub fn unauthenticated() -> Value {
    json!({"code": -32602, "message": "Authentication required"})
}

#[tokio::test]
async fn without_a_principal_a_request_is_refused_never_anonymous() {
    let server = start(|guard| guard).await;
    let nobody = client(&server.uri, "nobody").await;
    let called = json_of(nobody.call_tool(call("mint", json!({}))).await);
    assert_eq!(called, Err(unauthenticated()));
    let told = server.refusals.take();
    assert_eq!((told.len(), told[0].code), (1, "unauthenticated"));
    assert!(told[0].principal.is_none());
    let asked = (told[0].method.as_deref(), told[0].target.as_deref());
    assert_eq!(asked, (Some("tools/call"), Some("mint")));

    // A list needs it only for a cursor.
    assert!(raw(&nobody, "empty/list", json!({})).await.is_ok());
    assert!(server.refusals.take().is_empty());
    assert_eq!(
        json_of(nobody.list_tools(None).await),
        Err(unauthenticated())
    );
    assert_eq!(server.refusals.code(), "unauthenticated");
    let came = raw(&nobody, "empty/list", json!({"cursor": "x"})).await;
    assert_eq!(came, Err(unauthenticated()));
    assert_eq!(server.refusals.code(), "unauthenticated");
}

#[tokio::test]
async fn a_function_that_finds_none_fails_or_panics_refuses() {
    fn none(_: &RequestContext<RoleServer>) -> Option<Principal> {
        None
    }
    fn error(_: &RequestContext<RoleServer>) -> Result<Principal, io::Error> {
        Err(io::Error::other("the directory is down"))
    }
    fn panics(_: &RequestContext<RoleServer>) -> Principal {
        panic!("no principal")
    }
    fn empty(_: &RequestContext<RoleServer>) -> Principal {
        Principal::subject("")
    }
    fn no_user(_: &RequestContext<RoleServer>) -> Result<Option<Principal>, io::Error> {
        Ok(None)
    }
    let fault = || (internal(Profile::RequestState), "invalid_argument");
    for (builder, (answer, code)) in [
        (
            Guard::builder(fresh(), none),
            (unauthenticated(), "unauthenticated"),
        ),
        (
            Guard::builder(fresh(), no_user),
            (unauthenticated(), "unauthenticated"),
        ),
        (Guard::builder(fresh(), error), fault()),
        (Guard::builder(fresh(), panics), fault()),
        (Guard::builder(fresh(), empty), fault()),
    ] {
        let server = start_as(builder, |guard| guard).await;
        let alice = client(&server.uri, "alice").await;
        let called = json_of(alice.call_tool(call("delete", json!({}))).await);
        assert_eq!(called, Err(answer));
        assert_eq!(server.refusals.code(), code);
    }
}

/// The text may contain the rejected credential.
#[tokio::test]
async fn what_the_authors_function_says_goes_neither_to_the_hook_nor_to_the_log() {
    fn text(_: &RequestContext<RoleServer>) -> Result<Principal, String> {
        Err("no user of Bearer hunter2".into())
    }
    fn error(_: &RequestContext<RoleServer>) -> Result<Principal, io::Error> {
        Err(io::Error::other("no user of Bearer hunter2"))
    }
    fn ours(_: &RequestContext<RoleServer>) -> Result<Principal, sealwax::Error> {
        let credential = "hunter2";
        let why = format!("no user of Bearer {credential}");
        Err(sealwax::Error::InvalidArgument(why.into()))
    }
    for builder in [
        Guard::builder(fresh(), text),
        Guard::builder(fresh(), error),
        Guard::builder(fresh(), ours),
    ] {
        let server = start_as(builder, |guard| guard).await;
        let alice = client(&server.uri, "alice").await;
        let called = json_of(alice.call_tool(call("delete", json!({}))).await);
        assert_eq!(called, Err(internal(Profile::RequestState)));
        let told = server.refusals.take();
        assert_eq!((told.len(), told[0].code), (1, "invalid_argument"));
        assert!(!format!("{told:?}").contains("hunter2"), "{told:?}");
        assert!(told[0].message.starts_with("principal: "), "{told:?}");
    }
}

#[tokio::test]
async fn the_principal_is_asked_for_once_a_request_and_where_it_is_needed() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let principal = move |_: &RequestContext<RoleServer>| {
        count.fetch_add(1, Ordering::SeqCst);
        Principal::subject("alice")
    };
    let server = start_as(Guard::builder(fresh(), principal), |guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let since = || asked.swap(0, Ordering::SeqCst);
    since();
    let held = tool(&alice, "hold", json!({"bytes": 1})).await;
    assert_eq!(since(), 1, "at the boundary, and for a handle");
    tool(
        &alice,
        "add",
        json!({"handle": held["structuredContent"]["handle"]}),
    )
    .await;
    assert_eq!(since(), 1, "at the boundary, to open and to seal");
    raw(&alice, "empty/list", json!({})).await.unwrap();
    assert_eq!(since(), 0, "a list without cursors");
    let page = alice.list_tools(None).await.unwrap();
    assert_eq!(since(), 1, "a cursor leaves");
    raw(&alice, "tools/list", json!({"cursor": page.next_cursor}))
        .await
        .unwrap();
    assert_eq!(since(), 1, "a cursor comes");
}

#[tokio::test]
async fn anonymous_by_name_serves_whoever_comes() {
    let server = start_as(Guard::builder(fresh(), anonymous), |guard| guard).await;
    let sealed = state(
        &client(&server.uri, "nobody").await,
        call("count", json!({})),
    )
    .await;
    let another = client(&server.uri, "alice").await;
    state(
        &another,
        call("count", json!({})).with_request_state(sealed),
    )
    .await;
    assert!(server.refusals.take().is_empty());
}

/// The rule is the same in every language: the same token gives the same principal.
#[tokio::test]
async fn claims_give_the_principal_of_the_core() {
    let codec = fresh();
    let server = start_with(codec.clone(), |guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let cursor = alice.list_tools(None).await.unwrap().next_cursor.unwrap();
    let who = Principal::from_claims(&sealwax::JwtClaims {
        iss: Some("https://idp.example.com"),
        sub: Some("alice"),
        azp: Some("cli"),
        ..sealwax::JwtClaims::default()
    });
    let opened = codec
        .view(&who.unwrap())
        .unwrap()
        .cursor("tools/list")
        .open(&cursor)
        .unwrap();
    assert_eq!(opened.payload(), b"page 2");
}

/// Of an HTTP server with sessions of its own, which passes notifications on.
#[tokio::test]
async fn a_notification_has_the_principal_of_its_http_request() {
    let (refusals, server) = (Refusals::default(), Server::default());
    let guard = Guard::builder(fresh(), from_claims).on_refused(refusals.hook());
    let sessions = Sessions::new(|_, _| async { Ok(0) });
    let protected = guard.sessions(sessions).build().unwrap();
    let protected = protected.protect(server.clone());
    let mcp = StreamableHttpService::new(
        move || Ok(protected.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let app = Router::new().route_service("/mcp", mcp);
    let alice = legacy(&listen(app.layer(from_fn(authenticate))).await, "alice").await;
    let session = create(&alice).await;
    let params = json!({"progressToken": 1, "progress": 1, "_meta": {SESSION: session}});
    let progress = CustomNotification::new("notifications/progress", Some(params));
    let progress = ClientNotification::CustomNotification(progress);
    alice.send_notification(progress).await.unwrap();
    let served = || server.progress.load(Ordering::SeqCst) == 1;
    until(|| served() || !refusals.is_empty()).await;
    assert!(refusals.take().is_empty());
}
