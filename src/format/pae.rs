//! Pre-authentication encoding: joins byte strings so that no two lists of them give the same
//! bytes, and no byte can move from one field to the next (the encoding of PASETO,
//! <https://github.com/paseto-standard/paseto-spec>, "PAE Definition").

/// Feeds `LE64(n) ‖ LE64(len p1) ‖ p1 ‖ …` to `sink`.
pub(crate) fn pae(pieces: &[&[u8]], mut sink: impl FnMut(&[u8])) {
    sink(&(pieces.len() as u64).to_le_bytes());
    for piece in pieces {
        sink(&(piece.len() as u64).to_le_bytes());
        sink(piece);
    }
}
