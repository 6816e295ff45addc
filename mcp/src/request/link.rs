//! Links: values that are sealed for a purpose, and opened elsewhere by whoever has them. Such a token is an anonymous user's, under
//! a label of its own; whose it is stands in the payload, before the value.

use std::time::Duration;

use super::session::json;
use crate::ledger::Check;
use crate::message::members::{PrincipalMembers, lifetime};
use crate::message::token::Token;
use crate::reply::step::Item;
use sealwax::{Error, Handle, Opened, Principal, View, kind};

/// An opened link.
pub(super) struct Link {
    pub opened: Opened<kind::Custom>,
    pub owner: Principal,
    pub value: String,
    once: bool,
}

fn label(name: &str) -> Result<String, Error> {
    Handle::check_type(name)?;
    Ok(format!("sealwax/link/{name}"))
}

/// Seals a value for `owner`; `anyone` is the view of nobody in particular.
pub(super) fn seal(
    anyone: &View,
    name: &str,
    owner: &Principal,
    value: &str,
    ttl: Option<Duration>,
    once: bool,
) -> Result<sealwax::Token<kind::Custom>, Error> {
    let mut head = PrincipalMembers::of(owner);
    if once {
        head.insert("once".into(), true.into());
    }
    let label = label(name)?;
    let sealer = anyone.custom(&label).with_ttl(lifetime(ttl));
    sealer.seal(with_head(head, value).as_bytes())
}

/// Returns a payload of two lines: an object of the engine's, and a value.
pub(super) fn with_head(head: serde_json::Map<String, serde_json::Value>, value: &str) -> String {
    format!("{}\n{value}", crate::message::json::written(&head.into()))
}

/// Reads such a payload.
pub(super) fn headed<K>(opened: &Opened<K>) -> Result<(serde_json::Value, String), Error> {
    let text = std::str::from_utf8(opened.payload()).unwrap_or_default();
    let (head, value) = text.split_once('\n').unwrap_or_default();
    let head = crate::message::json::read(head);
    let head = head.ok_or(Error::Malformed("a payload of two lines of JSON"))?;
    Ok((head, json(value.as_bytes())?.into()))
}

impl Link {
    pub fn open(
        anyone: &View,
        name: &str,
        text: &str,
        by: Option<&Principal>,
    ) -> Result<Self, Error> {
        let label = label(name)?;
        let opened = anyone.custom(&label).open(text)?;
        let (head, value) = headed(&opened)?;
        let owner = PrincipalMembers::read(&head);
        let owner = owner.map_err(|_| Error::Malformed("a link that says whose it is"))?;
        match by {
            Some(by) if *by != owner => Err(Error::PrincipalMismatch),
            _ => Ok(Self {
                opened,
                owner,
                value,
                once: head["once"] == true,
            }),
        }
    }

    /// Returns what the ledger is asked; `keep` leaves one that is good once as it is.
    pub fn token(&self, keep: bool) -> Token {
        let check = match (self.once, keep) {
            (true, false) => Check::Once,
            (true, true) => Check::Unused,
            (false, _) => Check::Live,
        };
        Token::new(Item::Link, &self.opened, Some(check))
    }

    pub fn is_single_use(&self) -> bool {
        self.once
    }
}
