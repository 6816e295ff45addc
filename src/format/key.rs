//! A secret, the keys derived from it, and its text form.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::base64url;
use super::bytes::leading;
use super::cipher::Cipher;
use super::error::Error;
use super::key_id::KeyId;
use super::pae::pae;
use super::wipe;

pub(crate) const PREFIX: &str = "swk1_";
/// The length of a generated secret in bytes; an imported one may be longer.
pub(crate) const SECRET_LEN: usize = 32;
const CHECKSUM_LEN: usize = 4;
const TEXT_LEN: usize = 53;
const NOT_A_KEY: Error = Error::InvalidKey(std::borrow::Cow::Borrowed(
    "expected a key text: swk1_ and 48 characters, from `sealwax keygen`, `npx sealwax keygen` or \
     `python -m sealwax keygen`. Another secret belongs in SEALWAX_SECRET, or in Key.derive",
));

/// A secret and the keys derived from it (SPEC.md, "Keys").
///
/// It is wiped when its last clone is dropped, never printed, and compared in constant time.
///
/// ```
/// use sealwax::Key;
///
/// let key = Key::generate()?;
/// let text = key.to_text().expect("a generated key has a text form");
/// assert_eq!(text.parse::<Key>()?, key);
/// assert_eq!(format!("{key:?}"), format!("Key({})", key.id()));
/// # Ok::<(), sealwax::Error>(())
/// ```
// Shared, so that neither moving nor cloning a key leaves a copy of it behind.
#[derive(Clone)]
pub struct Key(Arc<Derived>);

struct Derived {
    secret: Zeroizing<Vec<u8>>,
    id: KeyId,
    cipher: Cipher,
    id_mac: Hmac<Sha256>,
    principal_mac: Hmac<Sha256>,
}

impl Derived {
    fn of(secret: &[u8]) -> Self {
        let prk = extract(b"sealwax/v1", secret);
        Self {
            secret: Zeroizing::new(secret.to_vec()),
            id: KeyId(*expand(&prk, b"kid")),
            cipher: Cipher::new(&expand(&prk, b"seal")),
            id_mac: keyed(&*expand::<32>(&prk, b"id")),
            principal_mac: keyed(&*expand::<32>(&prk, b"principal")),
        }
    }
}

impl Key {
    /// Derives a key from a secret that is there: a generated text of 32 characters and more, such as a framework's
    /// `SECRET_KEY`, 64 hexadecimal digits or 44 characters of base64 (SPEC.md, "Keys"). The text is never decoded. Never
    /// a passphrase: whoever has one token can guess it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] for fewer than 32 characters, white space, U+FFFD, one character repeated, and the
    /// text of a key.
    ///
    /// ```
    /// use sealwax::Key;
    ///
    /// let key = Key::derive("c2VjcmV0IHRleHQgdGhhdCBpcyBnZW5lcmF0ZWQ")?;
    /// assert_eq!(key.id().to_string(), "cbeb7d73");
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    pub fn derive(secret: &str) -> Result<Self, Error> {
        wipe::stack_after(|| derived(secret))
    }

    /// Imports an existing secret: 32 random bytes or more, never a passphrase.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] for fewer than 32 bytes, one byte repeated, and printable ASCII alone.
    pub fn from_secret(secret: &[u8]) -> Result<Self, Error> {
        let text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
        let guessed = secret.iter().all(text) || secret.iter().all(|&byte| byte == secret[0]);
        if guessed || secret.len() < SECRET_LEN {
            let expected = "expected a secret of 32 random bytes or more, neither printable text (which \
                            Key.derive takes) nor one byte repeated";
            let problem = format!("{expected}; found {} bytes", secret.len());
            return Err(Error::InvalidKey(problem.into()));
        }
        Ok(wipe::stack_after(|| Self(Arc::new(Derived::of(secret)))))
    }

    /// Returns the key's public id.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.0.id
    }

    /// Returns the text to keep in `SEALWAX_KEYS`: as secret as the key itself.
    ///
    /// `None` for an imported secret of more than 32 bytes, which has no text form.
    #[must_use]
    pub fn to_text(&self) -> Option<Zeroizing<String>> {
        let secret = &self.0.secret;
        (secret.len() == SECRET_LEN).then(|| wipe::stack_after(|| to_text(secret)))
    }

    pub(crate) fn cipher(&self) -> &Cipher {
        &self.0.cipher
    }

    /// Computes HMAC-SHA-256 under the `id` key.
    pub(crate) fn id_mac(&self, pieces: &[&[u8]]) -> [u8; 32] {
        wipe::stack_after(|| mac(&self.0.id_mac, |sink| pae(pieces, sink)))
    }

    /// Computes HMAC-SHA-256 under the `principal` key.
    pub(crate) fn principal_mac(&self, pieces: &[&[u8]]) -> [u8; 32] {
        wipe::stack_after(|| mac(&self.0.principal_mac, |sink| pae(pieces, sink)))
    }
}

impl FromStr for Key {
    type Err = Error;

    /// Reads a key text; the checksum tells a mistyped key from a wrong one.
    fn from_str(text: &str) -> Result<Self, Error> {
        wipe::stack_after(|| from_text(text))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.0.secret.ct_eq(&other.0.secret).into()
    }
}

impl Eq for Key {}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id())
    }
}

fn to_text(secret: &[u8]) -> Zeroizing<String> {
    let mut bytes = Zeroizing::new([0; SECRET_LEN + CHECKSUM_LEN]);
    bytes[..SECRET_LEN].copy_from_slice(secret);
    bytes[SECRET_LEN..].copy_from_slice(&checksum(secret));
    // Allocated in full: growing would leave an unwiped copy behind.
    let mut text = Zeroizing::new(String::with_capacity(TEXT_LEN));
    text.push_str(PREFIX);
    base64url::append(bytes.as_ref(), &mut text);
    text
}

