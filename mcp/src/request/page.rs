//! A cursor in a tool's result: bound to its user, the tool, and the other arguments of the call that it comes back with.

use std::time::Duration;

use serde_json::{Map, Value};

use super::Request;
use super::link::{headed, with_head};
use crate::guard::Guard;
use crate::message::input::{ClientValue, HandleOp, HandleOpKind, OwnedClientValue};
use crate::message::json;
use crate::message::members::lifetime;
use crate::reply::answer::Answer;
use crate::reply::reason::Reason;
use sealwax::{Error, Opened, RequestContext, Token, View, kind};

/// What a call says of its page.
pub(crate) struct Page {
    /// The tool and its other arguments.
    context: Result<RequestContext, Error>,
    /// The argument that carries the cursor.
    cursor: OwnedClientValue,
    argument: String,
    tool: String,
}

const CHANGED: &str = "cursor: the list is another one than when it was made";

impl Request {
    /// Returns the page that a call is about, for an operation on its cursor.
    #[inline(never)]
    pub fn page(&self, guard: &Guard, op: &HandleOp<'_>) -> Option<Page> {
        let (HandleOpKind::Cursor { .. } | HandleOpKind::Position { .. }) = op.kind else {
            return None;
        };
        let argument = op.handle_type;
        let tool = self
            .target
            .as_deref()
            .filter(|_| *self.method == *"tools/call")?;
        let arguments = self.arguments.as_deref();
        let read = arguments.map_or(Some(Value::Null), json::read);
        let is_read = read.is_some();
        let read = read.unwrap_or_default();
        let only = guard.settings().only.iter();
        let only = only.clone().find(|(target, _)| target == tool);
        let members = read.as_object().into_iter().flat_map(Map::keys);
        let others: Vec<_> = members
            .map(String::as_str)
            .filter(|name| *name != argument)
            .filter(|name| only.is_none_or(|(_, names)| names.iter().any(|one| one == name)))
            .collect();
        let context = match others.is_empty() {
            // It says what is wrong with what cannot be read.
            true => RequestContext::new(&self.method, tool, arguments.filter(|_| !is_read)),
            false => RequestContext::only(&self.method, tool, arguments, &others),
        };
        Some(Page {
            context,
            cursor: ClientValue::from(&read[argument]).owned(),
            argument: argument.into(),
            tool: tool.into(),
        })
    }
}

impl Page {
    /// Returns the cursor that came. What no guard could have made is none: models fill in every argument that they know of.
    pub fn cursor(&self) -> Option<&str> {
        let text = self.cursor.borrowed().text();
        text.filter(|text| text.starts_with("sw1."))
    }

    fn label(&self) -> String {
        format!("sealwax/cursor/{}", self.argument)
    }

    pub fn seal(
        &self,
        view: &View,
        position: &str,
        ttl: Option<Duration>,
        list: Option<&str>,
    ) -> Result<Token<kind::Custom>, Reason> {
        let context = self.context.clone().map_err(Reason::InvalidRequest)?;
        let label = self.label();
        let sealer = view.custom(&label).bound_to_request(&context);
        let sealer = sealer.with_ttl(lifetime(ttl));
        let mut head = Map::new();
        if let Some(list) = list {
            head.insert("list".into(), list.into());
        }
        let sealed = sealer.seal(with_head(head, position).as_bytes());
        sealed.map_err(Reason::Unsealed)
    }

    /// Returns the position of a cursor.
    pub fn open(
        &self,
        view: &View,
        cursor: &str,
        list: Option<&str>,
    ) -> Result<(Opened<kind::Custom>, String), Reason> {
        let context = self.context.clone().map_err(Reason::InvalidRequest)?;
        let label = self.label();
        let sealer = view.custom(&label).bound_to_request(&context);
        let opened = sealer.open(cursor)?;
        let (head, position) = headed(&opened)?;
        if head.get("list").and_then(Value::as_str) != list {
            return Err(Reason::refused("stale", CHANGED));
        }
        Ok((opened, position))
    }

    /// Returns what the model hears of a refusal.
    pub fn refusal(&self, reason: &Reason) -> Option<Answer> {
        match reason {
            Reason::InvalidRequest(error) => Some(Answer::invalid_arguments(error, false)),
            Reason::Refused(code, _) if *code == "stale" => {
                Some(self.invalid("The list has changed since then"))
            }
            reason => reason.is_refusal().then(|| {
                self.invalid(
                    "It may be mistyped, expired, not yours, or of a call with other arguments",
                )
            }),
        }
    }

    fn invalid(&self, why: &str) -> Answer {
        Answer::invalid_cursor(&self.tool, &self.argument, why)
    }
}
