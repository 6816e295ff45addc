//! All that is secret about one key and one token, in pieces of 16 bytes.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use chacha20::cipher::{KeyIvInit as _, StreamCipher as _};
use chacha20::{ChaCha20, R20, hchacha};
use hkdf::Hkdf;
use sha2::Sha256;
use sha2::block_api::compress256;

const PIECE: usize = 16;

/// What it is a piece of, and the piece.
type Needle = (&'static str, [u8; PIECE]);

pub struct Needles {
    all: Vec<Needle>,
    /// Whether some needle begins with two bytes: most of the memory is passed over by this alone.
    begins: Vec<bool>,
}

impl Needles {
    pub fn of(key_text: &str, token: &str, payload: &[u8]) -> Self {
        let mut all = Vec::new();
        let mut add = |name, bytes: &[u8]| {
            all.extend(bytes.as_chunks().0.iter().map(|piece| (name, *piece)));
        };
        let secret = BASE64_URL_SAFE_NO_PAD.decode(&key_text[5..]).unwrap();
        let secret = &secret[..32];
        add("key text", &key_text.as_bytes()[5..]);
        add("secret", secret);
        let (prk, hkdf) = Hkdf::<Sha256>::extract(Some(b"sealwax/v1"), secret);
        add("prk", &prk);
        add_states(&mut add, ["prk's inner state", "prk's outer state"], &prk);
        let derive = |info: &str| {
            let mut key = [0; 32];
            hkdf.expand(info.as_bytes(), &mut key).unwrap();
            key
        };
        let [seal, id, principal] = ["seal", "id", "principal"].map(derive);
        add("seal", &seal);
        add("id", &id);
        add_states(&mut add, ["id's inner state", "id's outer state"], &id);
        add("principal", &principal);
        let names = ["principal's inner state", "principal's outer state"];
        add_states(&mut add, names, &principal);

        let token = BASE64_URL_SAFE_NO_PAD.decode(&token[4..]).unwrap();
        let nonce: [u8; 24] = token[5..29].try_into().unwrap();
        let start: [u8; 16] = nonce[..16].try_into().unwrap();
        let subkey = hchacha::<R20>(&seal.into(), &start.into());
        add("token's subkey", &subkey);
        let mut rest = [0; 12];
        rest[4..].copy_from_slice(&nonce[16..]);
        let mut stream = vec![0; 64 + payload.len()];
        ChaCha20::new(&subkey, &rest.into()).apply_keystream(&mut stream);
        add("token's MAC key", &stream[..32]);
        add("token's key stream", &stream[64..]);
        add("payload", payload);

        let mut begins = vec![false; 1 << 16];
        for (_, piece) in &all {
            begins[usize::from(u16::from_le_bytes([piece[0], piece[1]]))] = true;
        }
        Self { all, begins }
    }

    /// Adds the names of what some bytes hold.
    pub fn find(&self, bytes: &[u8], found: &mut Vec<&'static str>) {
        for at in 0..bytes.len().saturating_sub(PIECE - 1) {
            if !self.begins[usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))] {
                continue;
            }
            for (name, piece) in &self.all {
                if bytes[at..].starts_with(piece) && !found.contains(name) {
                    found.push(name);
                }
            }
        }
    }
}

/// HMAC keeps no key, but the states of SHA-256 after the padded key: as good as the key.
fn add_states(add: &mut impl FnMut(&'static str, &[u8]), names: [&'static str; 2], key: &[u8]) {
    for (name, pad) in names.into_iter().zip([0x36, 0x5c]) {
        let mut block = [pad; 64];
        for (byte, key) in block.iter_mut().zip(key) {
            *byte ^= key;
        }
        let mut state = [
            0x6a09_e667,
            0xbb67_ae85,
            0x3c6e_f372,
            0xa54f_f53a,
            0x510e_527f,
            0x9b05_688c,
            0x1f83_d9ab,
            0x5be0_cd19,
        ];
        compress256(&mut state, &[block]);
        add(name, &state.map(u32::to_ne_bytes).concat());
    }
}