fn from_text(text: &str) -> Result<Key, Error> {
    if text.len() != TEXT_LEN {
        return Err(NOT_A_KEY);
    }
    let body = text.strip_prefix(PREFIX).ok_or(NOT_A_KEY)?;
    let mut bytes = Zeroizing::new([0; SECRET_LEN + CHECKSUM_LEN]);
    if !base64url::decode_into(body, bytes.as_mut()) {
        return Err(NOT_A_KEY);
    }
    let (secret, sum) = bytes.split_at(SECRET_LEN);
    if !bool::from(sum.ct_eq(&checksum(secret))) {
        return Err(Error::InvalidKey(
            "expected a key text whose checksum matches: this one was mistyped or cut".into(),
        ));
    }
    Key::from_secret(secret)
}

fn derived(secret: &str) -> Result<Key, Error> {
    let first = secret.chars().next();
    let problem = if secret.starts_with(PREFIX) {
        "the text of a key, which belongs in SEALWAX_KEYS"
    } else if secret.contains(char::is_whitespace) {
        "white space: is it at the end?"
    } else if secret.chars().all(|next| Some(next) == first) {
        "none, or one character repeated"
    } else if secret.contains(char::REPLACEMENT_CHARACTER) {
        "U+FFFD, which stands for bytes that were no UTF-8, so that other secrets would give this key; for Java, set \
         LC_ALL=C.UTF-8"
    } else if secret.chars().nth(SECRET_LEN - 1).is_none() {
        "fewer"
    } else {
        let prk = extract(b"sealwax/v1/secret", secret.as_bytes());
        return Key::from_secret(&*expand::<SECRET_LEN>(&prk, b"key"));
    };
    let expected = "expected a secret of 32 characters or more, generated, without white space";
    Err(Error::InvalidKey(
        format!("{expected}; found {problem}").into(),
    ))
}

fn extract(salt: &[u8], secret: &[u8]) -> Hkdf<Sha256> {
    Hkdf::new(Some(salt), secret)
}

fn expand<const N: usize>(prk: &Hkdf<Sha256>, info: &[u8]) -> Zeroizing<[u8; N]> {
    let mut out = Zeroizing::new([0; N]);
    let expanded = prk.expand(info, out.as_mut());
    #[expect(clippy::expect_used, reason = "HKDF gives 8,160 bytes")]
    expanded.expect("N is in HKDF's range");
    out
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
    Hmac::new_from_slice(key).expect("any length is a key")
}

fn mac(keyed: &Hmac<Sha256>, feed: impl FnOnce(&mut dyn FnMut(&[u8]))) -> [u8; 32] {
    let mut mac = keyed.clone();
    feed(&mut |bytes| mac.update(bytes));
    mac.finalize().into_bytes().into()
}

fn checksum(secret: &[u8]) -> [u8; CHECKSUM_LEN] {
    let digest = Sha256::new_with_prefix(b"sealwax/v1/key").chain_update(secret);
    leading(&digest.finalize())
}

/// Project Wycheproof's vectors of HMAC-SHA-256 and HKDF-SHA-256, through the functions above.
#[cfg(test)]
mod wycheproof {
    #![allow(clippy::unwrap_used)]

    use wycheproof::TestResult;
    use wycheproof::{hkdf, mac};

    use super::{expand, extract, keyed};

    #[test]
    fn hmac() {
        let set = mac::TestSet::load(mac::TestName::HmacSha256).unwrap();
        let (mut valid, mut invalid) = (0, 0);
        for test in set.test_groups.iter().flat_map(|group| &group.tests) {
            let keyed = keyed(&test.key);
            // In two pieces, as PAE gives it many.
            let (begin, end) = test.msg.split_at(test.msg.len() / 2);
            let found = super::mac(&keyed, |sink| {
                sink(begin);
                sink(end);
            });
            // A MAC of 128 bits is the first half of one of 256, as in SPEC.md.
            let is_equal = found[..test.tag.len()] == test.tag[..];
            assert_eq!(is_equal, test.result == TestResult::Valid, "{}", test.tc_id);
            *(if is_equal { &mut valid } else { &mut invalid }) += 1;
        }
        assert_eq!((valid, invalid, set.number_of_tests), (66, 108, 174));
    }

    #[test]
    fn hkdf() {
        let set = hkdf::TestSet::load(hkdf::TestName::HkdfSha256).unwrap();
        let (mut valid, mut beyond) = (0, 0);
        for test in set.test_groups.iter().flat_map(|group| &group.tests) {
            let prk = extract(&test.salt, &test.ikm);
            // Our types fix the length, so each length of the vectors is a call of its own.
            macro_rules! expand {
                ($($size:literal)*) => {
                    match test.size {
                        $($size => expand::<$size>(&prk, &test.info).to_vec(),)*
                        // Over the limit of HKDF: `expand` panics, for nothing asks for it.
                        8161 => {
                            assert_eq!(test.result, TestResult::Invalid);
                            beyond += 1;
                            continue;
                        }
                        size => panic!("no call for {size}"),
                    }
                };
            }
            let found = expand!(20 32 42 56 64 80 82 128 8160);
            assert_eq!(
                (&found[..], test.result),
                (&test.okm[..], TestResult::Valid)
            );
            valid += 1;
        }
        assert_eq!((valid, beyond, set.number_of_tests), (83, 3, 86));
    }
}
