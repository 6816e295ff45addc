//! What a token of one principal is sealed with: the keys in order, the principal's tag under each, and the audience
//! (SPEC.md, "Principal tag").

use super::bytes::leading;
use super::error::Error;
use super::key::Key;
use super::key_id::KeyId;

/// The tag of a principal under one key.
pub(crate) type Tag = [u8; 16];

/// Computes the tag of an authenticated principal; an absent part is the empty text.
pub(crate) fn tag(key: &Key, issuer: &str, client: &str, subject: &str) -> Tag {
    let [issuer, client, subject] = [issuer, client, subject].map(str::as_bytes);
    leading(&key.principal_mac(&[b"principal", issuer, client, subject]))
}

/// Computes the tag of the anonymous principal.
pub(crate) fn anonymous_tag(key: &Key) -> Tag {
    leading(&key.principal_mac(&[b"anonymous"]))
}

/// The keys, tags and audience to seal and open with. There is at least one key, and a tag for
/// each.
#[derive(Clone, Copy)]
pub(crate) struct PrincipalKeys<'a> {
    /// The first seals, all of them open.
    pub ring: &'a [Key],
    pub tags: &'a [Tag],
    pub audience: &'a str,
}

impl<'a> PrincipalKeys<'a> {
    /// Returns the sealing key, and the tag under it.
    pub fn sealing(self) -> (&'a Key, &'a Tag) {
        (&self.ring[0], &self.tags[0])
    }

    /// Returns the index of a key in the ring, the key, and the tag under it.
    pub fn opening(self, id: KeyId) -> Result<(usize, &'a Key, &'a Tag), Error> {
        let at = self.ring.iter().position(|key| key.id() == id);
        let at = at.ok_or(Error::UnknownKey(id))?;
        Ok((at, &self.ring[at], &self.tags[at]))
    }
}
