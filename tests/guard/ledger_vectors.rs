//! The replies and writes of a store, by `vectors/ledger.json`: the core's judgement, and the names of keys.

use std::collections::BTreeMap;

use crate::common::{list, text};
use sealwax::Principal;
use sealwax::ledger::Namespace;
use sealwax::mcp::document;
use serde_json::{Value, json};

const NOW: i64 = 1_800_000_000;

/// Where a store has no process, nothing shows another one.
const PROCESSES: [&str; 4] = ["OTHER", "PROMOTED", "EVICTED", "FORMER"];

fn vectors() -> Value {
    serde_json::from_str(include_str!("../vectors/ledger.json")).unwrap()
}

/// `@N` is a time; a store with transactions has no process of its own.
fn resolved(text: &str) -> String {
    let parts = text.split(' ').map(|part| match part.strip_prefix('@') {
        Some(seconds) => (NOW + seconds.parse::<i64>().unwrap()).to_string(),
        None if part == "RUN" => "-".into(),
        None => part.into(),
    });
    parts.collect::<Vec<_>>().join(" ")
}

fn texts(value: &Value) -> Vec<Option<String>> {
    list(value)
        .iter()
        .map(|text| text.as_str().map(resolved))
        .collect()
}

#[test]
fn a_judgement_is_as_the_vectors_have_it() {
    let vectors = vectors();
    let (mut played, mut other_process) = (0, 0);
    for case in list(&vectors["cases"]) {
        if texts(&case["values"])
            .iter()
            .flatten()
            .any(|value| PROCESSES.iter().any(|other| value.contains(other)))
        {
            other_process += 1;
            continue;
        }
        let command =
            json!({"script": case["script"], "keys": case["keys"], "args": texts(&case["args"])});
        let values = Value::from(texts(&case["values"]));
        let now = u64::try_from(NOW).unwrap();
        let judged = document::judge(&command.to_string(), now, &values.to_string()).unwrap();
        let judged: Value = serde_json::from_str(&judged).unwrap();
        assert_eq!(
            judged["reply"],
            Value::from(texts(&case["reply"])),
            "{case}"
        );

        let had: BTreeMap<_, _> = list(&case["keys"])
            .iter()
            .map(text_of)
            .zip(list(&values))
            .collect();
        let mut after = BTreeMap::new();
        for write in list(&judged["writes"]) {
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
                    Value::from(texts(left))
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
        let revoke = ledger.revoke(&principal, None).unwrap();
        assert_eq!(revoke.keys, [format!("{namespace}:p:{mark}")]);
        let open = ledger.open();
        assert_eq!(
            open.keys,
            [format!("{namespace}:began"), format!("{namespace}:fence")]
        );
    }
}
