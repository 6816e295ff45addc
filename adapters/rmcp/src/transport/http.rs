//! One HTTP request: the engine reads it before the inner service sees it, and the answer as it leaves.

use bytes::Bytes;
use futures::stream::unfold;
use http::header::{
    ALLOW, AsHeaderName, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue,
};
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use rmcp::model::ServerJsonRpcMessage;
use sealwax::Error;
use sealwax_mcp::{
    self, AnswerHead, Body as Came, ClientValue, Deliver, Event, Failed, HttpRequest, Reply,
    Report, Step,
};

use super::Passing;
use super::echo::Echo;
use super::negotiated::Negotiated;
use crate::guard::Guard;

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Boxed = UnsyncBoxBody<Bytes, BoxError>;

/// The HTTP headers.
const HEADER: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// Serves a request, whose `body` is `None` if it is too large.
pub(crate) async fn serve<F, E>(
    guard: &Guard,
    engine: &Result<sealwax_mcp::Guard, Error>,
    mut parts: Parts,
    body: Option<Bytes>,
    inner: impl FnOnce(Request<Full<Bytes>>) -> F,
) -> Result<Response<Boxed>, E>
where
    F: Future<Output = Result<Response<Boxed>, E>>,
{
    let engine = match engine {
        Ok(engine) => engine,
        Err(error) => {
            let message = ServerJsonRpcMessage::error(guard.unset(error), None);
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            return Ok(response(status, serde_json::to_string(&message).ok()));
        }
    };
    let begin = || {
        let encoding = header(&parts.headers, CONTENT_ENCODING);
        engine.http(HttpRequest {
            method: parts.method.as_str(),
            version: header(&parts.headers, VERSION),
            session: session(&parts),
            encoding: (encoding != ClientValue::Absent)
                .then(|| encoding.text().unwrap_or_default()),
            body: Some(body.as_deref().map_or(Came::TooLarge, Came::Whole)),
            principal: None,
        })
    };
    let (mut passing, step) = Passing::begin(guard, Some(&parts), begin).await;
    let Step::Deliver(deliver) = step else {
        return Ok(passing.replied(step));
    };
    let resumed = resume(&mut parts, &deliver);
    let body = match (passing.exchange.text(), body, resumed) {
        (Some(text), _, Ok(())) => {
            parts.headers.remove(CONTENT_LENGTH);
            text.into()
        }
        (None, Some(body), Ok(())) => body,
        (_, _, resumed) => {
            let why = resumed.err().unwrap_or("body: expected one");
            let event = Event::Replayed(Err(Failed::Wrong(why.into())));
            let step = passing.on(event).await;
            return Ok(passing.replied(step));
        }
    };
    parts.extensions.insert(passing.known(&deliver));
    let echo = guard.0.options.sessions.is_some().then(|| {
        let message = serde_json::from_slice(&body).ok()?;
        Echo::of(&message)
    });
    let answer = inner(Request::from_parts(parts, Full::new(body))).await?;
    let answer = match echo.flatten() {
        Some(echo) => echoed(answer, echo),
        None => answer,
    };
    Ok(passing.leave(&deliver, answer).await)
}

/// Passes on what was negotiated: to handlers in the request's extensions, to rmcp in the version header.
fn resume(parts: &mut Parts, deliver: &Deliver) -> Result<(), &'static str> {
    if let Some(negotiated) = &deliver.negotiated {
        let negotiated: Negotiated = serde_json::from_str(negotiated)
            .map_err(|_| "negotiated: expected the members of rmcp's types")?;
        parts.extensions.insert(negotiated);
    }
    if let Some(version) = &deliver.version {
        // Without the header, rmcp assumes the oldest version.
        let version = HeaderValue::from_str(version)
            .map_err(|_| "version: expected the value of a header")?;
        parts.headers.insert(VERSION, version);
    }
    Ok(())
}

