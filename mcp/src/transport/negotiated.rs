//! The negotiated values of a session of the transport, and the token that holds them.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::admission::Token;
use crate::input::ClientValue;
use crate::ledger::Check;
use crate::step::Item;
use crate::text::canonical;
use sealwax::{Error, View};

/// The limit of a header that servers and proxies accept.
const LIMIT: usize = 4096;

pub(super) struct Negotiated {
    pub json: String,
    pub protocol_version: String,
    pub expires_at: Option<u64>,
}

/// Opens the token of a session; returns its contents, and the question for `accept`.
pub(super) fn open(view: &View, token: ClientValue<'_>) -> Result<(Negotiated, Token), Error> {
    const EXPECTED: Error = Error::Malformed("the values that initialize negotiated");
    let token = token
        .text()
        .ok_or(Error::Malformed("a session that is a text"))?;
    at_most("session", token.len(), LIMIT)?;
    let max_age = view.codec().session_max_age();
    let opened = view.session().max_age(max_age).open(token)?;
    let expires_at = opened.expires_at();
    let token = Token::new(Item::Session, &opened, Some(Check::Live));
    let json = String::from_utf8(opened.into_payload()).map_err(|_| EXPECTED)?;
    let value: Value = serde_json::from_slice(json.as_bytes()).map_err(|_| EXPECTED)?;
    let protocol_version = value["protocolVersion"].as_str().ok_or(EXPECTED)?.into();
    Ok((
        Negotiated {
            json,
            protocol_version,
            expires_at,
        },
        token,
    ))
}

pub(super) fn seal(view: &View, negotiated: &str, ttl: Option<Duration>) -> Result<String, Error> {
    let sealer = match ttl {
        Some(ttl) => view.session().ttl(ttl),
        None => view.session(),
    };
    let token = sealer.seal(negotiated.as_bytes())?.into_string();
    at_most(
        "Mcp-Session-Id with the negotiated values",
        token.len(),
        LIMIT,
    )?;
    Ok(token)
}

fn at_most(what: &'static str, found: usize, limit: usize) -> Result<(), Error> {
    if found > limit {
        return Err(Error::TooLarge { what, found, limit });
    }
    Ok(())
}

/// Returns the values that the params of `initialize` and its result negotiated.
pub(super) fn negotiated(mut params: Value, mut result: Value) -> String {
    let mut info = take(&mut params, "clientInfo");
    let client = [
        ("name", text(take(&mut info, "name"))),
        ("version", text(take(&mut info, "version"))),
    ];
    canonical(object([
        ("protocolVersion", take(&mut result, "protocolVersion")),
        (
            "clientCapabilities",
            or_empty(take(&mut params, "capabilities")),
        ),
        ("clientInfo", Value::Object(object(client))),
        (
            "serverCapabilities",
            or_empty(take(&mut result, "capabilities")),
        ),
    ]))
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    let mut object = Map::new();
    for (name, value) in members {
        object.insert(name.into(), value);
    }
    object
}

/// Takes a member, or `null`.
fn take(value: &mut Value, member: &str) -> Value {
    value.get_mut(member).map(Value::take).unwrap_or_default()
}

fn text(value: Value) -> Value {
    match value {
        Value::String(_) => value,
        _ => "".into(),
    }
}

fn or_empty(value: Value) -> Value {
    match value {
        Value::Null => Value::Object(Map::new()),
        value => value,
    }
}
