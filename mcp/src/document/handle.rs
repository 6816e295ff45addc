//! Operations of a handler on handles.

use std::time::Duration;

use serde::Deserialize;

use super::read::{parse, read};
use super::step::begun;
use super::{NO_DOCUMENT, write};
use crate::exchange::Exchange;
use crate::message::input::{ClientValue, HandleOp, HandleOpKind, Predecessor};
use crate::message::members::Seconds;
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
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "camelCase")]
enum Op {
    Mint,
    Check,
    Seal,
    Open,
    End,
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
    let Operation {
        op,
        handle_type,
        handle,
        max_age,
        ttl,
        predecessor,
        once,
        self_contained,
    } = read(&document)?;
    let kind = match op {
        Op::Mint => HandleOpKind::Mint { max_age },
        Op::Check => HandleOpKind::Check { handle, max_age },
        Op::Seal => HandleOpKind::Seal {
            value: value.ok_or(NO_DOCUMENT)?,
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
    };
    Ok(begun(exchange.handle(HandleOp { handle_type, kind })))
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
