//! Durations: reads them from flags.

use jiff::{Span, SpanRelativeTo};

/// Reads a duration such as `90s`, `5m`, `1h30m` or `30d`, or a plain number, into seconds.
pub fn any(text: &str) -> Result<u64, String> {
    const EXPECTED: &str =
        "expected whole seconds, or a duration with units such as 90s, 5m, 1h30m or 30d";
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map_err(|_| EXPECTED.into());
    }
    let span: Span = text.parse().map_err(|_| EXPECTED)?;
    let duration = span
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|_| "expected weeks, days or less: months and years differ in length")?;
    match u64::try_from(duration.as_secs()) {
        Ok(seconds) if duration.subsec_nanos() == 0 => Ok(seconds),
        _ => Err(EXPECTED.into()),
    }
}

pub fn some(text: &str) -> Result<u64, String> {
    match any(text)? {
        0 => Err("expected 1 second or more".into()),
        seconds => Ok(seconds),
    }
}

pub fn ttl(text: &str) -> Result<u32, String> {
    match age(text)? {
        0 => Err("expected 1 second or more; --no-expiry turns expiry off".into()),
        seconds => Ok(seconds),
    }
}

pub fn age(text: &str) -> Result<u32, String> {
    let most = u32::MAX;
    u32::try_from(any(text)?).map_err(|_| format!("expected {most} seconds at most"))
}

pub fn skew(text: &str) -> Result<u64, String> {
    match any(text)? {
        seconds @ 0..=300 => Ok(seconds),
        _ => Err("expected 5m at most".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{age, any, skew, ttl};

    #[test]
    fn plain_numbers_and_units_are_seconds() {
        for (text, seconds) in [
            ("0", 0),
            ("90", 90),
            ("90s", 90),
            ("5m", 300),
            ("1h30m", 5400),
            ("1h 30m", 5400),
            ("30d", 30 * 86400),
            ("2w", 14 * 86400),
            ("PT5M", 300),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(any(text), Ok(seconds), "{text}");
        }
        for text in [
            "",
            "5",
            "m",
            "5x",
            "-5m",
            "5m ago",
            "1.5s",
            "100ms",
            "1mo",
            "1y",
            "99999999999999999999",
            "٣",
        ] {
            assert_eq!(any(text).is_ok(), text == "5", "{text}");
        }
    }

    #[test]
    fn each_flag_has_its_range() {
        assert_eq!((ttl("1s"), ttl("4294967295")), (Ok(1), Ok(u32::MAX)));
        assert!(ttl("0s").unwrap_err().contains("--no-expiry"));
        assert!(ttl("4294967296").is_err() && age("4294967296").is_err());
        assert_eq!(age("0"), Ok(0));
        assert_eq!(skew("5m"), Ok(300));
        assert!(skew("301").is_err());
    }
}
