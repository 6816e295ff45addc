//! The negotiated values of a session of the transport, and the token that holds them.

use std::time::Duration;

use crate::ledger::Check;
use crate::message::input::ClientValue;
use crate::message::members::lifetime;
use crate::message::token::Token;
use crate::reply::step::Item;
use crate::wire::{Member, string, whole};
use sealwax::{Error, View, canonical_json};

/// The limit of a header that servers and proxies accept.
const LIMIT: usize = 4096;

pub(super) struct Negotiated {
    pub json: String,
    pub protocol_version: String,
    pub expires_at: Option<u64>,
}

/// Opens the token of a session; returns its contents, and its token.
pub(super) fn open(view: &View, token: ClientValue<'_>) -> Result<(Negotiated, Token), Error> {
    const EXPECTED: Error = Error::Malformed("the values that initialize negotiated");
    let token = token
        .text()
        .ok_or(Error::Malformed("a session that is a text"))?;
    fits("session", token)?;
    let max_age = view.codec().session_max_age();
    let opened = view.session().max_age(max_age).open(token)?;
    let expires_at = opened.expires_at();
    let token = Token::new(Item::Session, &opened, Some(Check::Live));
    let json = String::from_utf8(opened.into_payload()).map_err(|_| EXPECTED)?;
    let held = Initialized::of(&json).ok_or(EXPECTED)?;
    let protocol_version = string(held.protocol_version).ok_or(EXPECTED)?.into_owned();
    let negotiated = Negotiated {
        json,
        protocol_version,
        expires_at,
    };
    Ok((negotiated, token))
}

pub(super) fn seal(view: &View, negotiated: &str, ttl: Option<Duration>) -> Result<String, Error> {
    let sealer = view.session().with_ttl(lifetime(ttl));
    let token = sealer.seal(negotiated.as_bytes())?.into_string();
    fits("Mcp-Session-Id with the negotiated values", &token)?;
    Ok(token)
}

fn fits(what: &'static str, token: &str) -> Result<(), Error> {
    let (found, limit) = (token.len(), LIMIT);
    let too_large = Error::TooLarge { what, found, limit };
    (found <= limit).then_some(()).ok_or(too_large)
}

/// What is kept of the params of `initialize`, as JSON. Whatever it is, it is kept as it came: a lone
/// surrogate, or a number that is no double, is none of the guard's concern.
#[derive(Default)]
pub(super) struct Params<'t> {
    capabilities: Option<&'t str>,
    name: Option<&'t str>,
    version: Option<&'t str>,
}

/// What is kept of the result of `initialize`.
pub(super) struct Initialized<'t> {
    protocol_version: &'t str,
    capabilities: Option<&'t str>,
}

impl<'t> Params<'t> {
    pub fn read(json: Option<&'t str>) -> Result<Self, Error> {
        json.map_or_else(|| Some(Self::default()), Self::of)
            .ok_or(Error::Malformed("params of initialize that are JSON"))
    }

    fn of(json: &'t str) -> Option<Self> {
        let [capabilities, client] = members(json, ["capabilities", "clientInfo"])?;
        let [name, version] = members(client.unwrap_or("null"), ["name", "version"])?;
        Some(Self {
            capabilities,
            name,
            version,
        })
    }
}

impl<'t> Initialized<'t> {
    pub fn read(json: Option<&'t str>) -> Result<Self, Error> {
        const EXPECTED: &str = "initialize: expected its result as JSON, with a protocolVersion";
        let read = Self::of(json.unwrap_or_default());
        read.filter(|read| string(read.protocol_version).is_some())
            .ok_or_else(|| Error::argument(EXPECTED))
    }

    fn of(json: &'t str) -> Option<Self> {
        let [version, capabilities] = members(json, ["protocolVersion", "capabilities"])?;
        Some(Self {
            protocol_version: version?,
            capabilities,
        })
    }
}

/// Returns the values that the params of `initialize` and its result negotiated.
pub(super) fn negotiated(params: &Params<'_>, result: &Initialized<'_>) -> String {
    format!(
        r#"{{"clientCapabilities":{},"clientInfo":{{"name":{},"version":{}}},"protocolVersion":{},"serverCapabilities":{}}}"#,
        compact(params.capabilities),
        text(params.name),
        text(params.version),
        result.protocol_version,
        compact(result.capabilities),
    )
}

/// Returns a JSON text without its white space, unless languages read it differently.
fn compact(json: Option<&str>) -> String {
    let json = json.unwrap_or("{}");
    canonical_json(json).unwrap_or_else(|_| json.into())
}

fn text(json: Option<&str>) -> &str {
    json.filter(|json| json.starts_with('"')).unwrap_or("\"\"")
}

/// Returns the values of an object's members as they stand in its text, those that are there and no
/// `null`; none of `null` itself. Of what is no JSON, or has one of them twice, returns nothing.
///
/// What `serde_json` has for it, `RawValue`, would make the WebAssembly module 20 kB larger.
fn members<'t, const N: usize>(json: &'t str, names: [&str; N]) -> Option<[Option<&'t str>; N]> {
    let Some(object) = whole(json, names).ok()? else {
        return (json.trim() == "null").then_some([None; N]);
    };
    let of = |member: Option<Member>| json.get(member?.value).filter(|json| *json != "null");
    Some(object.members.map(of))
}
