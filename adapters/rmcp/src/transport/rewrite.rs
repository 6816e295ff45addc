//! Changes JSON-RPC messages in the body of an HTTP answer: one JSON text, or a stream of events, which stays a
//! stream.

use bytes::Bytes;
use http::Response;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body::Body;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use sealwax_mcp::Reply;
use serde_json::Value;

use super::Leaving;
use super::events::{changed, events};

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Boxed = UnsyncBoxBody<Bytes, BoxError>;

pub(crate) fn boxed<R>(body: R) -> Boxed
where
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    body.map_err(Into::into).boxed_unsync()
}

/// Returns the answer with its changes, and the header to send with it. An error is the reply in place of the answer; `None` if
/// the answer broke off.
pub(crate) async fn rewritten(
    answer: Response<Boxed>,
    mut leaving: Leaving,
) -> Result<(Response<Boxed>, Option<String>), Option<Reply>> {
    let (mut parts, body) = answer.into_parts();
    let kind = parts.headers.get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_stream = match kind.split(';').next() {
        Some("text/event-stream") => true,
        Some("application/json") => false,
        _ => return Ok((Response::from_parts(parts, body), None)),
    };
    parts.headers.remove(CONTENT_LENGTH);
    if is_stream && !leaving.is_reported() {
        let mut held = Vec::new();
        let body = body.map_frame(move |frame| {
            frame.map_data(|data| {
                held.extend_from_slice(&data);
                events(&mut held, &mut |message| drop(leaving.change(message))).into()
            })
        });
        return Ok((Response::from_parts(parts, body.boxed_unsync()), None));
    }
    let body = body.collect().await.map_err(|_| None)?;
    let mut body = Vec::from(body.to_bytes());
    let mut left = Ok(None);
    let change = &mut |message: &mut Value| {
        if let changed @ (Ok(Some(_)) | Err(_)) = leaving.change(message) {
            left = changed;
        }
    };
    body = match is_stream {
        true => [events(&mut body, change), body].concat(),
        false => changed(&body, change).unwrap_or(body),
    };
    let header = left.map_err(Some)?;
    Ok((Response::from_parts(parts, boxed(Full::from(body))), header))
}
