//! One HTTP request: its session is verified before the inner service sees it, or begins with the answer to
//! `initialize`.

use bytes::Bytes;
use futures::channel::mpsc;
use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use sealwax_mcp::{Deliver, Event, Failed, Reply, Step};
use serde_json::Value;

use crate::message::{HEADER, VERSION, replied, request_id};
use crate::negotiated::Negotiated;
use crate::rewrite::{Boxed, boxed, rewrite};
use crate::transport::{Arrived, Leaving, Transport};

impl Transport {
    pub(crate) async fn serve<F, E>(
        &self,
        mut parts: Parts,
        mut body: Bytes,
        inner: impl FnOnce(Request<Full<Bytes>>) -> F,
    ) -> Result<Response<Boxed>, E>
    where
        F: Future<Output = Result<Response<Boxed>, E>>,
    {
        let mut message = match parts.method {
            Method::POST => serde_json::from_slice(&body).unwrap_or_default(),
            _ => Value::Null,
        };
        let arrived = self.arrive(&mut message, Some(&parts)).await;
        let Arrived {
            mut passing,
            mut step,
            inside,
        } = match arrived {
            Ok(arrived) => arrived,
            Err(reply) => return Ok(response(&reply, &message)),
        };
        if let Step::Deliver(deliver) = &step
            && let Err(failed) = go_on(&mut parts, deliver)
        {
            step = passing.on(Event::NotResumed(failed));
        }
        let deliver = match step {
            Step::Deliver(deliver) => deliver,
            Step::Reply(reply) => return Ok(response(&reply, &message)),
            _ => return Ok(bare(StatusCode::ACCEPTED)),
        };
        if inside.is_some() {
            body = message.to_string().into();
            parts.headers.remove(CONTENT_LENGTH);
        }
        parts.extensions.insert(passing.known());
        let leaving = self.leaving(passing, *deliver, &message);
        let response = inner(Request::from_parts(parts, Full::new(body))).await?;
        Ok(if leaving.is_watching() {
            watched(leaving, response, &message).await
        } else if leaving.is_nothing() {
            response
        } else {
            changed(leaving, response).0
        })
    }
}

/// Passes on what was negotiated: to handlers in the request's extensions, to rmcp in the version header.
fn go_on(parts: &mut Parts, deliver: &Deliver) -> Result<(), Failed> {
    if let Some(negotiated) = &deliver.negotiated {
        let negotiated: Negotiated = serde_json::from_str(negotiated)
            .map_err(|_| Failed("negotiated: expected the members of rmcp's types".into()))?;
        parts.extensions.insert(negotiated);
    }
    if let Some(version) = &deliver.version {
        // Without the header, rmcp assumes the oldest version.
        let version = HeaderValue::from_str(version)
            .map_err(|_| Failed("version: expected the value of a header".into()))?;
        parts.headers.insert(VERSION, version);
    }
    Ok(())
}

type Left = Result<Option<String>, Reply>;

fn changed(
    mut leaving: Leaving,
    response: Response<Boxed>,
) -> (Response<Boxed>, mpsc::UnboundedReceiver<Left>) {
    let (tell, told) = mpsc::unbounded();
    let response = rewrite(response, move |message| {
        // The engine does not watch this answer.
        let _ = tell.unbounded_send(leaving.change(message));
    });
    (response, told)
}

/// Reads the answer that the engine watches to its end; it is short.
async fn watched(leaving: Leaving, response: Response<Boxed>, request: &Value) -> Response<Boxed> {
    let (response, mut told) = changed(leaving, response);
    let (mut head, body) = response.into_parts();
    let Ok(body) = body.collect().await else {
        return bare(StatusCode::BAD_GATEWAY);
    };
    while let Ok(left) = told.try_recv() {
        match left.map(|header| header.map(HeaderValue::try_from)) {
            Ok(Some(Ok(header))) => {
                head.headers.insert(HEADER, header);
            }
            Ok(_) => {}
            Err(reply) => return self::response(&reply, request),
        }
    }
    Response::from_parts(head, boxed(Full::new(body.to_bytes())))
}

/// Makes the HTTP response for an answer of the engine.
fn response(reply: &Reply, request: &Value) -> Response<Boxed> {
    let status = StatusCode::from_u16(reply.status.unwrap_or(200));
    let mut response = bare(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
    if let Some(allow) = reply.allow {
        let allow = HeaderValue::from_static(allow);
        response.headers_mut().insert(ALLOW, allow);
    }
    if let Some(message) = replied(reply, request_id(request)) {
        let kind = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        *response.body_mut() = boxed(Full::from(message.to_string()));
    }
    response
}

pub(crate) fn bare(status: StatusCode) -> Response<Boxed> {
    let mut response = Response::new(boxed(Full::default()));
    *response.status_mut() = status;
    response
}
