//! One HTTP request: its session is verified before the inner service sees it, or begins with the answer to
//! `initialize`.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use sealwax_mcp::{Deliver, Event, Reply, Step};
use serde_json::Value;

use super::Transport;
use super::message::{HEADER, VERSION, replied, request_id};
use super::negotiated::{Negotiated, SessionToken};
use super::rewrite::{Boxed, boxed, rewritten};

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
        // What cannot be read here, rmcp cannot read either.
        let read = match parts.method {
            Method::POST => serde_json::from_slice(&body).ok(),
            _ => Some(Value::Null),
        };
        let unreadable = read.is_none();
        let mut message = read.unwrap_or_default();
        let arrived = self.arrive(&mut message, Some(&parts), unreadable).await;
        let (mut passing, mut step) = match arrived {
            Ok(arrived) => arrived,
            Err(reply) => return Ok(response(&reply, &message)),
        };
        if let Step::Deliver(deliver) = &step
            && let Err(failed) = resume(&mut parts, deliver)
        {
            step = passing.on(Event::NotResumed(failed));
        }
        let deliver = match step {
            Step::Deliver(deliver) => deliver,
            Step::Reply(reply) => return Ok(response(&reply, &message)),
            _ => return Ok(bare(StatusCode::ACCEPTED)),
        };
        if passing.session_id.is_some() {
            body = message.to_string().into();
            parts.headers.remove(CONTENT_LENGTH);
        }
        parts.extensions.insert(passing.known(&deliver));
        let leaving = passing.leaving(*deliver, &message);
        let answer = inner(Request::from_parts(parts, Full::new(body))).await?;
        if leaving.is_nothing() {
            return Ok(answer);
        }
        Ok(match rewritten(answer, leaving).await {
            Ok((answer, None)) => answer,
            Ok((mut answer, Some(header))) => {
                if let Ok(header) = HeaderValue::try_from(header) {
                    answer.headers_mut().insert(HEADER, header);
                }
                answer
            }
            Err(Some(reply)) => response(&reply, &message),
            Err(None) => bare(StatusCode::BAD_GATEWAY),
        })
    }
}

/// Passes on what was negotiated: to handlers in the request's extensions, to rmcp in the version header.
fn resume(parts: &mut Parts, deliver: &Deliver) -> Result<(), String> {
    if let Some(negotiated) = &deliver.negotiated {
        let negotiated: Negotiated = serde_json::from_str(negotiated)
            .map_err(|_| "negotiated: expected the members of rmcp's types")?;
        parts.extensions.insert(negotiated);
        parts.extensions.insert(SessionToken(deliver.id.clone()));
    }
    if let Some(version) = &deliver.version {
        // Without the header, rmcp assumes the oldest version.
        let version = HeaderValue::from_str(version)
            .map_err(|_| "version: expected the value of a header")?;
        parts.headers.insert(VERSION, version);
    }
    Ok(())
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
