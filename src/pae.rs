//! Pre-authentication encoding: several byte strings as one, so that no two lists of them
//! come out the same and a field can never lend its end to the next one's beginning
//! (the encoding of PASETO, <https://github.com/paseto-standard/paseto-spec>, "PAE Definition").

/// Feeds `LE64(n) ‖ LE64(len p1) ‖ p1 ‖ …` to `sink`.
pub(crate) fn pae(pieces: &[&[u8]], mut sink: impl FnMut(&[u8])) {
    sink(&(pieces.len() as u64).to_le_bytes());
    for piece in pieces {
        sink(&(piece.len() as u64).to_le_bytes());
        sink(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::pae;
    use alloc::vec::Vec;

    fn encoded(pieces: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        pae(pieces, |bytes| out.extend_from_slice(bytes));
        out
    }

    #[test]
    fn counts_and_lengths_are_64_bits_little_endian() {
        assert_eq!(encoded(&[]), [0; 8]);
        assert_eq!(
            encoded(&[b"ab", b""]),
            b"\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0ab\0\0\0\0\0\0\0\0"
        );
    }

    #[test]
    fn no_field_lends_its_end_to_the_next() {
        assert_ne!(encoded(&[b"ab", b"c"]), encoded(&[b"a", b"bc"]));
    }
}
