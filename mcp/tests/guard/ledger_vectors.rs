//! The replies and writes of a store, by `vectors/ledger.json`: the core's evaluation, and the names of keys.

use std::collections::BTreeMap;

use crate::common::{list, text};
use sealwax::Principal;
use sealwax_mcp::document;
use sealwax_mcp::ledger::{Command, Namespace, RecordKind, Script};
use serde_json::{Value, json};

const NOW: i64 = 1_800_000_000;

/// Where a store has no process, nothing shows another one.
const PROCESSES: [&str; 4] = ["OTHER", "PROMOTED", "EVICTED", "FORMER"];

pub fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../tests/vectors/ledger.json")).unwrap()
}

/// Returns whether a case has records of another process, of which a store with transactions has none.
pub fn is_of_another_process(case: &Value) -> bool {
    texts(&case["values"], NOW)
        .iter()
        .flatten()
        .any(|value| PROCESSES.iter().any(|other| value.contains(other)))
}

/// Returns the command of a case at this time.
pub fn command(case: &Value, now: i64) -> Value {
    json!({"script": case["script"], "keys": case["keys"], "args": texts(&case["args"], now)})
}

/// `@N` is a time; a store with transactions has no process of its own.
fn resolved(text: &str, now: i64) -> String {
    let parts = text.split(' ').map(|part| match part.strip_prefix('@') {
        Some(seconds) => (now + seconds.parse::<i64>().unwrap()).to_string(),
        None if part == "RUN" => "-".into(),
        None => part.into(),
    });
    parts.collect::<Vec<_>>().join(" ")
}

pub fn texts(value: &Value, now: i64) -> Vec<Option<String>> {
    list(value)
        .iter()
        .map(|text| text.as_str().map(|text| resolved(text, now)))
        .collect()
}

#[test]
fn an_evaluation_is_as_the_vectors_have_it() {
    let vectors = vectors();
    let (mut played, mut other_process) = (0, 0);
    for case in list(&vectors["cases"]) {
        if is_of_another_process(case) {
            other_process += 1;
            continue;
        }
        let command = command(case, NOW);
        let values = Value::from(texts(&case["values"], NOW));
        let now = u64::try_from(NOW).unwrap();
        let evaluated = document::evaluate(&command.to_string(), now, &values.to_string()).unwrap();
        let evaluated: Value = serde_json::from_str(&evaluated).unwrap();
        assert_eq!(
            evaluated["reply"],
            Value::from(texts(&case["reply"], NOW)),
            "{case}"
        );

        let had: BTreeMap<_, _> = list(&case["keys"])
            .iter()
            .map(text_of)
            .zip(list(&values))
            .collect();
        let mut after = BTreeMap::new();
        for write in list(&evaluated["writes"]) {
            let key = text(write, "key");
            let left = match write["value"].as_str() {
                Some(value) => json!([
                    value,
                    write["until"].as_u64().map(|until| until.to_string())
                ]),
                None => Value::Null,
            };
            if !left.is_null() || !had[key].is_null() {
                after.insert(key.to_owned(), left);
            }
        }
        let expected: BTreeMap<_, _> = case["after"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, left)| {
                let left = if left.is_null() {
                    Value::Null
                } else {
                    Value::from(texts(left, NOW))
                };
                (key.clone(), left)
            })
            .collect();
        assert_eq!(after, expected, "{case}");
        played += 1;
    }
    assert!(
        played > 300 && other_process > 0,
        "{played} {other_process}"
    );
}

#[test]
fn a_command_without_a_limit_has_that_of_a_guard() {
    let command = json!({"script": "open", "keys": [], "args": []});
    let command: Command = serde_json::from_value(command).unwrap();
    assert_eq!(command.within.as_millis(), 300);
}

/// A number is decimal digits alone, as in the scripts.
#[test]
fn what_the_ledger_did_not_write_is_broken() {
    let mark = "swl1:{0123456789abcdef}:p:x";
    let revoke = Command::new(
        Script::Revoke,
        vec![mark.into()],
        vec!["100".into(), "0".into()],
    );
    for mark_value in ["", "+7", "-7", " 7", "7.0", "7x", "18446744073709551616"] {
        let evaluated = revoke.evaluate(1_800_000_000, &[Some(mark_value)]);
        assert_eq!(evaluated.reply, ["broken", mark], "{mark_value:?}");
    }
    assert_eq!(revoke.evaluate(1_800_000_000, &[Some("7")]).reply[0], "ok");
    // Lua's patterns would read white space in a word in another way.
    let id = "0123456789abcdef0123456789abcdef";
    let end = Namespace::new("a", "").end(&[RecordKind::Session], id, None);
    for (fence, word) in [
        ("1 run 2", "ok"),
        ("1 a\tb 2", "broken"),
        ("1  2", "broken"),
        ("1 run", "broken"),
    ] {
        let values = [Some("1"), Some(fence), None, None, None];
        let evaluated = end.as_ref().unwrap().evaluate(1_800_000_000, &values);
        assert_eq!(evaluated.reply[0], word, "{fence:?}");
    }
}

/// A command comes from an adapter of any version: one that this version does not know decides nothing.
#[test]
fn a_command_that_is_not_whole_is_unsupported() {
    let vectors = vectors();
    let now = u64::try_from(NOW).unwrap();
    for script in ["open", "admit", "commit", "revoke"] {
        let cases = list(&vectors["cases"]);
        let case = cases.iter().find(|case| case["script"] == script).unwrap();
        let whole = [
            &case["keys"],
            &Value::from(texts(&case["args"], NOW)),
            &case["values"],
        ]
        .map(|part| list(part).to_vec());
        let is_unsupported = |[keys, args, values]: [Vec<Value>; 3]| {
            let command = json!({"script": script, "keys": keys, "args": args});
            let command: Command = serde_json::from_value(command).unwrap();
            let values: Vec<_> = values.iter().map(Value::as_str).collect();
            let evaluated = command.evaluate(now, &values);
            evaluated.reply == ["unsupported"] && evaluated.writes.is_empty()
        };
        assert!(!is_unsupported(whole.clone()), "{script}");
        for part in 0..3 {
            // Opening has no arguments to miss.
            for length in (0..=whole[part].len() + 1).filter(|_| script != "open" || part != 1) {
                let mut other = whole.clone();
                if length == whole[part].len() {
                    continue;
                }
                other[part].resize(length, "0".into());
                assert!(is_unsupported(other.clone()), "{script} {part} {length}");
                // As many values as keys.
                other[2].resize(other[0].len(), Value::Null);
                assert!(
                    part == 2 || is_unsupported(other),
                    "{script} {part} {length}"
                );
            }
        }
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn keys_have_the_names_of_the_vectors() {
    for case in list(&vectors()["names"]) {
        let who = &case["principal"];
        let principal = if who["anonymous"] == true {
            Principal::anonymous()
        } else {
            let part = |name: &str| who[name].as_str();
            Principal::from_parts(part("issuer"), part("client"), part("subject")).unwrap()
        };
        let (namespace, mark) = (text(case, "namespace"), text(case, "mark"));
        let ledger = Namespace::new(text(case, "audience"), text(case, "label"));
        let revoke = ledger.revoke(&principal, None, 0).unwrap();
        assert_eq!(revoke.keys, [format!("{namespace}:p:{mark}")]);
        let open = ledger.open();
        assert_eq!(
            open.keys,
            [format!("{namespace}:began"), format!("{namespace}:fence")]
        );
    }
}
