//! `sealwax inspect` by tests/inspect.json: the texts that it finds. What it says of each is in tests/codec/report.rs.

use serde_json::Value;

use super::{ALICE, KEYS, refused, sealwax, sealwax_with, stdout};

#[test]
fn it_finds_texts_in_what_stands_around_them() {
    let cases = include_str!("../../../tests/inspect.json");
    let cases: Value = serde_json::from_str(cases).unwrap();
    let cases = cases["found"].as_array().unwrap();
    assert_eq!(cases.len(), 31);
    for case in cases {
        let given = case["given"].as_str().unwrap();
        let texts = case["texts"].as_array().unwrap();
        if let Some(code) = case["code"].as_str() {
            assert!(texts.is_empty());
            let status = i32::try_from(case["status"].as_i64().unwrap()).unwrap();
            refused(&sealwax(&["inspect"], given), status, code);
            continue;
        }
        let alone = |options: &[&str]| -> Vec<String> {
            let one = |one: &Value| {
                let text = one["text"].as_str().unwrap();
                stdout(&sealwax(&[&["inspect"], options].concat(), text))
            };
            texts.iter().map(one).collect()
        };
        let json = ["--json"];
        let found = stdout(&sealwax(&[&["inspect"], &json[..]].concat(), given));
        assert_eq!(found, alone(&json).concat(), "{given}");

        let now = ["--now", "1780010400"];
        let mut words = alone(&now);
        if words.len() > 1 {
            for (at, words) in words.iter_mut().enumerate() {
                let name = match texts[at]["name"].as_str().unwrap() {
                    "" => "without a name",
                    name => name,
                };
                *words = format!("{}. {name}\n{words}", at + 1);
            }
        }
        let found = stdout(&sealwax(&[&["inspect"], &now[..]].concat(), given));
        assert_eq!(found, words.join("\n"), "{given}");
        let as_argument = stdout(&sealwax(&["inspect", given, now[0], now[1]], ""));
        assert_eq!(as_argument, found);
    }
}

/// Ages are by the clock, unless a time is given.
#[test]
fn a_new_handle_is_young() {
    let new = [&["handle", "new", "--type", "basket"], &ALICE[..]].concat();
    let handle = stdout(&sealwax(&new, ""));
    let said = stdout(&sealwax(&["inspect"], &handle));
    let age = said.lines().find_map(|line| line.strip_prefix("age: "));
    // Less than an hour, however slow the machine is.
    let age = age.unwrap();
    assert!(age.ends_with('s') || age.ends_with('m'), "{said}");
}

#[test]
fn it_says_nothing_of_a_secret() {
    let key = stdout(&sealwax_with(None, &["keygen"], ""));
    let said = stdout(&sealwax(&["inspect"], &key));
    assert!(!said.contains(&key[5..12]), "{said}");
    // Nor as the name of what follows it, nor where its end is missing.
    for around in [
        format!("{}: {key} {KEYS}", &key[..40]),
        format!("{}={KEYS} {key}", key.trim_end()),
    ] {
        let said = stdout(&sealwax(&["inspect"], &around));
        assert!(
            said.starts_with("1. without a name\n") && !said.contains(&key[5..12]),
            "{said}"
        );
    }
}
