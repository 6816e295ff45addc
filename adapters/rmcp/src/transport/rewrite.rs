//! Changes JSON-RPC messages in the body of an HTTP answer: one JSON text, or a stream of events, which stays a
//! stream.

use bytes::Bytes;
use futures::{Stream, stream};
use http::Response;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body::{Body, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use serde_json::Value;

use crate::accept::BoxError;

pub(crate) type Boxed = UnsyncBoxBody<Bytes, BoxError>;

pub(crate) fn boxed<R>(body: R) -> Boxed
where
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    body.map_err(Into::into).boxed_unsync()
}

/// Returns the answer, in which `change` changes every message.
pub(crate) fn rewrite(
    response: Response<Boxed>,
    change: impl FnMut(&mut Value) + Send + 'static,
) -> Response<Boxed> {
    let (mut parts, body) = response.into_parts();
    let kind = parts.headers.get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let end: Option<&'static [u8]> = match kind.split(';').next() {
        Some("text/event-stream") => Some(b"\n\n"),
        Some("application/json") => None,
        _ => return Response::from_parts(parts, body),
    };
    parts.headers.remove(CONTENT_LENGTH);
    let pieces = pieces(body, end, change);
    Response::from_parts(parts, StreamBody::new(pieces).boxed_unsync())
}

/// Returns events one by one as they arrive; without an `end`, the whole body.
fn pieces<F>(
    body: Boxed,
    end: Option<&'static [u8]>,
    change: F,
) -> impl Stream<Item = Result<Frame<Bytes>, BoxError>> + Send
where
    F: FnMut(&mut Value) + Send + 'static,
{
    let begin = (body, Vec::new(), change);
    stream::unfold(begin, move |(mut body, mut held, mut change)| async move {
        loop {
            if let Some(end) = end
                && let Some(at) = held.windows(end.len()).position(|piece| piece == end)
            {
                let rest = held.split_off(at + end.len());
                let event = changed_event(held, &mut change);
                return Some((Ok(Frame::data(event.into())), (body, rest, change)));
            }
            match body.frame().await {
                Some(Ok(frame)) => held.extend(frame.into_data().unwrap_or_default()),
                Some(Err(error)) => return Some((Err(error), (body, held, change))),
                None if held.is_empty() => return None,
                None => {
                    let last = match end {
                        Some(_) => changed_event(held, &mut change),
                        None => changed(&held, &mut change).unwrap_or(held),
                    };
                    return Some((Ok(Frame::data(last.into())), (body, Vec::new(), change)));
                }
            }
        }
    })
}

fn changed(json: &[u8], change: &mut impl FnMut(&mut Value)) -> Option<Vec<u8>> {
    let mut message = serde_json::from_slice(json).ok()?;
    change(&mut message);
    serde_json::to_vec(&message).ok()
}

/// Changes the data of an event. It leaves as one line of data.
fn changed_event(event: Vec<u8>, change: &mut impl FnMut(&mut Value)) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&event) else {
        return event;
    };
    let data = |line: &str| {
        let data = line.strip_prefix("data:")?;
        Some(data.strip_prefix(' ').unwrap_or(data).to_owned())
    };
    let json: Vec<_> = text.lines().filter_map(data).collect();
    let Some(json) = changed(json.join("\n").as_bytes(), change) else {
        return event;
    };
    let mut out = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.is_empty() && data(line).is_none())
    {
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(&json);
    out.extend_from_slice(b"\n\n");
    out
}
