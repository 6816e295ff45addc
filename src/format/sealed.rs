//! The bytes of a sealed token: seals it, and opens it with every check in its order (SPEC.md,
//! "Sealed token" and "Opening").

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use super::base64url;
use super::bytes::leading;
use super::cipher::TAG_LEN;
use super::clock::{Clock, earlier};
use super::error::Error;
use super::key::Key;
use super::key_id::KeyId;
use super::pae::pae;
use super::principal_keys::PrincipalKeys;
use super::purpose::{Kind, Purpose};
use super::text::at_most;
use super::wipe::{self, Wiped};

pub(crate) use super::cipher::NONCE_LEN;

const PREFIX: &str = "sw1.";
const HEADER_LEN: usize = 5;
const PRINCIPAL_TAG_LEN: usize = 16;
const BODY: usize = HEADER_LEN + NONCE_LEN;
/// A principal tag and four varints of one byte.
const MIN_CLAIMS_LEN: usize = PRINCIPAL_TAG_LEN + 4;
/// A principal tag, a varint of 64 bits and three of 32.
const MAX_CLAIMS_LEN: usize = PRINCIPAL_TAG_LEN + 10 + 3 * 5;
const MIN_LEN: usize = BODY + MIN_CLAIMS_LEN + TAG_LEN;
/// The most that a token holds besides its payload.
const MAX_OVERHEAD: usize = BODY + MAX_CLAIMS_LEN + TAG_LEN;

/// The first 16 bytes of a token's nonce: unique, and independent of its spelling.
pub(crate) const TOKEN_ID_LEN: usize = 16;

/// The claims that follow the principal tag, as postcard varints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// Unix seconds.
    pub issued_at: u64,
    /// Seconds; 0 for no expiry.
    pub ttl: u32,
    /// Seconds from the session's start to `issued_at`.
    pub age: u32,
    /// The number of renewals.
    pub generation: u32,
}

impl Claims {
    pub fn started_at(&self) -> u64 {
        self.issued_at.saturating_sub(self.age.into())
    }

    pub fn expires_at(&self) -> Option<u64> {
        (self.ttl != 0).then(|| self.issued_at.saturating_add(self.ttl.into()))
    }
}

/// The contents of a token.
pub(crate) struct Contents {
    pub claims: Claims,
    payload: Payload,
    pub key_id: KeyId,
    pub token_id: [u8; TOKEN_ID_LEN],
    pub needs_reseal: bool,
}

/// The end of a token that was decrypted in place.
struct Payload {
    token: Wiped,
    start: usize,
}

impl Contents {
    pub fn payload(&self) -> &[u8] {
        &self.payload.token.bytes()[self.payload.start..]
    }

    pub fn into_payload(self) -> Vec<u8> {
        self.payload.token.take_from(self.payload.start)
    }
}

/// Returns the most characters of a token with a payload of `payload` bytes.
pub(crate) fn max_text_len(payload: usize) -> usize {
    PREFIX.len() + (4 * (MAX_OVERHEAD + payload)).div_ceil(3)
}

/// Seals a payload of at most `limit` bytes. A nonce must be fresh randomness, never reused.
pub(crate) fn seal(
    keys: PrincipalKeys<'_>,
    purpose: &Purpose<'_>,
    claims: &Claims,
    nonce: &[u8; NONCE_LEN],
    payload: &[u8],
    limit: usize,
) -> Result<String, Error> {
    at_most("payload", payload.len(), limit)?;
    let (key, tag) = keys.sealing();

    // header ‖ nonce ‖ claims ‖ payload ‖ tag: one buffer, encrypted in place.
    let mut token = Vec::with_capacity(MAX_OVERHEAD + payload.len());
    token.push(purpose.kind as u8);
    token.extend_from_slice(&key.id().0);
    token.extend_from_slice(nonce);
    token.extend_from_slice(tag);
    let mut varints = [0; MAX_CLAIMS_LEN - PRINCIPAL_TAG_LEN];
    #[expect(clippy::expect_used, reason = "the buffer holds the longest claims")]
    let varints = postcard::to_slice(claims, &mut varints).expect("the claims fit");
    token.extend_from_slice(varints);
    token.extend_from_slice(payload);

    let (header, body) = token.split_at_mut(BODY);
    let aad = associated_data(&header[..HEADER_LEN], keys.audience, purpose);
    let tag = wipe::stack_after(|| key.cipher().seal(nonce, &aad, body));
    token.extend_from_slice(&tag);

    let mut text = String::with_capacity(PREFIX.len() + (4 * token.len()).div_ceil(3));
    text.push_str(PREFIX);
    base64url::append(&token, &mut text);
    Ok(text)
}

