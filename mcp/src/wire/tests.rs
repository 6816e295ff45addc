//! What comes through the wire is what another reader of JSON finds in it.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::changes::Leaving;
use super::events::Stream;
use super::message::{Came, without};
use crate::message::input::ClientValue;
use crate::reply::set::{Set, SetValue};

/// Any JSON, a few levels deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec!["{", "}", "\\", "\"", ",", "sessionId", "\u{e000}"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            members(inner).prop_map(Value::from),
        ]
    })
}

fn members(of: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    // Without the names that the wire acts on.
    let members = prop::collection::vec(("x[a-z\"\\\\é]{0,3}", of), 0..4);
    members.prop_map(|members| members.into_iter().collect())
}

/// Writes an object with white space between its tokens, and its members in an order.
fn written(members: &[(String, String)], space: &str) -> String {
    let each = members
        .iter()
        .map(|(name, value)| format!("{space}{}{space}:{space}{value}{space}", json!(name)));
    format!("{space}{{{}}}{space}", each.collect::<Vec<_>>().join(","))
}

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 512 })
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if Came::read(&bytes, true).is_ok() {
            prop_assert!(serde_json::from_slice::<Value>(&bytes).is_ok());
        }
    }

    #[test]
    fn what_others_read_is_read(
        message in members(any_json()),
        params in any_json(),
        id in prop_oneof![Just(None), any::<String>().prop_map(|id| Some(json!(id))), any::<u32>().prop_map(|id| Some(json!(id)))],
        session in prop::option::of(any_json()),
        (at, space) in (0..6_usize, "[ \t\r\n]{0,2}"),
    ) {
        let mut others: Vec<_> = message.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
        others.push(("method".into(), json!("demo").to_string()));
        others.push(("params".into(), params.to_string()));
        if let Some(id) = &id {
            others.push(("id".into(), id.to_string()));
        }
        let mut all = others.clone();
        if let Some(session) = &session {
            all.insert(at.min(all.len()), ("sessionId".into(), session.to_string()));
        }
        let text = written(&all, &space);
        let came = Came::read(text.as_bytes(), true).unwrap();
        prop_assert_eq!(came.method.as_deref(), Some("demo"));
        prop_assert_eq!(came.id.map(|id| serde_json::from_str::<Value>(&id).unwrap()), id.clone());
        prop_assert_eq!(came.is_notification, id.is_none());
        let expected = match &session {
            None | Some(Value::Null) => ClientValue::Absent,
            Some(Value::String(text)) => ClientValue::Text(text),
            Some(_) => ClientValue::Other,
        };
        prop_assert_eq!(came.session_id.borrowed(), expected);
        prop_assert_eq!(came.cut.is_some(), session.is_some());
        let rest = came.cut.map_or(text.clone(), |cut| without(&text, &cut));
        let rest: Value = serde_json::from_str(&rest).unwrap();
        let expected: Map<_, _> = others.iter().map(|(name, value)| (name.clone(), serde_json::from_str(value).unwrap())).collect();
        prop_assert_eq!(rest, Value::Object(expected));
    }

    #[test]
    fn what_is_set_is_there_and_nothing_else_changes(
        mut result in members(any_json()),
        inner in prop::option::of(any_json()),
        space in "[ \t\r\n]{0,2}",
    ) {
        if let Some(inner) = inner {
            result.insert("capabilities".into(), inner);
        }
        let all: Vec<_> = result.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
        let text = written(&[("id".into(), "7".into()), ("result".into(), written(&all, &space))], &space);
        let changes = [
            Set(&["capabilities", "experimental", "sessions"], SetValue::Nothing {}),
            Set(&["sessionId"], SetValue::Text("\"a")),
            Set(&["sessionId"], SetValue::Text("b")),
            Set(&["sessionTimeout"], SetValue::Number(7)),
        ];
        let leaving = Leaving::read(&text).unwrap();
        prop_assert!(leaving.answers(Some("7")) && !leaving.answers(Some("\"7\"")));
        let changed: Value = serde_json::from_str(&leaving.changed(&changes).unwrap()).unwrap();
        let mut expected = Value::Object(result);
        if !expected["capabilities"].is_object() {
            expected["capabilities"] = json!({});
        }
        if !expected["capabilities"]["experimental"].is_object() {
            expected["capabilities"]["experimental"] = json!({});
        }
        expected["capabilities"]["experimental"]["sessions"] = json!({});
        expected["sessionId"] = "b".into();
        expected["sessionTimeout"] = 7.into();
        prop_assert_eq!(&changed["result"], &expected);
        prop_assert_eq!(&changed["id"], &json!(7));
    }

    #[test]
    fn a_stream_may_be_cut_anywhere(
        stream in "(data: ?(\\{\\}|x|é)|id: 1|:|data|)([\r\n]|\r\n){1,3}.{0,2}(data:\\{\\}(\r\n|\r|\n){1,2}){0,3}",
        cut in any::<prop::sample::Index>(),
    ) {
        let mut change = |message: &str| (message == "{}").then(|| "{\"s\":1}".to_owned());
        let mut passed = |pieces: &[&[u8]]| {
            let mut held = Stream::default();
            let mut passed = String::new();
            for piece in pieces {
                held.held.extend_from_slice(piece);
                passed.push_str(&held.events(&mut change));
            }
            passed + &String::from_utf8_lossy(&held.held)
        };
        let whole = passed(&[stream.as_bytes()]);
        let (one, two) = stream.as_bytes().split_at(cut.index(stream.len() + 1));
        prop_assert_eq!(passed(&[one, two]), &*whole);
        let each: Vec<_> = stream.as_bytes().chunks(1).collect();
        prop_assert_eq!(passed(&each), whole);
    }
}
