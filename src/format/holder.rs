//! Whose a token is: the keys in order, the principal's tag under each of them, and the audience
//! (SPEC.md, "Principal tag").

use super::bytes::leading;
use super::error::Error;
use super::key::{Key, KeyId};

/// A principal under one key.
pub(crate) type Tag = [u8; 16];

/// The tag of an authenticated principal; a part that is absent is the empty text.
pub(crate) fn tag(key: &Key, issuer: &str, client: &str, subject: &str) -> Tag {
    let [issuer, client, subject] = [issuer, client, subject].map(str::as_bytes);
    leading(&key.principal_mac(&[b"principal", issuer, client, subject]))
}

/// The tag of whoever is expressly nobody.
pub(crate) fn anonymous_tag(key: &Key) -> Tag {
    leading(&key.principal_mac(&[b"anonymous"]))
}

/// The one whose tokens are sealed and opened. There is at least one key, and a tag for each.
#[derive(Clone, Copy)]
pub(crate) struct Holder<'a> {
    /// The first seals, every one opens.
    pub keys: &'a [Key],
    pub tags: &'a [Tag],
    pub audience: &'a str,
}

impl<'a> Holder<'a> {
    /// The key that seals, and the tag under it.
    pub fn sealing(self) -> (&'a Key, &'a Tag) {
        (&self.keys[0], &self.tags[0])
    }

    /// The place of a key in the ring, that key, and the tag under it.
    pub fn opening(self, id: KeyId) -> Result<(usize, &'a Key, &'a Tag), Error> {
        let at = self.keys.iter().position(|key| key.id() == id);
        let at = at.ok_or(Error::UnknownKey(id))?;
        Ok((at, &self.keys[at], &self.tags[at]))
    }
}