/// Opens a token whose payload has at most `limit` bytes. With `max_age` in seconds, a token whose
/// session began longer ago has expired.
pub(crate) fn open(
    keys: PrincipalKeys<'_>,
    purpose: &Purpose<'_>,
    text: &str,
    limit: usize,
    clock: &Clock,
    max_age: Option<u64>,
) -> Result<Contents, Error> {
    at_most("token", text.len(), max_text_len(limit))?;
    let mut token = Wiped::new(decode(text)?);
    let (kind, key_id) = parse_header(token.bytes())?;
    if kind != purpose.kind {
        return Err(Error::WrongPurpose {
            expected: format!("a token of kind {}", purpose.kind),
            found: format!("one of kind {kind}"),
        });
    }
    let (at, key, expected_tag) = keys.opening(key_id)?;
    let sealed_len = decrypt(key, keys.audience, purpose, token.bytes_mut())?;
    token.truncate(sealed_len);

    // The bytes are authentic; none is returned before the remaining checks.
    let header = &token.bytes()[..BODY];
    let body = &token.bytes()[BODY..];
    let (tag, rest) = body.split_at(PRINCIPAL_TAG_LEN);
    if !bool::from(tag.ct_eq(expected_tag)) {
        return Err(Error::PrincipalMismatch);
    }
    let (claims, payload) = postcard::take_from_bytes::<Claims>(rest)
        .map_err(|_| Error::Malformed("claims as version 1 writes them"))?;
    at_most("payload", payload.len(), limit)?;
    let ends = earlier(
        claims.expires_at(),
        max_age.map(|age| claims.started_at().saturating_add(age)),
    );
    clock.check(1, claims.issued_at, ends)?;

    let token_id = token_id(&leading(&header[HEADER_LEN..]));
    let start = sealed_len - payload.len();
    Ok(Contents {
        claims,
        payload: Payload { token, start },
        key_id,
        token_id,
        needs_reseal: at > 0,
    })
}

/// Returns the id of the token that is sealed under a nonce.
pub(crate) fn token_id(nonce: &[u8; NONCE_LEN]) -> [u8; TOKEN_ID_LEN] {
    leading(nonce)
}

/// Reads the parts that need no key: the kind, the key's id and the token's.
pub(crate) fn header(text: &str) -> Result<(Kind, KeyId, [u8; TOKEN_ID_LEN]), Error> {
    let token = decode(text)?;
    let (kind, key_id) = parse_header(&token)?;
    Ok((kind, key_id, leading(&token[HEADER_LEN..])))
}

/// Returns whether a text claims to be a sealed token of any version.
pub(crate) fn is_sealed(text: &str) -> bool {
    text.starts_with(PREFIX) || is_other_version(text)
}

fn decode(text: &str) -> Result<Vec<u8>, Error> {
    let Some(body) = text.strip_prefix(PREFIX) else {
        return Err(if is_other_version(text) {
            Error::Unsupported("the version of the token")
        } else {
            Error::Malformed("a sealed token, which begins with sw1.")
        });
    };
    match base64url::decode(body) {
        Some(token) if token.len() >= MIN_LEN => Ok(token),
        Some(_) => Err(Error::Malformed("a sealed token of 65 bytes or more")),
        None => Err(Error::Malformed(
            "base64url without padding, in its one spelling",
        )),
    }
}

/// Recognizes `sw`, digits, `.`
fn is_other_version(text: &str) -> bool {
    let digits = text
        .strip_prefix("sw")
        .and_then(|rest| rest.split_once('.'));
    digits
        .is_some_and(|(digits, _)| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn parse_header(token: &[u8]) -> Result<(Kind, KeyId), Error> {
    let kind = Kind::from_byte(token[0]).ok_or(Error::Unsupported("the kind of the token"))?;
    Ok((kind, KeyId(leading(&token[1..]))))
}

/// Decrypts `token` in place, and returns where the authentication tag begins.
fn decrypt(
    key: &Key,
    audience: &str,
    purpose: &Purpose<'_>,
    token: &mut [u8],
) -> Result<usize, Error> {
    let sealed_len = token.len() - TAG_LEN;
    let (sealed, tag) = token.split_at_mut(sealed_len);
    let tag: [u8; TAG_LEN] = leading(tag);
    let (header, body) = sealed.split_at_mut(BODY);
    let (header, nonce) = header.split_at(HEADER_LEN);
    let nonce: [u8; NONCE_LEN] = leading(nonce);
    let aad = associated_data(header, audience, purpose);
    wipe::stack_after(|| key.cipher().open(&nonce, &aad, body, &tag))?;
    Ok(sealed_len)
}

fn associated_data(header: &[u8], audience: &str, purpose: &Purpose<'_>) -> Vec<u8> {
    let fields = [
        PREFIX.as_bytes(),
        header,
        audience.as_bytes(),
        purpose.label.as_bytes(),
        purpose.session_id.as_bytes(),
        purpose.context,
    ];
    let mut aad = Vec::with_capacity(8 + fields.iter().map(|field| 8 + field.len()).sum::<usize>());
    pae(&fields, |bytes| aad.extend_from_slice(bytes));
    aad
}