impl Passing {
    /// Returns the answer as the engine lets it leave.
    async fn leave(mut self, deliver: &Deliver, mut answer: Response<Boxed>) -> Response<Boxed> {
        let is_held = deliver.report != Report::Never;
        let headers = answer.headers();
        let head = AnswerHead {
            status: answer.status().as_u16(),
            content_type: header(headers, CONTENT_TYPE).text(),
            session: header(headers, HEADER).text(),
        };
        let changes = is_held || deliver.add_session_id.is_some();
        if !changes || !self.exchange.answer(&head).unwrap_or_default() {
            return answer;
        }
        answer.headers_mut().remove(CONTENT_LENGTH);
        if !is_held {
            return answer.map(|body| self.changed(body));
        }
        let (mut parts, body) = answer.into_parts();
        let step = match body.collect().await {
            Ok(body) => {
                // What is held back has nothing to send.
                let _ = self.exchange.piece(&body.to_bytes());
                self.answered().await
            }
            Err(_) => {
                let why = "handler: expected a response, found one that broke off";
                self.on(Event::Broke(why.into())).await
            }
        };
        let Step::Respond(respond) = step else {
            return self.replied(step);
        };
        if let Some(Ok(session)) = respond.header.map(HeaderValue::try_from) {
            parts.headers.insert(HEADER, session);
        }
        let body = self.exchange.text().unwrap_or_default();
        Response::from_parts(parts, boxed(Full::from(body)))
    }

    /// Returns a body that leaves piece by piece.
    fn changed(self, body: Boxed) -> Boxed {
        let frames = unfold(Some((self, body)), |state| async {
            let (mut passing, mut body) = state?;
            while let Some(frame) = body.frame().await {
                let frame = match frame.map(Frame::into_data) {
                    Ok(Ok(data)) => match passing.exchange.piece(&data) {
                        Ok(Some(text)) => Ok(Frame::data(text.into())),
                        _ => continue,
                    },
                    Ok(Err(trailers)) => Ok(trailers),
                    Err(error) => Err(error),
                };
                return Some((frame, Some((passing, body))));
            }
            passing.answered().await;
            let rest = passing.exchange.text()?;
            Some((Ok(Frame::data(rest.into())), None))
        });
        StreamBody::new(frames).boxed_unsync()
    }

    /// Returns what is sent in place of an answer.
    fn replied(mut self, step: Step) -> Response<Boxed> {
        let reply = match step {
            Step::Reply(reply) => reply,
            _ => Reply::default(),
        };
        let status = reply.status.map(StatusCode::from_u16);
        let status = status.and_then(Result::ok).unwrap_or_default();
        let mut response = response(status, self.exchange.text());
        if let Some(allow) = reply.allow {
            let allow = HeaderValue::from_static(allow);
            response.headers_mut().insert(ALLOW, allow);
        }
        response
    }
}

fn response(status: StatusCode, json: Option<String>) -> Response<Boxed> {
    let mut response = Response::new(boxed(Full::default()));
    *response.status_mut() = status;
    if let Some(json) = json {
        let kind = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        *response.body_mut() = boxed(Full::from(json));
    }
    response
}

/// Puts a session into an answer of rmcp's, each of whose events is one frame.
fn echoed(mut answer: Response<Boxed>, echo: Echo) -> Response<Boxed> {
    answer.headers_mut().remove(CONTENT_LENGTH);
    answer.map(|body| {
        let put = move |data: Bytes| {
            let text = str::from_utf8(&data).ok();
            text.and_then(|text| echo.put(text))
                .map_or(data, Into::into)
        };
        body.map_frame(move |frame| frame.map_data(&put))
            .boxed_unsync()
    })
}

/// Returns the `Mcp-Session-Id` of a request.
pub(crate) fn session(parts: &Parts) -> ClientValue<'_> {
    header(&parts.headers, HEADER)
}

/// Returns the only value of a header.
fn header(headers: &HeaderMap, name: impl AsHeaderName) -> ClientValue<'_> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => ClientValue::Absent,
        (Some(value), None) => value.to_str().map_or(ClientValue::Other, ClientValue::Text),
        _ => ClientValue::Other,
    }
}

pub(crate) fn boxed<R>(body: R) -> Boxed
where
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    body.map_err(Into::into).boxed_unsync()
}
