//! ChaCha20 (RFC 8439) by the vector instructions of WebAssembly, four blocks at once.
//!
//! This is the only cipher of our own: no maintained crate provides ChaCha20 with WebAssembly SIMD.
//! Each vector holds one word of the state for four consecutive blocks. There is no table and no
//! branch on anything secret.

use core::arch::wasm32::{
    i8x16_shuffle, i32x4_shuffle, i64x2_shuffle, u32x4, u32x4_add, u32x4_shl, u32x4_shr,
    u32x4_splat, u64x2_extract_lane, v128, v128_or, v128_xor,
};

use zeroize::{Zeroize as _, Zeroizing};

const BLOCK: usize = 64;
const ROUNDS: usize = 20;
/// "expand 32-byte k"
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Four blocks of the key stream, as pieces of 16 bytes.
type Blocks = [[u64; 2]; 16];

/// The key stream under one key and nonce, from its start.
pub(super) struct ChaCha20 {
    /// Constants, key, counter and nonce.
    input: Zeroizing<[u32; 16]>,
    first: Zeroizing<Blocks>,
}

impl ChaCha20 {
    /// Takes the last 8 of the nonce's 12 bytes: in XChaCha20 the first 4 are zeros.
    pub(super) fn new(key: &[u8; 32], nonce: &[u8; 8]) -> Self {
        let mut input = Zeroizing::new([0; 16]);
        input[..4].copy_from_slice(&CONSTANTS);
        for (word, bytes) in input[4..12].iter_mut().zip(key.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        for (word, bytes) in input[14..].iter_mut().zip(nonce.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let first = Zeroizing::new(blocks(&input));
        Self { input, first }
    }

    /// Returns the key for Poly1305: the first half of block 0 (RFC 8439, section 2.6).
    pub(super) fn mac_key(&self) -> Zeroizing<[u8; 32]> {
        let mut key = Zeroizing::new([0; 32]);
        for (bytes, word) in key
            .as_chunks_mut()
            .0
            .iter_mut()
            .zip(self.first.as_flattened())
        {
            *bytes = word.to_le_bytes();
        }
        key
    }

    /// Encrypts or decrypts a body with the key stream after block 0 (RFC 8439, section 2.8).
    pub(super) fn apply(mut self, body: &mut [u8]) {
        let (begin, rest) = body.split_at_mut(body.len().min(3 * BLOCK));
        xor(begin, &self.first[4..]);
        for four in rest.chunks_mut(4 * BLOCK) {
            self.input[12] = self.input[12].wrapping_add(4);
            let mut blocks = blocks(&self.input);
            xor(four, &blocks);
            blocks.zeroize();
        }
    }
}

/// `stream` is at least as long as the data.
fn xor(data: &mut [u8], stream: &[[u64; 2]]) {
    let mut stream = stream.as_flattened().iter();
    let (whole, rest) = data.as_chunks_mut();
    for (bytes, key) in whole.iter_mut().zip(&mut stream) {
        *bytes = (u64::from_le_bytes(*bytes) ^ key).to_le_bytes();
    }
    if let Some(key) = stream.next() {
        for (byte, key) in rest.iter_mut().zip(key.to_le_bytes()) {
            *byte ^= key;
        }
    }
}

/// Computes four blocks from the counter in `input` on (RFC 8439, section 2.3).
fn blocks(input: &[u32; 16]) -> Blocks {
    let mut start = input.map(|word| u32x4_splat(word));
    start[12] = u32x4_add(start[12], u32x4(0, 1, 2, 3));
    let mut words = start;
    for _ in 0..ROUNDS / 2 {
        // Unrolled by hand: a loop over the indices would keep the words in memory.
        quarter(&mut words, 0, 4, 8, 12);
        quarter(&mut words, 1, 5, 9, 13);
        quarter(&mut words, 2, 6, 10, 14);
        quarter(&mut words, 3, 7, 11, 15);
        quarter(&mut words, 0, 5, 10, 15);
        quarter(&mut words, 1, 6, 11, 12);
        quarter(&mut words, 2, 7, 8, 13);
        quarter(&mut words, 3, 4, 9, 14);
    }
    let mut out = [[0; 2]; 16];
    for row in 0..4 {
        let at = |word: usize| u32x4_add(words[4 * row + word], start[4 * row + word]);
        let by_block = transpose([at(0), at(1), at(2), at(3)]);
        for (block, piece) in by_block.into_iter().enumerate() {
            out[4 * block + row] = [
                u64x2_extract_lane::<0>(piece),
                u64x2_extract_lane::<1>(piece),
            ];
        }
    }
    out
}

/// The quarter round (RFC 8439, section 2.1).
#[inline(always)]
fn quarter(words: &mut [v128; 16], a: usize, b: usize, c: usize, d: usize) {
    words[a] = u32x4_add(words[a], words[b]);
    words[d] = rotate_16(v128_xor(words[d], words[a]));
    words[c] = u32x4_add(words[c], words[d]);
    words[b] = rotate::<12, 20>(v128_xor(words[b], words[c]));
    words[a] = u32x4_add(words[a], words[b]);
    words[d] = rotate_8(v128_xor(words[d], words[a]));
    words[c] = u32x4_add(words[c], words[d]);
    words[b] = rotate::<7, 25>(v128_xor(words[b], words[c]));
}

#[inline(always)]
fn rotate<const LEFT: u32, const RIGHT: u32>(words: v128) -> v128 {
    v128_or(u32x4_shl(words, LEFT), u32x4_shr(words, RIGHT))
}

/// Rotates by whole bytes with one instruction.
#[inline(always)]
fn rotate_16(words: v128) -> v128 {
    i8x16_shuffle::<2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13>(words, words)
}

#[inline(always)]
fn rotate_8(words: v128) -> v128 {
    i8x16_shuffle::<3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14>(words, words)
}

/// Turns four words of each of four blocks into four blocks of four words.
#[inline(always)]
fn transpose([a, b, c, d]: [v128; 4]) -> [v128; 4] {
    let (ab_low, ab_high) = (
        i32x4_shuffle::<0, 4, 1, 5>(a, b),
        i32x4_shuffle::<2, 6, 3, 7>(a, b),
    );
    let (cd_low, cd_high) = (
        i32x4_shuffle::<0, 4, 1, 5>(c, d),
        i32x4_shuffle::<2, 6, 3, 7>(c, d),
    );
    [
        i64x2_shuffle::<0, 2>(ab_low, cd_low),
        i64x2_shuffle::<1, 3>(ab_low, cd_low),
        i64x2_shuffle::<0, 2>(ab_high, cd_high),
        i64x2_shuffle::<1, 3>(ab_high, cd_high),
    ]
}

/// Compares with RustCrypto's (`make test-wasm`).
#[cfg(test)]
mod tests {
    #![allow(clippy::cast_possible_truncation, clippy::unwrap_used)]

    use chacha20poly1305::aead::AeadInOut as _;
    use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};
    use proptest::prelude::*;

    use super::super::Cipher;
    use super::ChaCha20;

    /// Seals by both, opens again, and returns the tag.
    fn seal(key: &[u8; 32], nonce: &[u8; 24], aad: &[u8], body: &[u8]) -> [u8; 16] {
        let (mut found, mut expected) = (body.to_vec(), body.to_vec());
        let ours = Cipher::new(key);
        let tag = ours.seal(nonce, aad, &mut found);
        let theirs = XChaCha20Poly1305::new(key.into());
        let their_tag =
            theirs.encrypt_inout_detached(nonce.into(), aad, expected[..].as_mut().into());
        assert_eq!((&found, tag), (&expected, their_tag.unwrap().into()));

        let mut opened = found.clone();
        ours.open(nonce, aad, &mut opened, &tag).unwrap();
        assert_eq!(opened, body);
        let mut wrong = tag;
        wrong[15] ^= 1;
        let mut untouched = found.clone();
        assert!(ours.open(nonce, aad, &mut untouched, &wrong).is_err());
        assert_eq!(untouched, found);
        tag
    }

    /// RFC 8439, section 2.4.2: its nonce begins with four zeros, and its counter at 1.
    #[test]
    fn the_rfc() {
        let key: [u8; 32] = std::array::from_fn(|at| at as u8);
        let mut text = *b"Ladies and Gentlemen of the class of '99: If I could offer you \
            only one tip for the future, sunscreen would be it.";
        ChaCha20::new(&key, &[0, 0, 0, 0x4a, 0, 0, 0, 0]).apply(&mut text);
        assert_eq!(text[..8], [0x6e, 0x2e, 0x35, 0x9a, 0x25, 0x68, 0xf9, 0x80]);
        assert_eq!(text[110..], [0x5e, 0x42, 0x87, 0x4d]);
    }

    /// draft-irtf-cfrg-xchacha-03, appendix A.3.1.
    #[test]
    fn the_draft() {
        let key: [u8; 32] = std::array::from_fn(|at| 0x80 + at as u8);
        let nonce: [u8; 24] = std::array::from_fn(|at| 0x40 + at as u8);
        let aad = [
            0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
        ];
        let text = b"Ladies and Gentlemen of the class of '99: If I could offer you \
            only one tip for the future, sunscreen would be it.";
        let tag = seal(&key, &nonce, &aad, text);
        let expected = 0xc087_5924_c1c7_9879_47de_afd8_780a_cf49_u128;
        assert_eq!(tag, expected.to_be_bytes());
    }

    #[test]
    fn every_length() {
        let (key, nonce) = ([7; 32], [9; 24]);
        let body: Vec<u8> = (0..1600_u32).map(|at| (at * 31 % 251) as u8).collect();
        for length in 0..=body.len() {
            seal(&key, &nonce, &body[..length % 70], &body[..length]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_length(
            key: [u8; 32],
            nonce: [u8; 24],
            aad in proptest::collection::vec(any::<u8>(), 0..200),
            length in 0..=1_usize << 20,
            seed: u8,
        ) {
            let body: Vec<u8> = (0..length).map(|at| (at as u8).wrapping_mul(seed)).collect();
            seal(&key, &nonce, &aad, &body);
        }
    }
}
