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
use sealwax::{Error, Principal};
use sealwax_mcp::Profile;
use sealwax_rmcp::{Guard, Sessions, from_claims};
use serde_json::json;

use crate::clients::{SESSION, call, client, create, json_of, legacy};
use crate::pipe::Server;
use crate::server::{self, internal, start_as};
use crate::serving::{Refusals, authenticate, fresh, listen, until};

/// What a function says of its failure may contain the rejected credential.
#[tokio::test]
async fn a_function_that_finds_none_fails_or_panics_refuses() {
    let unknown = json!({"code": -32602, "message": "Authentication required"});
    let (unknown, failed) = (
        (&unknown, "unauthenticated"),
        (&internal(Profile::RequestState), "invalid_argument"),
    );
    fn panics(why: &str) -> Principal {
        panic!("{why}")
    }
    let why = "no user of Bearer hunter2";
    macro_rules! finds {
        ($found:expr) => {
            Guard::builder(fresh(), move |_: &RequestContext<RoleServer>| $found)
        };
    }
    type Found<E> = Result<Principal, E>;
    for (builder, (answer, code)) in [
        (Guard::builder(fresh(), from_claims), unknown),
        (finds!(None::<Principal>), unknown),
        (finds!(Ok::<_, io::Error>(None::<Principal>)), unknown),
        (finds!(panics(why)), failed),
        (finds!(Principal::subject("")), failed),
        (finds!(Found::Err(why.to_owned())), failed),
        (finds!(Found::Err(io::Error::other(why))), failed),
        (
            finds!(Found::Err(Error::InvalidArgument(why.to_owned().into()))),
            failed,
        ),
    ] {
        let server = start_as(builder).await;
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
    let server = start_as(Guard::builder(codec.clone(), from_claims)).await;
    let alice = client(&server.uri, "alice").await;
    let cursor = alice.list_tools(None).await.unwrap().next_cursor.unwrap();
    let view = codec.view(&server::alice()).unwrap();
    let opened = view.cursor("tools/list").open(&cursor).unwrap();
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
    let served = || server.served.load(Ordering::SeqCst) == 1;
    until(|| served() || !refusals.is_empty()).await;
    assert!(refusals.take().is_empty());
}
