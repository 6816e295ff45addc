//! The contents of an opened token.

use sealwax::Opened;

use crate::shared::Writer;

/// Writes three times in Unix seconds, as doubles, where an absent expiry is `NaN`; the generation,
/// in 4 bytes; whether it needs a newer key, and whether to renew it, in 2 each; the token's id, in
/// 16; and the payload. Numbers are little-endian. Times are exact: a token that opens was issued
/// in our time, far below 2⁵³.
#[expect(clippy::cast_precision_loss, reason = "Unix seconds")]
pub fn put<K>(opened: &Opened<K>, writer: &mut Writer<'_>) {
    let expires_at = opened.expires_at().map_or(f64::NAN, |at| at as f64);
    writer.put(&(opened.issued_at() as f64).to_le_bytes());
    writer.put(&expires_at.to_le_bytes());
    writer.put(&(opened.started_at() as f64).to_le_bytes());
    writer.put(&opened.generation().to_le_bytes());
    writer.put(&u16::from(opened.needs_reseal()).to_le_bytes());
    writer.put(&u16::from(opened.needs_renewal()).to_le_bytes());
    writer.put(opened.token_id().as_bytes());
    writer.put(opened.payload());
}
