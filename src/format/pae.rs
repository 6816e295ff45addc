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
