//! Plays the cases of `tests/vectors/wire.json` over HTTP: what comes in, byte by byte, and what goes out.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, Response};
use futures::stream;
use sealwax::Principal;
use sealwax_rmcp::Guard;
use serde_json::{Value, json};
use tower_layer::Layer as _;
use tower_service::Service as _;

use crate::serving::{Refusals, fresh};

const NEGOTIATED: &str = r#"{"clientCapabilities":{},"clientInfo":{"name":"c","version":"1"},"protocolVersion":"2025-11-25","serverCapabilities":{}}"#;
const LIMIT: usize = 1 << 16;

/// The texts that stand for others in a case.
struct Known(Vec<(&'static str, String)>);

impl Known {
    fn bytes(&self, text: &Value) -> Vec<u8> {
        if let Some(hex) = text["hex"].as_str() {
            let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            return (0..hex.len()).step_by(2).map(byte).collect();
        }
        if text["large"] == true {
            return vec![b' '; LIMIT + 1];
        }
        let mut text = text.as_str().unwrap_or_default().to_owned();
        for (name, known) in &self.0 {
            text = text.replace(name, known);
        }
        text.into()
    }

    fn text(&self, text: &Value) -> String {
        String::from_utf8(self.bytes(text)).unwrap()
    }
}

/// Answers as a case says, in pieces, and keeps the body that came.
fn inner(answer: &Value, body: Vec<u8>, seen: &Arc<Mutex<Option<Vec<u8>>>>) -> Router {
    let status = answer["status"].as_u64().unwrap_or(200);
    let mut made = Response::builder().status(u16::try_from(status).unwrap());
    for (name, member) in [("content-type", "type"), ("mcp-session-id", "session")] {
        if let Some(value) = answer[member].as_str() {
            made = made.header(name, value);
        }
    }
    let pieces = body.chunks(5).map(Bytes::copy_from_slice);
    let pieces: Vec<_> = pieces.map(Ok::<_, Infallible>).collect();
    let made = made.header("content-length", body.len());
    let made = made.body(Body::from_stream(stream::iter(pieces))).unwrap();
    let (made, seen) = (Mutex::new(Some(made)), Arc::clone(seen));
    let serve = Arc::new(move |body: Bytes| {
        *seen.lock().unwrap() = Some(body.into());
        made.lock().unwrap().take().unwrap()
    });
    Router::new().fallback(async move |body: Bytes| serve(body))
}

async fn play(case: &Value) {
    let codec = fresh();
    let view = codec.view(&Principal::subject("alice")).unwrap();
    let sealed = || {
        let sealed = view.session().seal(NEGOTIATED.as_bytes());
        sealed.unwrap().into_string()
    };
    let (one, two) = (sealed(), sealed());
    let bad = format!("{}AA", &one[..one.len() - 2]);
    let mut known = Known(vec![("{t}", one), ("{u}", two), ("{bad}", bad)]);
    let refusals = Refusals::default();
    let guard = Guard::builder(codec, |_: &_| Principal::subject("alice"));
    let guard = guard.on_refused(refusals.hook()).build().unwrap();
    let mut layer = guard.layer().max_body_size(LIMIT);
    if case["settings"]["transport"]["sep1359"] == true {
        layer = layer.sep1359().ttl(Duration::from_secs(600));
    }
    let http = &case["http"];
    let body = known.bytes(&http["body"]);
    let mut request = Request::builder().method(http["method"].as_str().unwrap());
    for (name, member) in [
        ("mcp-protocol-version", "version"),
        ("mcp-session-id", "session"),
        ("content-encoding", "encoding"),
    ] {
        let times = match &http[member] {
            Value::Null => 0,
            Value::Object(_) => 2,
            _ => 1,
        };
        for _ in 0..times {
            request = request.header(name, known.text(&http[member]));
        }
    }
    let seen = Arc::default();
    let app = inner(&case["answer"], known.bytes(&case["answer"]["body"]), &seen);
    let request = request.body(Body::from(body.clone())).unwrap();
    let (parts, left) = layer.layer(app).call(request).await.unwrap().into_parts();
    let left = to_bytes(Body::new(left), usize::MAX).await.unwrap();
    let left = String::from_utf8(left.into()).unwrap();

    let name = &case["name"];
    let delivered = case
        .get("delivers")
        .map(|delivers| delivers.get("body").map_or(body, |body| known.bytes(body)));
    assert_eq!(*seen.lock().unwrap(), delivered, "{name}");
    let codes: Vec<_> = refusals.take().iter().map(|refusal| refusal.code).collect();
    let logged: Vec<_> = case.get("logged").into_iter().collect();
    assert_eq!(json!(codes), json!(logged), "{name}");
    let length = parts.headers.get("content-length");
    let length = length.map(|length| length.to_str().unwrap().parse());
    assert!(length.is_none_or(|length| length == Ok(left.len())));
    if let Some(replies) = case.get("replies").or_else(|| case.get("instead")) {
        let allow = parts.headers.get("allow").map(|it| it.to_str().unwrap());
        let found = (Some(parts.status.as_u16().into()), allow, left);
        let expected = (
            replies["status"].as_u64(),
            replies["allow"].as_str(),
            known.text(&replies["body"]),
        );
        assert_eq!(found, expected, "{name}");
        return;
    }
    let session = parts.headers.get("mcp-session-id");
    assert_eq!(session.is_some(), case.get("header").is_some(), "{name}");
    if let Some(session) = session {
        known.0.push(("{new}", session.to_str().unwrap().into()));
    }
    assert_eq!(left, known.text(&case["leaves"]), "{name}");
}

#[tokio::test]
async fn what_comes_in_over_http_goes_out_as_specified() {
    let cases = include_str!("../../../../tests/vectors/wire.json");
    let cases: Value = serde_json::from_str(cases).unwrap();
    let mut played = 0;
    for case in cases["cases"].as_array().unwrap() {
        // A service of tower's that fails has its own answer.
        if case.get("http").is_some() && case.get("broke").is_none() {
            play(case).await;
            played += 1;
        }
    }
    assert!(played > 80, "{played}");
}
