//! The base32 of SPEC.md, section 2, bit by bit: shares no code with the codec's.

const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

fn bits(bytes: impl IntoIterator<Item = u8>, width: u8) -> Vec<u8> {
    let of = |byte: u8| (0..width).rev().map(move |bit| byte >> bit & 1);
    bytes.into_iter().flat_map(of).collect()
}

fn number(bits: &[u8]) -> u8 {
    bits.iter().fold(0, |value, bit| value << 1 | bit)
}

pub fn encode(bytes: &[u8]) -> String {
    let mut bits = bits(bytes.iter().copied(), 8);
    bits.resize(bits.len().next_multiple_of(5), 0);
    let letters = bits
        .chunks(5)
        .map(|five| LETTERS[usize::from(number(five))]);
    letters.map(char::from).collect()
}

pub fn decode(text: &str) -> Vec<u8> {
    let values = text.bytes().map(|letter| {
        let mut all = (0u8..).zip(LETTERS);
        all.find(|(_, known)| **known == letter).unwrap().0
    });
    bits(values, 5).chunks_exact(8).map(number).collect()
}
