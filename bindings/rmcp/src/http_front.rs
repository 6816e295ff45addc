//! One HTTP request: its session is checked before the service inside sees it, or begins with the
//! answer to `initialize`.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use sealwax::mcp::{Event, Failed, Head, Reply, Step, Transport, Watch};
use serde_json::Value;

use crate::caller::Identified;
use crate::front::{Front, Passing};
use crate::message::{
    HEADER, VERSION, echo, header, is_modern, is_notification, leave, put_echo, replied,
    request_id, stamp, take_session,
};
use crate::negotiated::Negotiated;
use crate::params::sent;
use crate::rewrite::{Boxed, boxed, rewrite};

impl Front {
    pub(crate) async fn serve<F, E>(
        &self,
        mut parts: Parts,
        mut body: Bytes,
        inner: impl FnOnce(Request<Full<Bytes>>) -> F,
    ) -> Result<Response<Boxed>, E>
    where
        F: Future<Output = Result<Response<Boxed>, E>>,
    {
        let has_message = parts.method == Method::POST;
        if !has_message && parts.method != Method::GET && parts.method != Method::DELETE {
            return inner(Request::from_parts(parts, Full::new(body))).await;
        }
        let mut message = Value::Null;
        if has_message {
            message = serde_json::from_slice(&body).unwrap_or_default();
        }
        let modern = is_modern(Some(&parts.headers), &message);
        let mut inside = None;
        if self.settings.sep1359 && !modern {
            inside = take_session(&mut message);
        }
        if inside.is_some() {
            // rmcp's types do not know the member, so it never gets there.
            body = message.to_string().into();
            parts.headers.remove(CONTENT_LENGTH);
        }
        let (mut passing, mut step) = match self.enter(&parts, &message, modern, &inside).await {
            Ok(entered) => entered,
            Err(reply) => return Ok(response(&reply, &message)),
        };
        if let Step::Deliver(deliver) = &step
            && let Err(failed) = go_on(
                &mut parts,
                deliver.negotiated.as_deref(),
                deliver.version.as_deref(),
            )
        {
            step = passing.on(Event::Begun(Err(failed)));
        }
        let deliver = match step {
            Step::Deliver(deliver) => deliver,
            Step::Reply(reply) => return Ok(response(&reply, &message)),
            _ => return Ok(bare(StatusCode::ACCEPTED)),
        };
        if let Some(principal) = passing.principal() {
            let identified = Identified(self.guard.clone(), principal.clone());
            parts.extensions.insert(identified);
        }
        let echo = echo(&message).filter(|_| self.guard.sessions_slot().get().is_some());
        let response = inner(Request::from_parts(parts, Full::new(body))).await?;
        if deliver.watch != Watch::Never {
            return Ok(left(passing, &message, response).await);
        }
        if echo.is_none() && deliver.stamp.is_none() {
            return Ok(response);
        }
        Ok(rewrite(response, move |message| {
            if let Some(session_id) = &echo {
                put_echo(message, session_id);
            }
            if let Some(token) = &deliver.stamp {
                stamp(message, token);
            }
        }))
    }

    async fn enter(
        &self,
        parts: &Parts,
        message: &Value,
        modern: bool,
        inside: &Option<Value>,
    ) -> Result<(Passing, Step), Reply> {
        let method = message["method"].as_str();
        let version = parts
            .headers
            .get(VERSION)
            .map(|it| it.to_str().unwrap_or_default());
        let initialize = (method == Some("initialize")).then(|| message["params"].to_string());
        let transport = Transport {
            http: Some(parts.method.as_str()),
            method,
            notification: is_notification(message),
            modern,
            version,
            header: header(parts),
            inside: sent(inside.as_ref()),
            initialize: initialize.as_deref(),
            principal: None,
        };
        self.begin(Some(parts), transport).await
    }
}

/// Has the service inside go on with what was negotiated.
fn go_on(parts: &mut Parts, negotiated: Option<&str>, version: Option<&str>) -> Result<(), Failed> {
    if let Some(negotiated) = negotiated {
        let negotiated: Negotiated = serde_json::from_str(negotiated)
            .map_err(|_| Failed("negotiated: expected what rmcp has types for".into()))?;
        parts.extensions.insert(negotiated);
    }
    if let Some(version) = version {
        // rmcp would take it for the oldest.
        let version = HeaderValue::from_str(version)
            .map_err(|_| Failed("version: expected what a header can hold".into()))?;
        parts.headers.insert(VERSION, version);
    }
    Ok(())
}

/// The answer to what the engine watches, which is short, so it is read to its end.
async fn left(mut passing: Passing, request: &Value, response: Response<Boxed>) -> Response<Boxed> {
    let (told, mut tell) = futures::channel::mpsc::unbounded::<Value>();
    let response = rewrite(response, move |message| {
        // The other end is read below.
        let _ = told.unbounded_send(message["result"].clone());
    });
    let (mut head, body) = response.into_parts();
    let Ok(body) = body.collect().await else {
        return bare(StatusCode::BAD_GATEWAY);
    };
    let mut results = std::iter::from_fn(|| tell.try_recv().ok());
    let result = results.find(Value::is_object);
    let body = boxed(Full::new(body.to_bytes()));
    let Some(result) = result.map(|result| result.to_string()) else {
        return Response::from_parts(head, body);
    };
    let changes = match passing.on(Event::Left(Head {
        initialized: Some(&result),
        ..Head::default()
    })) {
        Step::Leave(changes) => changes,
        Step::Reply(reply) => return self::response(&reply, request),
        _ => return bare(StatusCode::INTERNAL_SERVER_ERROR),
    };
    let header = changes.header.as_deref().map(HeaderValue::from_str);
    if let Some(Ok(header)) = header {
        head.headers.insert(HEADER, header);
    }
    let response = Response::from_parts(head, body);
    rewrite(response, move |message| leave(message, &changes))
}

/// An answer of the engine's.
fn response(reply: &Reply, request: &Value) -> Response<Boxed> {
    let status = reply.status.map(StatusCode::from_u16);
    let mut response = bare(match status {
        Some(Ok(status)) => status,
        Some(Err(_)) => StatusCode::INTERNAL_SERVER_ERROR,
        None => StatusCode::OK,
    });
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
