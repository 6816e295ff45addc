//! The principal of a request: claims, functions of the author, and anonymous.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::middleware::from_fn;
use rmcp::RoleServer;
use rmcp::model::{ClientNotification, CustomNotification};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use sealwax::Principal;
use sealwax_mcp::Profile;
use sealwax_rmcp::{Guard, Sessions, from_claims};
use serde_json::json;

use crate::clients::{SESSION, call, client, create, internal, json_of, legacy};
use crate::layer_fleet::listen;
use crate::pipe::Server;
use crate::server::{start_as, start_with};
use crate::serving::{Refusals, authenticate, fresh, until};

/// What a function says of its failure may contain the rejected credential.
#[tokio::test]
async fn a_function_that_finds_none_fails_or_panics_refuses() {
    fn none(_: &RequestContext<RoleServer>) -> Option<Principal> {
        None
    }
    fn no_user(_: &RequestContext<RoleServer>) -> Result<Option<Principal>, io::Error> {
        Ok(None)
    }
    fn panics(_: &RequestContext<RoleServer>) -> Principal {
        panic!("no user of Bearer hunter2")
    }
    fn empty(_: &RequestContext<RoleServer>) -> Principal {
        Principal::subject("")
    }
    fn text(_: &RequestContext<RoleServer>) -> Result<Principal, String> {
        Err("no user of Bearer hunter2".into())
    }
    fn error(_: &RequestContext<RoleServer>) -> Result<Principal, io::Error> {
        Err(io::Error::other("no user of Bearer hunter2"))
    }
    fn ours(_: &RequestContext<RoleServer>) -> Result<Principal, sealwax::Error> {
        let why = format!("no user of Bearer {}", "hunter2");
        Err(sealwax::Error::InvalidArgument(why.into()))
    }
    let unknown = json!({"code": -32602, "message": "Authentication required"});
    let (unknown, failed) = (
        (&unknown, "unauthenticated"),
        (&internal(Profile::RequestState), "invalid_argument"),
    );
    for (builder, (answer, code)) in [
        (Guard::builder(fresh(), from_claims), unknown),
        (Guard::builder(fresh(), none), unknown),
        (Guard::builder(fresh(), no_user), unknown),
        (Guard::builder(fresh(), panics), failed),
        (Guard::builder(fresh(), empty), failed),
        (Guard::builder(fresh(), text), failed),
        (Guard::builder(fresh(), error), failed),
        (Guard::builder(fresh(), ours), failed),
    ] {
        let server = start_as(builder, |guard| guard).await;
        let nobody = client(&server.uri, "nobody").await;
        let called = json_of(nobody.call_tool(call("count", json!({}))).await);
        assert_eq!(called.as_ref(), Err(answer));
        let told = server.refusals.take();
        assert_eq!((told.len(), told[0].code), (1, code));
        assert!(told[0].principal.is_none());
        assert!(!format!("{told:?}").contains("hunter2"), "{told:?}");
        let (says, _) = told[0].message.split_once(": ").unwrap_or_default();
        assert!(
            code == "unauthenticated" || ["principal", "subject"].contains(&says),
            "{told:?}"
        );
    }
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
