//! The forms of members in documents. Absent, null and false mean the same.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::message::input::ClientValue;
use sealwax::{Error, Principal, Ttl};

/// A lifetime in whole seconds.
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub(crate) struct Seconds(#[allow(dead_code, reason = "for its schema")] Option<u64>);

impl Seconds {
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let seconds = u64::deserialize(from)?;
        Ok(Some(Duration::from_secs(seconds)))
    }

    /// For the default in its schema.
    #[cfg(test)]
    pub fn serialize<S: Serializer>(time: &Option<Duration>, into: S) -> Result<S::Ok, S::Error> {
        into.serialize_some(&time.map(|time| time.as_secs()))
    }
}

/// Returns the lifetime that a setting chose, or else that of the kind.
pub(crate) fn lifetime(chosen: Option<Duration>) -> Ttl {
    chosen.map_or(Ttl::Default, Ttl::Given)
}

/// A time to wait, in milliseconds.
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub(crate) struct Millis(#[allow(dead_code, reason = "for its schema")] u64);

impl Millis {
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }

    pub fn serialize<S: Serializer>(time: &Duration, into: S) -> Result<S::Ok, S::Error> {
        into.serialize_u64(Self::of(*time))
    }

    /// Rounds up: with nothing left, the engine does not ask.
    pub fn of(time: Duration) -> u64 {
        let part = u64::from(time.subsec_nanos().div_ceil(1_000_000));
        time.as_secs().saturating_mul(1000).saturating_add(part)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}

/// A principal as its members.
pub(crate) struct PrincipalMembers;

impl PrincipalMembers {
    /// Returns those that are there: `anonymous` alone, or the others.
    pub fn of(principal: &Principal) -> Map<String, Value> {
        // Collected, they would be sorted, by 8 kB of WebAssembly.
        let mut members = Map::new();
        match principal.parts() {
            None => {
                members.insert("anonymous".into(), true.into());
            }
            Some(parts) => {
                for (name, part) in [
                    ("issuer", parts.issuer),
                    ("client", parts.client),
                    ("subject", parts.subject),
                ] {
                    if let Some(part) = part {
                        members.insert(name.into(), part.into());
                    }
                }
            }
        }
        members
    }

    /// Reads these members; others beside them are not looked at.
    pub fn read(members: &Value) -> Result<Principal, Error> {
        let parts = ["issuer", "client", "subject"].map(|name| ClientValue::from(&members[name]));
        PrincipalParts::named(parts, members["anonymous"] == true)
    }

    pub fn serialize<S: Serializer>(given: &Option<Principal>, into: S) -> Result<S::Ok, S::Error> {
        given.as_ref().map(Self::of).serialize(into)
    }
}

/// A principal: `anonymous` alone, or the others.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct PrincipalParts<'a> {
    issuer: Option<&'a str>,
    client: Option<&'a str>,
    subject: Option<&'a str>,
    anonymous: bool,
}

impl PrincipalParts<'_> {
    /// Reads a principal of a [`Value`], where an error leaves no rest unread.
    #[cfg(feature = "documents")]
    pub fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Principal, Error> {
        match PrincipalParts::deserialize(from) {
            Ok(parts) => parts.principal(),
            Err(_) => Err(NO_PRINCIPAL),
        }
    }

    /// Returns the principal of these parts: one that is no text names nobody.
    pub fn named(parts: [ClientValue<'_>; 3], anonymous: bool) -> Result<Principal, Error> {
        if parts.contains(&ClientValue::Other) {
            return Err(NO_PRINCIPAL);
        }
        let [issuer, client, subject] = parts.map(ClientValue::text);
        let parts = PrincipalParts {
            issuer,
            client,
            subject,
            anonymous,
        };
        parts.principal()
    }

    pub fn principal(self) -> Result<Principal, Error> {
        match (self.issuer, self.client, self.subject, self.anonymous) {
            (issuer, client, subject, false) => Principal::from_parts(issuer, client, subject),
            (None, None, None, true) => Ok(Principal::anonymous()),
            _ => Err(NO_PRINCIPAL),
        }
    }
}

const NO_PRINCIPAL: Error = Error::InvalidArgument(std::borrow::Cow::Borrowed(
    "principal: expected issuer, client and subject, which are texts, or anonymous alone, which is true",
));
