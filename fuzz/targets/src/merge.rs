//! JSON Merge Patches (RFC 7396), as the guard for rmcp applies them, beside another program.

use arbitrary::Arbitrary;
use serde_json::{Map, Value};

#[path = "../../../adapters/rmcp/src/transport/merge.rs"]
mod ours;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    target: Node<'a>,
    patch: Node<'a>,
}

#[derive(Arbitrary, Debug)]
enum Node<'a> {
    Null,
    Bool(bool),
    Number(i32),
    Text(&'a str),
    Array(Vec<Self>),
    Object(Vec<(Name<'a>, Self)>),
}

#[derive(Arbitrary, Debug)]
enum Name<'a> {
    A,
    B,
    Meta,
    Given(&'a str),
}

impl Node<'_> {
    fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(it) => (*it).into(),
            Self::Number(it) => (*it).into(),
            Self::Text(it) => (*it).into(),
            Self::Array(items) => items.iter().map(Self::value).collect(),
            Self::Object(members) => {
                let members = members
                    .iter()
                    .map(|(name, value)| (name.text().to_owned(), value.value()));
                members.collect::<Map<_, _>>().into()
            }
        }
    }
}

impl Name<'_> {
    fn text(&self) -> &str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::Meta => "_meta",
            Self::Given(text) => text,
        }
    }
}

pub fn run(input: &[u8]) -> bool {
    let Some(Input { target, patch }) = crate::read(input) else {
        return false;
    };
    let (target, patch) = (target.value(), patch.value());
    let (mut merged, mut expected) = (target.clone(), target.clone());
    ours::merge(&mut merged, patch.clone());
    json_patch::merge(&mut expected, &patch);
    assert_eq!(merged, expected, "{target} {patch}");
    let again = merged.clone();
    ours::merge(&mut merged, patch);
    assert_eq!(merged, again, "once is enough");
    merged != target
}
