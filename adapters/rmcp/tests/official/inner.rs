//! The layer around an inner service other than rmcp's, or around one that fails.

use std::convert::Infallible;
use std::future::{Ready, poll_fn, ready};
use std::io;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response};
use bytes::Bytes;
use futures::stream;
use http_body_util::Full;
use sealwax::Principal;
use sealwax_rmcp::{Guard, SessionLayer};
use serde_json::{Value, json};
use tower_layer::Layer as _;
use tower_service::Service;

use crate::pipe::hello;
use crate::serving::fresh;

/// Of a guard without data-layer sessions.
fn layer() -> SessionLayer {
    let guard = Guard::builder(fresh(), |_: &_| Principal::subject("alice"));
    guard.build().unwrap().layer().sep1359()
}

fn initialize() -> Request<Body> {
    Request::post("/mcp")
        .body(hello().to_string().into())
        .unwrap()
}

#[tokio::test]
async fn an_answer_that_breaks_off_begins_no_session() {
    let app = Router::new().fallback(async || {
        let pieces = [Ok(Bytes::from("{")), Err(io::ErrorKind::ConnectionReset)];
        let body = Body::from_stream(stream::iter(pieces.map(|it| it.map_err(io::Error::from))));
        let answer = Response::builder().header("content-type", "application/json");
        answer.body(body).unwrap()
    });
    let left = layer().layer(app).call(initialize()).await.unwrap();
    let (parts, body) = left.into_parts();
    let body = to_bytes(Body::new(body), usize::MAX).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let error = json!({"code": -32603, "message": "Internal error"});
    let expected = json!({"jsonrpc": "2.0", "id": 1, "error": error});
    assert_eq!((parts.status.as_u16(), body), (500, expected));
    assert!(!parts.headers.contains_key("mcp-session-id"));
}

/// Serves where it was found to be ready, as those do that limit how many are served at once.
struct Limited(bool);

impl Clone for Limited {
    fn clone(&self) -> Self {
        Self(false)
    }
}

impl Service<Request<Full<Bytes>>> for Limited {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0 = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Full<Bytes>>) -> Self::Future {
        assert!(std::mem::take(&mut self.0), "it was not ready");
        ready(Ok(Response::default()))
    }
}

#[tokio::test]
async fn what_was_ready_is_what_serves() {
    async fn twice(mut service: impl Service<Request<Body>, Error = Infallible>) {
        for _ in 0..2 {
            poll_fn(|cx| service.poll_ready(cx)).await.unwrap();
            service.call(initialize()).await.unwrap();
        }
    }
    twice(layer().layer(Limited(false))).await;
}
