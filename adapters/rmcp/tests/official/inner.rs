//! The layer around an inner service other than rmcp's, or around one that fails.

use std::convert::Infallible;
use std::future::{Ready, poll_fn, ready};
use std::io;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody, to_bytes};
use axum::http::{HeaderMap, Request, Response, StatusCode};
use axum::{BoxError, Router};
use bytes::Bytes;
use futures::stream;
use http_body_util::Full;
use sealwax::Principal;
use sealwax_rmcp::{Guard, SessionLayer};
use serde_json::{Value, json};
use tower_layer::Layer as _;
use tower_service::Service;

use crate::layer_fleet::hello;
use crate::serving::fresh;

/// Of a guard without data-layer sessions.
fn layer() -> SessionLayer {
    let guard = Guard::builder(fresh(), |_: &_| Principal::subject("alice"));
    guard.build().unwrap().layer().sep1359()
}

async fn text(body: impl HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static) -> String {
    let body = to_bytes(Body::new(body), usize::MAX).await.unwrap();
    String::from_utf8(body.into()).unwrap()
}

fn initialize() -> Request<Body> {
    Request::post("/mcp")
        .body(hello().to_string().into())
        .unwrap()
}

/// Returns what leaves where the inner service gives this answer to `initialize`.
async fn left(answer: impl Fn() -> Response<Body> + Clone + Send + Sync + 'static) -> Left {
    let app = Router::new().fallback(move || ready(answer()));
    let left = layer().layer(app).call(initialize()).await.unwrap();
    let (parts, body) = left.into_parts();
    Left {
        status: parts.status,
        headers: parts.headers,
        body: text(body).await,
    }
}

struct Left {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

fn begun() -> Value {
    let result = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "serverInfo": {"name": "s", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "result": result})
}

#[tokio::test]
async fn an_answer_that_breaks_off_begins_no_session() {
    let left = left(|| {
        let pieces = [Ok(Bytes::from("{")), Err(io::ErrorKind::ConnectionReset)];
        let body = Body::from_stream(stream::iter(pieces.map(|it| it.map_err(io::Error::from))));
        let answer = Response::builder().header("content-type", "application/json");
        answer.body(body).unwrap()
    });
    let left = left.await;
    let error = json!({"code": -32603, "message": "Internal error"});
    let expected = json!({"jsonrpc": "2.0", "id": 1, "error": error});
    let body: Value = serde_json::from_str(&left.body).unwrap();
    assert_eq!((left.status.as_u16(), body), (500, expected));
    assert!(!left.headers.contains_key("mcp-session-id"));
}

#[tokio::test]
async fn a_type_with_a_parameter_is_the_same_type_and_the_length_is_that_of_what_leaves() {
    let json = begun().to_string();
    for (kind, body) in [
        ("application/json; charset=utf-8", json.clone()),
        (
            "text/event-stream;charset=utf-8",
            format!("data: {json}\n\n"),
        ),
    ] {
        let left = left(move || {
            let answer = Response::builder().header("content-type", kind);
            let answer = answer.header("content-length", body.len());
            answer.body(body.clone().into()).unwrap()
        });
        let left = left.await;
        let token = left.headers["mcp-session-id"].to_str().unwrap();
        assert!(left.body.contains(token), "{}", left.body);
        let length = left.headers.get("content-length");
        let length = length.map(|length| length.to_str().unwrap().to_owned());
        assert!(length.is_none_or(|length| length == left.body.len().to_string()));
    }
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
