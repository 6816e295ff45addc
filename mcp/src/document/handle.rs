//! Operations of a handler on handles.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::read::{parse, read};
use super::{NO_DOCUMENT, begun, write};
use crate::exchange::Exchange;
use crate::guard::Guard;
use crate::message::input::{ClientValue, HandleOp, HandleOpKind, Predecessor};
use crate::message::members::{PrincipalParts, Seconds};
use sealwax::Error;

/// An operation of a handler on a handle of one type.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "HandleOp"))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Operation<'a> {
    op: Op,
    #[serde(rename = "type")]
    handle_type: &'a str,
    #[serde(borrow, default)]
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
    #[serde(default)]
    number: Option<i64>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "camelCase")]
enum Op {
    Mint,
    Check,
    MintShort,
    CheckShort,
    Seal,
    Open,
    End,
    SealLink,
    OpenLink,
    Cursor,
    Position,
}

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
    let Operation {
        op,
        handle_type,
        handle,
        max_age,
        ttl,
        predecessor,
        once,
        self_contained,
        keep,
        by,
        list,
        number,
    } = read(document)?;
    let value = value.ok_or(NO_DOCUMENT);
    let kind = match op {
        Op::Mint => HandleOpKind::Mint { max_age },
        Op::Check => HandleOpKind::Check { handle, max_age },
        Op::MintShort => HandleOpKind::MintShort {
            number: number
                .and_then(|number| u32::try_from(number).ok())
                .ok_or(NO_NUMBER)?,
        },
        Op::CheckShort => HandleOpKind::CheckShort { handle },
        Op::Seal => HandleOpKind::Seal {
            value: value?,
            ttl,
            predecessor,
            once,
        },
        Op::Open => HandleOpKind::Open {
            handle,
            max_age,
            once,
        },
        Op::End => HandleOpKind::End {
            handle,
            max_age,
            self_contained,
        },
        Op::SealLink => HandleOpKind::SealLink {
            value: value?,
            ttl,
            once,
        },
        Op::OpenLink => HandleOpKind::OpenLink {
            link: handle,
            keep,
            by: by.map(PrincipalParts::principal).transpose()?,
        },
        Op::Cursor => HandleOpKind::Cursor {
            position: value?,
            ttl,
            list,
        },
        Op::Position => HandleOpKind::Position { list },
    };
    Ok(HandleOp { handle_type, kind })
}

const NO_NUMBER: Error = Error::InvalidArgument(std::borrow::Cow::Borrowed(
    "number: expected a whole number from 0 to 4294967295",
));

/// Forks the session, and returns the metadata of the new one, for a result.
///
/// # Errors
///
/// As [`Exchange::fork`].
#[inline(never)]
pub fn fork(exchange: &mut Exchange) -> Result<String, Error> {
    exchange.fork().map(|forked| write(&forked))
}
