//! Keys in order, so that rotation loses no session.

use std::fmt;
use std::str::FromStr;

use crate::format::key::PREFIX;
use crate::{Error, Key, KeyId};

/// The limit of keys in a ring.
const MAX_KEYS: usize = 16;
/// A file is larger than 16 keys and what may be said of them, or it is no file of keys.
pub(crate) const MAX_FILE: usize = 1 << 16;

/// 1 to 16 [`Key`]s in order: the first seals, all of them open.
///
/// To rotate, give every replica a key before it seals, and keep it until the tokens it sealed have
/// expired: `[old, new]` everywhere, then `[new, old]`, then `[new]`.
///
/// ```
/// use sealwax::{Key, KeyRing};
///
/// let (old, new) = (Key::generate()?, Key::generate()?);
/// let (new_text, old_text) = (new.to_text().unwrap(), old.to_text().unwrap());
/// let text = format!("{} # seals\n{} # to retire in May", *new_text, *old_text);
/// let ring: KeyRing = text.parse()?;
/// assert_eq!(ring.ids().collect::<Vec<_>>(), [new.id(), old.id()]);
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct KeyRing(Vec<Key>);

impl KeyRing {
    /// Returns a ring of the given keys, or of the keys of the given rings, the sealing one first.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] for no key, more than 16, or two with the same id.
    pub fn new<K: Into<Self>>(keys: impl IntoIterator<Item = K>) -> Result<Self, Error> {
        let mut all = Vec::new();
        // More than enough to be refused.
        for ring in keys.into_iter().take(MAX_KEYS + 1) {
            all.extend(ring.into().0);
        }
        Self::of(all)
    }

    /// Returns a ring of the key [derived](Key::derive) from a secret, and of those of earlier secrets, separated by white
    /// space.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`], as [`Key::derive`] and [`new`](Self::new).
    pub fn derive(secret: &str, fallbacks: &str) -> Result<Self, Error> {
        let mut keys = vec![Key::derive(secret)?];
        for (at, fallback) in fallbacks.split_whitespace().take(MAX_KEYS).enumerate() {
            let key = Key::derive(fallback);
            keys.push(key.map_err(|error| {
                Error::InvalidKey(format!("fallback {}: {error}", at + 1).into())
            })?);
        }
        Self::of(keys)
    }

    /// Returns the ids of the keys, in order.
    pub fn ids(&self) -> impl Iterator<Item = KeyId> + '_ {
        self.0.iter().map(Key::id)
    }

    /// Returns the keys; there is at least one.
    pub(crate) fn keys(&self) -> &[Key] {
        &self.0
    }

    /// Reads a ring, and calls `each` with every line and the texts of its keys: for the command, which edits lines and
    /// has to see each key that a server sees.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] for a text that is no ring.
    #[doc(hidden)]
    pub fn read_lines(text: &str, mut each: impl FnMut(&str, &[&str])) -> Result<Self, Error> {
        // Editors and other programs show such a text as other lines than these.
        if text.starts_with('\u{feff}') {
            return Err(Error::InvalidKey(
                "expected UTF-8 without a byte order mark, found one".into(),
            ));
        }
        if text.split('\r').skip(1).any(|next| !next.starts_with('\n')) {
            return Err(Error::InvalidKey(
                "expected lines that end with LF or CR LF, found a CR without LF".into(),
            ));
        }
        let mut keys = Vec::new();
        for line in text.lines() {
            let code = line.split('#').next().unwrap_or_default();
            let words = code.split(|c: char| c == ',' || c.is_ascii_whitespace());
            let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
            for word in &words {
                keys.push(word.parse().map_err(|error| {
                    let at = keys.len() + 1;
                    Error::InvalidKey(format!("key {at} of the ring: {error}").into())
                })?);
            }
            each(line, &words);
        }
        Self::of(keys)
    }

    /// Returns the ring of a file: of the bytes that were read of it, at most 65,537, or the reason why it was not read.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`], which names the file.
    #[doc(hidden)]
    pub fn of_file(path: &str, read: Result<&[u8], &str>) -> Result<Self, Error> {
        // Whoever takes one variable for the other is to find no key in a log.
        if path.contains(PREFIX) {
            return Err(Error::InvalidKey(
                "keys file: expected a path, found the text of a key: that belongs in SEALWAX_KEYS"
                    .into(),
            ));
        }
        let invalid = |why: &str| Error::InvalidKey(format!("keys file {path}: {why}").into());
        let bytes = read.map_err(invalid)?;
        if bytes.len() > MAX_FILE {
            return Err(invalid("expected at most 65,536 bytes, found more"));
        }
        // Decoded as it is: a byte that were dropped or replaced could hide a key.
        let text = str::from_utf8(bytes).map_err(|_| invalid("expected UTF-8"))?;
        text.parse()
            .map_err(|error: Error| invalid(&error.to_string()))
    }

    /// Not inlined: two callers, and the size of the WebAssembly module counts.
    #[inline(never)]
    fn of(keys: Vec<Key>) -> Result<Self, Error> {
        if keys.is_empty() {
            return Err(Error::InvalidKey(
                "expected 1 to 16 keys, found none: is SEALWAX_KEYS, or the file, empty? `sealwax keygen`, \
                 `npx sealwax keygen` or `python -m sealwax keygen` makes a key"
                    .into(),
            ));
        }
        if keys.len() > MAX_KEYS {
            return Err(Error::InvalidKey(
                "expected at most 16 keys in a ring: remove retired ones".into(),
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

impl From<Key> for KeyRing {
    fn from(key: Key) -> Self {
        Self(vec![key])
    }
}

impl FromStr for KeyRing {
    type Err = Error;

    /// Reads key texts separated by commas or white space. `#` and what follows in its line is a comment. Lines end
    /// with LF or CR LF, and there is no byte order mark.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::read_lines(text, |_, _| {})
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ids()).finish()
    }
}
