//! Durations, as options have them.

pub(crate) const EXPECTED: &str =
    "expected whole seconds, or a duration with units such as 90s, 5m, 1h30m or 30d";

/// The units and their other names, as in ISO 8601 and in words. Months and years differ in length, and are none.
const UNITS: [(&[&str], u64); 5] = [
    (&["w", "wk", "wks", "week", "weeks"], 7 * 86_400),
    (&["d", "day", "days"], 86_400),
    (&["h", "hr", "hrs", "hour", "hours"], 3_600),
    (&["m", "min", "mins", "minute", "minutes"], 60),
    (&["s", "sec", "secs", "second", "seconds"], 1),
];

/// Reads a duration such as `90s`, `5m`, `1h 30m`, `30d` or `PT5M`, or a plain number, into seconds.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let mut rest = match text.strip_prefix('p') {
        // In ISO 8601, `M` before the `T` is months.
        Some(iso) => {
            let (days, time) = iso.split_once('t').unwrap_or((iso, ""));
            if days.contains('m') {
                return None;
            }
            format!("{days}{time}")
        }
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => return text.parse().ok(),
        None => text,
    };
    let (mut total, mut last) = (0_u64, None);
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest[..digits].parse().ok()?;
        let unit = rest[digits..].trim_start();
        let letters = unit.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, after) = unit.split_at(letters);
        let at = UNITS.iter().position(|(names, _)| names.contains(&name))?;
        // From the largest to the smallest, each once.
        if last.is_some_and(|last| at <= last) {
            return None;
        }
        last = Some(at);
        total = total.checked_add(number.checked_mul(UNITS[at].1)?)?;
        rest = after.trim_start_matches([' ', ',']).to_owned();
    }
    last.map(|_| total)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn plain_numbers_and_units_are_seconds() {
        for (text, expected) in [
            ("0", 0),
            ("90", 90),
            ("90s", 90),
            ("5m", 300),
            ("1h30m", 5400),
            ("1h 30m", 5400),
            ("1 hour, 30 minutes", 5400),
            ("30d", 30 * 86_400),
            ("2w", 14 * 86_400),
            ("PT5M", 300),
            ("P1DT12H", 129_600),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "m",
            "5x",
            "-5m",
            "5m ago",
            "1.5s",
            "100ms",
            "1mo",
            "1y",
            "P1M",
            "P",
            "PT",
            "30m1h",
            "1s1s",
            "5m5",
            "99999999999999999999",
            "9999999999999999999w",
            "٣",
            "5é",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
