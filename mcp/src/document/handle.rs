//! Operations of a handler on handles. Their document is read by hand: derived, that would be some kB more of WebAssembly.

use std::time::Duration;

use serde_json::{Map, Value};

use super::read::{parse, principal, read};
use super::step::begun;
use super::{NO_DOCUMENT, write};
use crate::exchange::Exchange;
use crate::guard::Guard;
use crate::message::input::{ClientValue, HandleOp, HandleOpKind};
use sealwax::Error;

/// The members of an operation.
const MEMBERS: [&str; 11] = [
    "op",
    "type",
    "handle",
    "maxAge",
    "ttl",
    "predecessor",
    "once",
    "selfContained",
    "keep",
    "by",
    "list",
];

/// Begins an exchange for a handler's operation on a handle; `value` is the state to seal, as JSON.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid operation.
#[inline(never)]
pub fn handle(
    exchange: &Exchange,
    document: &str,
    value: Option<&str>,
) -> Result<(Exchange, String), Error> {
    let document = parse(document)?;
    Ok(begun(exchange.handle(operation(&document, value)?)))
}

/// Begins an exchange that opens a link, outside of any request.
///
/// # Errors
///
/// As [`handle`], and for any other operation.
#[inline(never)]
pub fn link(guard: &Guard, document: &str) -> Result<(Exchange, String), Error> {
    let document = parse(document)?;
    match operation(&document, None)? {
        op @ HandleOp {
            kind: HandleOpKind::OpenLink { .. },
            ..
        } => Ok(begun(guard.link(op))),
        _ => Err(NO_DOCUMENT),
    }
}

#[inline(never)]
fn operation<'a>(document: &'a Value, value: Option<&'a str>) -> Result<HandleOp<'a>, Error> {
    let mut names = document.as_object().into_iter().flat_map(Map::keys);
    if !names.all(|name| MEMBERS.contains(&name.as_str())) {
        return Err(NO_DOCUMENT);
    }
    let value = value.ok_or(NO_DOCUMENT);
    let handle = ClientValue::from(&document["handle"]);
    let once = flag(document, "once")?;
    let kind = match text(document, "op")?.unwrap_or_default() {
        "mint" => HandleOpKind::Mint {
            max_age: seconds(document, "maxAge")?,
        },
        "check" => HandleOpKind::Check {
            handle,
            max_age: seconds(document, "maxAge")?,
        },
        "seal" => HandleOpKind::Seal {
            value: value?,
            ttl: seconds(document, "ttl")?,
            predecessor: match &document["predecessor"] {
                Value::Null => None,
                predecessor => Some(read(predecessor)?),
            },
            once,
        },
        "open" => HandleOpKind::Open {
            handle,
            max_age: seconds(document, "maxAge")?,
            once,
        },
        "end" => HandleOpKind::End {
            handle,
            max_age: seconds(document, "maxAge")?,
            self_contained: flag(document, "selfContained")?,
        },
        "sealLink" => HandleOpKind::SealLink {
            value: value?,
            ttl: seconds(document, "ttl")?,
            once,
        },
        "openLink" => HandleOpKind::OpenLink {
            link: handle,
            keep: flag(document, "keep")?,
            by: match &document["by"] {
                Value::Null => None,
                by => Some(principal(by)?),
            },
        },
        "cursor" => HandleOpKind::Cursor {
            position: value?,
            ttl: seconds(document, "ttl")?,
            list: text(document, "list")?,
        },
        "position" => HandleOpKind::Position {
            list: text(document, "list")?,
        },
        _ => return Err(NO_DOCUMENT),
    };
    let handle_type = text(document, "type")?.ok_or(NO_DOCUMENT)?;
    Ok(HandleOp { handle_type, kind })
}

fn text<'a>(document: &'a Value, name: &str) -> Result<Option<&'a str>, Error> {
    match &document[name] {
        Value::Null => Ok(None),
        found => found.as_str().map(Some).ok_or(NO_DOCUMENT),
    }
}

fn seconds(document: &Value, name: &str) -> Result<Option<Duration>, Error> {
    match &document[name] {
        Value::Null => Ok(None),
        found => {
            let seconds = found.as_u64().ok_or(NO_DOCUMENT)?;
            Ok(Some(Duration::from_secs(seconds)))
        }
    }
}

fn flag(document: &Value, name: &str) -> Result<bool, Error> {
    match &document[name] {
        Value::Null => Ok(false),
        found => found.as_bool().ok_or(NO_DOCUMENT),
    }
}

/// Forks the session, and returns the metadata of the new one, for a result.
///
/// # Errors
///
/// As [`Exchange::fork`].
#[inline(never)]
pub fn fork(exchange: &mut Exchange) -> Result<String, Error> {
    exchange.fork().map(|forked| write(&forked))
}

/// The document's type.
#[cfg(test)]
pub(super) mod types {
    use std::time::Duration;

    use schemars::JsonSchema;

    use crate::message::input::{ClientValue, Predecessor};
    use crate::message::members::{PrincipalParts, Seconds};

    #[derive(JsonSchema)]
    #[schemars(rename = "HandleOp")]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "for its schema")]
    pub struct Operation<'a> {
        op: Op,
        #[serde(rename = "type")]
        handle_type: &'a str,
        #[serde(default)]
        handle: ClientValue<'a>,
        #[serde(with = "Seconds", default)]
        max_age: Option<Duration>,
        #[serde(with = "Seconds", default)]
        ttl: Option<Duration>,
        #[serde(default)]
        predecessor: Option<Predecessor>,
        #[serde(default)]
        once: bool,
        #[serde(default)]
        self_contained: bool,
        #[serde(default)]
        keep: bool,
        #[serde(default)]
        by: Option<PrincipalParts<'a>>,
        #[serde(default)]
        list: Option<&'a str>,
    }

    #[derive(JsonSchema)]
    #[schemars(inline, rename_all = "camelCase")]
    #[expect(dead_code, reason = "for its schema")]
    enum Op {
        Mint,
        Check,
        Seal,
        Open,
        End,
        SealLink,
        OpenLink,
        Cursor,
        Position,
    }
}
