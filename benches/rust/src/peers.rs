//! What others do for the same job, and what the job costs at the least.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20::{R20, hchacha};
use chacha20poly1305::aead::AeadInOut as _;
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};
use pasetors::keys::{Generate as _, SymmetricKey};
use pasetors::token::UntrustedToken;
use pasetors::{
    Local,
    version4::{LocalToken, V4},
};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use rmcp::model::{RequestStateCodec, SealOptions};

/// Seals and opens a payload with the same bindings as ours, as far as it has them.
pub trait Peer {
    fn name(&self) -> &'static str;
    fn seal(&self, payload: &[u8]) -> String;
    fn open(&self, token: &str) -> Vec<u8>;
}

/// As long as what ours binds: audience, kind, key id and context with their lengths.
pub const BINDINGS: [u8; 148] = [7; 148];
const TTL: Duration = Duration::from_secs(600);
const KEY: [u8; 32] = [9; 32];

pub struct Rmcp(pub RequestStateCodec);

impl Rmcp {
    pub fn new() -> Self {
        Self(RequestStateCodec::new_with_keyring("k1", [("k1", KEY)]).unwrap())
    }

    pub fn seal_with(&self, payload: &[u8], bindings: &[u8]) -> String {
        self.0.seal_with(
            payload,
            &SealOptions::new().associated_data(bindings).ttl(TTL),
        )
    }
}

impl Peer for Rmcp {
    fn name(&self) -> &'static str {
        "rmcp"
    }
    fn seal(&self, payload: &[u8]) -> String {
        self.seal_with(payload, &BINDINGS)
    }
    fn open(&self, token: &str) -> Vec<u8> {
        self.0.open_with(token, &BINDINGS).unwrap()
    }
}

pub struct Paseto(SymmetricKey<V4>);

impl Paseto {
    pub fn new() -> Self {
        Self(SymmetricKey::generate().unwrap())
    }
}

impl Peer for Paseto {
    fn name(&self) -> &'static str {
        "pasetors"
    }
    fn seal(&self, payload: &[u8]) -> String {
        LocalToken::encrypt(&self.0, payload, None, Some(&BINDINGS)).unwrap()
    }
    fn open(&self, token: &str) -> Vec<u8> {
        let token = UntrustedToken::<Local, V4>::try_from(token).unwrap();
        // Its payload is text; ours is bytes.
        LocalToken::decrypt(&self.0, &token, None, Some(&BINDINGS))
            .unwrap()
            .payload()
            .into()
    }
}

pub struct Fernet(fernet::Fernet);

impl Fernet {
    pub fn new() -> Self {
        Self(fernet::Fernet::new(&fernet::Fernet::generate_key()).unwrap())
    }
}

impl Peer for Fernet {
    fn name(&self) -> &'static str {
        "fernet"
    }
    fn seal(&self, payload: &[u8]) -> String {
        self.0.encrypt(payload)
    }
    fn open(&self, token: &str) -> Vec<u8> {
        self.0.decrypt_with_ttl(token, TTL.as_secs()).unwrap()
    }
}

pub struct Branca;

impl Peer for Branca {
    fn name(&self) -> &'static str {
        "branca"
    }
    fn seal(&self, payload: &[u8]) -> String {
        branca::encode(payload, &KEY, u32::MAX / 2).unwrap()
    }
    fn open(&self, token: &str) -> Vec<u8> {
        branca::decode(token, &KEY, 0).unwrap()
    }
}

/// Beside the payload, what the AEAD of ours works on: a principal tag and claims.
const CLAIMS: usize = 25;

/// One getrandom, the bare AEAD over as many bytes and as much associated data, one base64.
pub struct FloorRustCrypto(XChaCha20Poly1305);

impl FloorRustCrypto {
    pub fn new() -> Self {
        Self(XChaCha20Poly1305::new(&KEY.into()))
    }
}

impl Peer for FloorRustCrypto {
    fn name(&self) -> &'static str {
        "floor-rustcrypto"
    }
    fn seal(&self, payload: &[u8]) -> String {
        let mut token = vec![0; 24 + CLAIMS];
        getrandom::fill(&mut token[..24]).unwrap();
        token.extend_from_slice(payload);
        let (nonce, body) = token.split_at_mut(24);
        let nonce: [u8; 24] = (&*nonce).try_into().unwrap();
        let tag = self
            .0
            .encrypt_inout_detached(&nonce.into(), &BINDINGS, body.into())
            .unwrap();
        token.extend_from_slice(&tag);
        URL_SAFE_NO_PAD.encode(token)
    }
    fn open(&self, token: &str) -> Vec<u8> {
        let mut token = URL_SAFE_NO_PAD.decode(token).unwrap();
        let end = token.len() - 16;
        let (sealed, tag) = token.split_at_mut(end);
        let (nonce, body) = sealed.split_at_mut(24);
        let nonce: [u8; 24] = (&*nonce).try_into().unwrap();
        let tag: [u8; 16] = (&*tag).try_into().unwrap();
        self.0
            .decrypt_inout_detached(&nonce.into(), &BINDINGS, body.into(), &tag.into())
            .unwrap();
        token.truncate(end);
        token.drain(..24 + CLAIMS);
        token
    }
}

/// The same cipher by ring: HChaCha20 of the nonce's first 16 bytes gives the key.
pub struct FloorRing;

fn xchacha(nonce: &[u8]) -> (LessSafeKey, Nonce) {
    let input: [u8; 16] = nonce[..16].try_into().unwrap();
    let subkey = hchacha::<R20>(&KEY.into(), &input.into());
    let mut rest = [0; 12];
    rest[4..].copy_from_slice(&nonce[16..24]);
    let key = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &subkey).unwrap());
    (key, Nonce::assume_unique_for_key(rest))
}

impl Peer for FloorRing {
    fn name(&self) -> &'static str {
        "floor-ring"
    }
    fn seal(&self, payload: &[u8]) -> String {
        let mut token = vec![0; 24 + CLAIMS];
        getrandom::fill(&mut token[..24]).unwrap();
        token.extend_from_slice(payload);
        let (random, body) = token.split_at_mut(24);
        let (key, nonce) = xchacha(random);
        let tag = key
            .seal_in_place_separate_tag(nonce, Aad::from(BINDINGS), body)
            .unwrap();
        token.extend_from_slice(tag.as_ref());
        URL_SAFE_NO_PAD.encode(token)
    }
    fn open(&self, token: &str) -> Vec<u8> {
        let mut token = URL_SAFE_NO_PAD.decode(token).unwrap();
        let (random, body) = token.split_at_mut(24);
        let (key, nonce) = xchacha(random);
        key.open_in_place(nonce, Aad::from(BINDINGS), body).unwrap();
        let end = token.len() - 16;
        token.truncate(end);
        token.drain(..24 + CLAIMS);
        token
    }
}
