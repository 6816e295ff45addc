//! The report on a text, in the words of every command: tests/inspect.json.

use sealwax::report::{Report, told};
use serde_json::Value;

#[test]
fn it_says_what_every_command_says() {
    let file = include_str!("../inspect.json");
    let cases: Value = serde_json::from_str(file).unwrap();
    // Without its white space, the file has the very text of each JSON.
    let squeezed: String = file.split_ascii_whitespace().collect();
    for case in cases["said"].as_array().unwrap() {
        let ring = case["keys"].as_str().map(|keys| keys.parse().unwrap());
        let report = Report::of(case["text"].as_str().unwrap(), ring.as_ref()).unwrap();
        let words = report.words(case["now"].as_u64().unwrap());
        let words: Vec<_> = words.split('\n').collect();
        assert_eq!(serde_json::to_value(words).unwrap(), case["words"]);
        let json = report.json();
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), case["json"]);
        assert!(squeezed.contains(&format!(r#""json":{json}"#)), "{json}");
        let end = &case["json"]["ledger_end"];
        let end = end["kind"].as_str().zip(end["id"].as_str());
        assert_eq!(report.ledger_end(), end);
    }
    for case in cases["refused"].as_array().unwrap() {
        let refused = Report::of(case["text"].as_str().unwrap(), None).unwrap_err();
        assert_eq!(refused.code(), case["code"].as_str().unwrap());
    }
}

#[test]
fn only_ascii_is_known_so_that_every_language_counts_alike() {
    for text in [
        "sess_é",
        "swk1_é",
        "sw1.é",
        "é_06f718bt0dkszj6w0v6htvw3ar3xdnacct6212tecr",
    ] {
        assert!(Report::of(text, None).is_err(), "{text}");
    }
}

#[test]
fn two_units_are_told() {
    for (seconds, expected) in [
        (0, "0s"),
        (59, "59s"),
        (60, "1m"),
        (312, "5m 12s"),
        (3600, "1h"),
        (3661, "1h 1m"),
        (86399, "23h 59m"),
        (273_600, "3d 4h"),
        (86400, "1d"),
    ] {
        assert_eq!(told(seconds), expected);
    }
}
