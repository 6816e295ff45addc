//! Reads documents.

use std::time::Duration;

use serde_json::Value;

use super::NO_DOCUMENT;
use crate::input::ClientValue;
use sealwax::{Error, Principal};

pub(super) fn read(document: &str) -> Result<Value, Error> {
    match serde_json::from_slice(document.as_bytes()) {
        Ok(document @ Value::Object(_)) => Ok(document),
        _ => Err(NO_DOCUMENT),
    }
}

/// A value, and the members of an object. The methods are not inlined, to keep the WebAssembly
/// small.
#[derive(Clone, Copy)]
pub(super) struct Document<'a>(pub &'a Value);

impl<'a> Document<'a> {
    /// Returns a member, or `null`.
    #[inline(never)]
    pub fn at(self, member: &str) -> Self {
        Self(self.0.get(member).unwrap_or(&Value::Null))
    }

    #[inline(never)]
    pub fn text(self, member: &str) -> Option<&'a str> {
        self.at(member).0.as_str()
    }

    #[inline(never)]
    pub fn is(self, member: &str) -> bool {
        self.at(member).0.as_bool() == Some(true)
    }

    #[inline(never)]
    pub fn sent(self, member: &str) -> ClientValue<'a> {
        match self.at(member).0 {
            Value::Null => ClientValue::Absent,
            Value::String(text) => ClientValue::Text(text),
            _ => ClientValue::Other,
        }
    }

    #[inline(never)]
    pub fn number(self, member: &str) -> Option<u64> {
        self.at(member).0.as_u64()
    }

    #[inline(never)]
    pub fn seconds(self, member: &str) -> Option<Duration> {
        self.number(member).map(Duration::from_secs)
    }

    pub fn members(self, member: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
        self.at(member).0.as_object().into_iter().flatten()
    }

    pub fn first(self) -> Option<(&'a String, Self)> {
        let (name, value) = self.0.as_object()?.iter().next()?;
        Some((name, Self(value)))
    }
}

pub(super) fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items
        .filter_map(Value::as_str)
        .map(ToOwned::to_owned)
        .collect()
}

pub(super) fn place(value: &Value) -> Result<usize, Error> {
    let place = value.as_u64().and_then(|place| usize::try_from(place).ok());
    place.ok_or(NO_DOCUMENT)
}

pub(super) fn principal(value: Document<'_>) -> Result<Principal, Error> {
    const EXPECTED: &str = "principal: expected issuer, client and subject, which are texts, or anonymous alone, \
                            which is true";
    let parts = ["issuer", "client", "subject"].map(|name| value.at(name).0);
    let given = |part: &&Value| !part.is_null();
    match value.at("anonymous").0 {
        Value::Null | Value::Bool(false)
            if parts
                .iter()
                .filter(|part| given(part))
                .all(|part| part.is_string()) =>
        {
            let [issuer, client, subject] = parts.map(Value::as_str);
            Principal::from_parts(issuer, client, subject)
        }
        Value::Bool(true) if !parts.iter().any(given) => Ok(Principal::anonymous()),
        _ => Err(Error::InvalidArgument(EXPECTED.into())),
    }
}
