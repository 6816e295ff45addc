//! Times and ids as texts.

use crate::ledger::{CEILING, LARGEST_CLOCK_TOLERANCE};
use sealwax::{Inspected, inspect};

/// Returns the time from which a token that ends at `end` opens nowhere, in Unix seconds.
pub(crate) fn until(end: Option<u64>) -> Option<u64> {
    end.map(|end| end.saturating_add(LARGEST_CLOCK_TOLERANCE))
}

/// Returns the time until which the ledger remembers what it is told of a token: `until`, if the
/// token has an end of its own, and else the end of the longest life. A maximum age is not looked
/// at, or a larger one would revive what ended.
pub(crate) fn remembered(until: Option<u64>, started_at: u64) -> u64 {
    let longest = started_at.saturating_add(CEILING.as_secs() + LARGEST_CLOCK_TOLERANCE);
    until.map_or(longest, |until| until.min(longest))
}

pub(crate) fn hex(ulid: &[u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(*ulid))
}

/// Returns a time as RFC 3339 writes it.
pub(crate) fn rfc3339(unix_seconds: u64) -> Option<String> {
    let seconds = i64::try_from(unix_seconds).ok()?;
    jiff::Timestamp::from_second(seconds)
        .ok()
        .map(|time| time.to_string())
}

/// Returns the id that a text claims, if it is a sealed token.
#[must_use]
pub fn token_id(text: &str) -> Option<String> {
    match inspect(text) {
        Ok(Inspected::Token { token_id, .. }) => Some(token_id.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::remembered;

    #[test]
    fn what_has_no_end_is_remembered_for_the_longest_life_on_the_latest_clock() {
        assert_eq!(remembered(None, 7), 7 + 400 * 86_400 + 300);
        assert_eq!(remembered(Some(9), 7), 9);
        assert_eq!(remembered(Some(u64::MAX), 7), remembered(None, 7));
    }
}
