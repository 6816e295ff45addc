//! The answers to messages that are refused.

use super::TransportFlow;
use crate::message::context::{About, Context};
use crate::message::input::ClientValue;
use crate::reply::answer::Profile;
use crate::reply::reason::Reason;
use crate::reply::step::{Item, Reply, Step};
use crate::settings::OnLost;
use crate::wire::{Mistake, Unread};
use sealwax::Error;

impl TransportFlow {
    /// Refuses with a message if the client puts the session into its messages, else with a status.
    pub(super) fn refuse(&self, context: &mut Context, reason: Reason) -> Step {
        let about = self.about();
        let answer = context.refuse(reason, about);
        if self.http.is_none() && !self.is_request() {
            return Step::Drop;
        }
        Step::Reply(answer.into())
    }

    /// Returns whether a session that does not open is lost, and a request with it served; the log has a line then.
    pub(super) fn is_served_without(&self, context: &mut Context, error: &Error) -> bool {
        let is_lost = matches!(
            error,
            Error::Expired { .. } | Error::UnknownKey(_) | Error::Unauthentic
        );
        let serves = context.guard.settings().transport.on_lost == OnLost::Serve;
        let is_served = is_lost && serves;
        if is_served {
            let why = "served without its session: onLost is \"serve\"";
            context.refuse(Reason::refused(error.code(), why), self.about());
        }
        is_served
    }

    pub(super) fn is_request(&self) -> bool {
        self.came.method.is_some() && !self.came.is_notification
    }

    fn about(&self) -> About<'_> {
        let message_session_id = self.came.session_id.borrowed();
        let in_message = message_session_id != ClientValue::Absent && self.is_request();
        let token = self.header.borrowed().text().or(message_session_id.text());
        About {
            profile: if in_message {
                Profile::Sep1359
            } else {
                Profile::McpSessionId
            },
            token,
            session_id: message_session_id.text(),
            ..About::new(Item::Session)
        }
    }

    /// Refuses a caller who is not known. The status is not 401, which would have to tell how to
    /// authenticate: only the authentication in front knows.
    pub(super) fn unauthenticated(&self, context: &mut Context) -> Step {
        let answer = context.refuse(Reason::Unauthenticated, About::new(Item::Session));
        if self.http.is_none() && !self.is_request() {
            return Step::Drop;
        }
        self.with_status(400, answer.into())
    }

    /// Returns the step of an answer, which has a status over HTTP.
    pub(super) fn with_status(&self, status: u16, reply: Reply) -> Step {
        Step::Reply(Reply {
            status: self.http.is_some().then_some(status),
            ..reply
        })
    }

    /// Refuses a request that cannot be served for any caller.
    pub(super) fn bad_request(
        &self,
        context: &mut Context,
        expected: &'static str,
        message: &'static str,
    ) -> Step {
        let error = Error::Malformed(expected);
        context.refuse(error.into(), About::new(Item::Session));
        if self.http.is_none() {
            return Step::Drop;
        }
        self.with_status(400, Reply::error(-32600, message))
    }

    /// Refuses a message that cannot be read.
    pub(super) fn mistake(&self, context: &mut Context, mistake: Mistake) -> Step {
        let (status, expected) = match mistake {
            Mistake::Unread(Unread::NoJson) => {
                let error = Error::Malformed("a message that is JSON");
                return self.bad_message(context, error, -32700, "Parse error");
            }
            Mistake::Unread(Unread::Unclear(expected)) => {
                let error = Error::Malformed(expected);
                return self.bad_message(context, error, -32600, "Invalid Request");
            }
            Mistake::TooLarge => (413, "a body within the limit"),
            Mistake::Encoded => (415, "a body without Content-Encoding"),
        };
        let error = Error::Malformed(expected);
        context.refuse(error.into(), About::new(Item::Session));
        Step::Reply(Reply {
            status: Some(status),
            ..Reply::default()
        })
    }

    /// Refuses a session that the SDK does not begin again.
    pub(super) fn not_resumed(&self, context: &mut Context) -> Step {
        let error = Error::Malformed("a session that this server can resume");
        self.refuse(context, error.into())
    }

    /// Refuses a message that is not as the protocol has it.
    pub(super) fn bad_message(
        &self,
        context: &mut Context,
        error: Error,
        code: i32,
        message: &'static str,
    ) -> Step {
        context.refuse(error.into(), About::new(Item::Session));
        self.with_status(400, Reply::error(code, message))
    }

    /// Refuses to end sessions if nothing remembers ends.
    pub(super) fn not_offered(&self) -> Step {
        match self.came.is_notification {
            _ if self.deletes() => Step::Reply(Reply {
                status: Some(405),
                allow: Some("GET, POST"),
                ..Reply::default()
            }),
            false => Step::Reply(Reply::error(-32601, "Method not found")),
            true => Step::Drop,
        }
    }
}
