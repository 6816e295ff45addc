//! What an opened token tells.

use sealwax::Opened;

use crate::shared::Left;

/// Leaves three times in Unix seconds, as doubles, of which that of expiry is `NaN` for none; the
/// generation, in 4 bytes; whether it needs to be sealed by a newer key, and whether to be renewed, in
/// 2 each; the token's id, in 16; and the payload. Numbers are little-endian. Times are exact: what
/// opens was issued in our own time, far below 2⁵³.
#[expect(clippy::cast_precision_loss, reason = "Unix seconds")]
pub fn put<K>(opened: &Opened<K>, left: &mut Left<'_>) {
    let expires_at = opened.expires_at().map_or(f64::NAN, |at| at as f64);
    left.put(&(opened.issued_at() as f64).to_le_bytes());
    left.put(&expires_at.to_le_bytes());
    left.put(&(opened.started_at() as f64).to_le_bytes());
    left.put(&opened.generation().to_le_bytes());
    left.put(&u16::from(opened.needs_reseal()).to_le_bytes());
    left.put(&u16::from(opened.needs_renewal()).to_le_bytes());
    left.put(opened.token_id().as_bytes());
    left.put(opened.payload());
}
