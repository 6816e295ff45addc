//! Answers over HTTP that no service inside gives.

use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use http_body_util::Full;
use serde_json::Value;

use crate::rewrite::{Boxed, boxed};

/// Boxed, because it is large and rare.
pub(crate) type Answered = Box<Response<Boxed>>;

pub(crate) fn bare(status: StatusCode) -> Response<Boxed> {
    let mut response = Response::new(boxed(Full::default()));
    *response.status_mut() = status;
    response
}

pub(crate) fn json(status: StatusCode, json: &Value) -> Response<Boxed> {
    let mut response = bare(status);
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    *response.body_mut() = boxed(Full::from(json.to_string()));
    response
}

/// To what would end something. What is left is what a stateless service has.
pub(crate) fn method_not_allowed() -> Response<Boxed> {
    let mut response = bare(StatusCode::METHOD_NOT_ALLOWED);
    let allowed = HeaderValue::from_static("POST");
    response.headers_mut().insert(ALLOW, allowed);
    response
}

pub(crate) fn bad_request(why: &'static str) -> Answered {
    let mut response = bare(StatusCode::BAD_REQUEST);
    *response.body_mut() = boxed(Full::from(why));
    Box::new(response)
}
