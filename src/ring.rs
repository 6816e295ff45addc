//! Several keys in order, so that one can follow another without losing a session.

use alloc::format;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::{Error, Key, KeyId};

/// The most keys of a ring.
const MAX_KEYS: usize = 16;

/// 1 to 16 [`Key`]s in order: the first seals, every one opens.
///
/// To rotate, let every replica know a key before it seals, and keep it until what it made has
/// expired: `[old, new]` everywhere, then `[new, old]`, then `[new]`.
///
/// ```
/// use sealwax::{Key, KeyRing};
///
/// let (old, new) = (Key::generate()?, Key::generate()?);
/// let text = format!("{},{}", *new.to_text().unwrap(), *old.to_text().unwrap());
/// let ring: KeyRing = text.parse()?;
/// assert_eq!(ring.ids().collect::<Vec<_>>(), [new.id(), old.id()]);
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct KeyRing(Vec<Key>);

impl KeyRing {
    /// A ring of the given keys, the sealing one first.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] for no key, for more than 16, or for two of the same id.
    pub fn new(keys: impl IntoIterator<Item = Key>) -> Result<Self, Error> {
        Self::of(keys.into_iter().take(MAX_KEYS + 1).collect())
    }

    /// The ids of the keys, in order.
    pub fn ids(&self) -> impl Iterator<Item = KeyId> + '_ {
        self.0.iter().map(Key::id)
    }

    /// A ring is never empty.
    pub(crate) fn keys(&self) -> &[Key] {
        &self.0
    }

    /// Once in WebAssembly, though two call it.
    #[inline(never)]
    fn of(keys: Vec<Key>) -> Result<Self, Error> {
        if keys.is_empty() {
            return Err(Error::InvalidKey(
                "expected 1 to 16 keys, found none: is SEALWAX_KEYS set? `sealwax keygen` makes a key for it".into(),
            ));
        }
        if keys.len() > MAX_KEYS {
            return Err(Error::InvalidKey(
                "expected at most 16 keys in a ring".into(),
            ));
        }
        for (at, key) in keys.iter().enumerate() {
            let id = key.id();
            if keys[..at].iter().any(|known| known.id() == id) {
                return Err(Error::InvalidKey(
                    format!("expected each key once, found two of id {id}").into(),
                ));
            }
        }
        Ok(Self(keys))
    }
}

impl FromStr for KeyRing {
    type Err = Error;

    /// Reads key texts separated by commas or white space.
    fn from_str(text: &str) -> Result<Self, Error> {
        let texts = text
            .split(|c: char| c == ',' || c.is_ascii_whitespace())
            .filter(|text| !text.is_empty());
        let mut keys = Vec::new();
        for (at, text) in texts.take(MAX_KEYS + 1).enumerate() {
            keys.push(text.parse().map_err(|error| {
                Error::InvalidKey(format!("key {} of the ring: {error}", at + 1).into())
            })?);
        }
        Self::of(keys)
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ids()).finish()
    }
}
