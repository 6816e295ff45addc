//! The store of the model against `tests/vectors/ledger.json`, as the scripts in a real Valkey are (`scripts.py`).
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use ledger_model::{Process, Store};
use sealwax_mcp::ledger::{Command, Script};
use serde_json::Value;

const NOW: u64 = 1_800_000_000;

/// `@N` is a time; the others are what a fence may have as its store's process.
fn resolved(text: &str) -> String {
    let parts = text.split(' ').map(|part| match part {
        "RUN" => "ab.12.0".into(),
        "PROMOTED" => "ab.21.0".into(),
        "EVICTED" => "ab.12.7".into(),
        "FORMER" => "ab".into(),
        "OTHER" => "ba.12.7".into(),
        time if time.starts_with('@') => NOW
            .saturating_add_signed(time[1..].parse().unwrap())
            .to_string(),
        text => text.to_owned(),
    });
    parts.collect::<Vec<_>>().join(" ")
}

fn texts(list: &Value) -> Vec<Option<String>> {
    let list = list.as_array().unwrap().iter();
    list.map(|text| text.as_str().map(resolved)).collect()
}

fn all(list: &Value) -> Vec<String> {
    texts(list).into_iter().flatten().collect()
}

fn script(name: &str) -> Script {
    *Script::ALL
        .iter()
        .find(|script| script.name() == name)
        .unwrap()
}

#[test]
fn the_store_does_what_the_vectors_say() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../../tests/vectors/ledger.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    for case in cases {
        let command = Command::new(
            script(case["script"].as_str().unwrap()),
            all(&case["keys"]),
            all(&case["args"]),
        );
        let had = command.keys.iter().cloned().zip(texts(&case["values"]));
        let before: BTreeMap<_, _> = had
            .filter_map(|(key, value)| Some((key, (value?, None))))
            .collect();
        let process = Process {
            run: "ab".into(),
            promotion: "12".into(),
            evicted: 0,
        };
        let mut store = Store {
            records: before.clone(),
            process,
        };
        let reply = store.run(&command, NOW, None);
        assert_eq!(reply, all(&case["reply"]), "{case}");

        let mut after = before;
        for (key, kept) in case["after"].as_object().unwrap() {
            after.remove(key);
            if !kept.is_null() {
                let kept = texts(kept);
                let until = kept[1].as_ref().map(|until| until.parse().unwrap());
                after.insert(key.clone(), (kept[0].clone().unwrap(), until));
            }
        }
        assert_eq!(store.records, after, "{case}");
    }
    assert!(cases.len() > 300, "{}", cases.len());
}
