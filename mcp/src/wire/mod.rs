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
pub(crate) use self::lines::Line;
pub(crate) use self::message::Came;
pub(crate) use self::spans::{Member, Unread, string, whole};
#[cfg(test)]
mod tests;

use crate::step::{Reply, Step};

/// What carries a message.
pub(crate) enum Carrier {
    Http(Http),
    Line(Line),
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

impl Carrier {
    /// Returns the bytes that belong to a step: for the SDK, or for the client.
    pub fn text(&mut self, step: &Step) -> Option<String> {
        match self {
            Self::Http(http) => http.text(step),
            Self::Line(line) => line.text(step),
        }
    }

    /// Returns what replays a session to an SDK that has begun none, if that is needed.
    pub fn replay(&self, negotiated: Option<&str>, random: [u8; 16]) -> Option<String> {
        match self {
            Self::Http(_) => None,
            Self::Line(line) => line.replay(negotiated?, random),
        }
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
