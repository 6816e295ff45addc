//! `sealwax inspect` in the words that every package's command has: tests/inspect.json.

use serde_json::Value;

use super::{ALICE, KEYS, refused, sealwax, sealwax_with, stdout, with};

fn cases() -> Value {
    serde_json::from_str(include_str!("../../../tests/inspect.json")).unwrap()
}

#[test]
fn it_says_what_a_text_is() {
    let cases = cases();
    let cases = cases["said"].as_array().unwrap();
    assert_eq!(cases.len(), 19);
    for case in cases {
        let (text, now) = (case["text"].as_str().unwrap(), case["now"].to_string());
        let keys = case["keys"].as_str();
        let said = stdout(&sealwax_with(keys, &["inspect", "--now", &now], text));
        // The command to open it differs by package.
        let words: Vec<_> = said
            .lines()
            .filter(|word| !word.starts_with("to "))
            .collect();
        assert_eq!(
            serde_json::to_value(words).unwrap(),
            case["words"],
            "{text}"
        );

        let as_argument = stdout(&sealwax_with(keys, &["inspect", text, "--now", &now], ""));
        assert_eq!(as_argument, said);

        let json = stdout(&sealwax_with(keys, &["inspect", "--json", text], ""));
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), case["json"]);
    }
}

#[test]
fn it_finds_texts_in_what_stands_around_them() {
    let cases = cases();
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

#[test]
fn it_says_what_is_none_of_ours() {
    let cases = cases();
    let cases = cases["refused"].as_array().unwrap();
    assert_eq!(cases.len(), 8);
    for case in cases {
        let (text, code) = (
            case["text"].as_str().unwrap(),
            case["code"].as_str().unwrap(),
        );
        let status = i32::try_from(case["status"].as_i64().unwrap()).unwrap();
        for json in [&[][..], &["--json"]] {
            refused(&sealwax(&[&["inspect"], json].concat(), text), status, code);
        }
    }
    refused(
        &sealwax_with(Some("swk1_nonsense"), &["inspect"], KEYS),
        2,
        "invalid_key: SEALWAX_KEYS: key 1 of the ring",
    );
}

#[test]
fn what_it_says_of_a_token_is_what_opening_says() {
    let token = stdout(&sealwax(&with(&["seal", "--kind", "session"], &[]), "x"));
    let seen: Value =
        serde_json::from_str(&stdout(&sealwax(&["inspect", "--json"], &token))).unwrap();
    let open = with(&["open", "--kind", "session", "--json"], &[]);
    let opened: Value = serde_json::from_str(&stdout(&sealwax(&open, &token))).unwrap();
    assert_eq!(seen["token_id"], opened["token_id"]);
    let said = stdout(&sealwax(&["inspect"], &token));
    assert!(
        said.contains("\nto open it: sealwax open --kind session\n"),
        "{said}"
    );
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
