//! What carries messages, without input or output: HTTP requests and their answers, and the lines of stdio. Each message is read
//! once, by its bytes; what is not changed keeps them.

mod changes;
mod events;
mod http;
mod lines;
mod message;
mod spans;

pub(crate) use self::http::Http;
pub use self::http::{AnswerHead, Body, HttpRequest};
pub use self::lines::Connection;
pub(crate) use self::lines::{IN_USE, Line};
pub(crate) use self::message::Came;
pub(crate) use self::spans::{Member, Unread, string, whole};
#[cfg(test)]
mod tests;

use crate::reply::step::{Reply, Step};

/// What carries a message. It is behind a pointer, so that the flows of messages that nothing carries stay small.
pub(crate) trait Carrier: Send + Sync {
    /// Returns the bytes that belong to a step: for the SDK, or for the client.
    fn text(&mut self, step: &Step) -> Option<String>;

    /// Returns the request, if it is one of HTTP.
    fn http(&mut self) -> Option<&mut Http> {
        None
    }

    /// Returns the line, if it is one of stdio.
    fn line(&mut self) -> Option<&mut Line> {
        None
    }
}

/// Stands for what carried a message that has been answered.
pub(crate) struct Nothing;

impl Carrier for Nothing {
    fn text(&mut self, _: &Step) -> Option<String> {
        None
    }
}

/// Why a message is not read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mistake {
    Unread(Unread),
    /// Its body is larger than the adapter's limit.
    TooLarge,
    /// Its body has a content encoding.
    Encoded,
}

impl From<Unread> for Mistake {
    fn from(unread: Unread) -> Self {
        Self::Unread(unread)
    }
}

/// Returns the message of a reply, if it has one.
fn message(reply: &Reply, id: Option<&str>) -> Option<String> {
    let id = id.unwrap_or("null");
    let (name, value) = match &reply.error {
        Some(error) => ("error", serde_json::to_string(error).ok()?),
        None if reply.done => ("result", "{}".to_owned()),
        None => return None,
    };
    Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"{name}":{value}}}"#))
}
