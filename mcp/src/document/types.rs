//! Writes the types of the documents for TypeScript and Python, from the schemas of the Rust types.
//!
//! `SEALWAX_WRITE=1 cargo test -p sealwax-mcp document_types` writes the files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::{env, fs};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::{event, handle, redis, settings, step};
use crate::input::{ClientValue, Message, TransportMessage};
use crate::ledger::Judgement;
use crate::ledger::redis::Answer;
use crate::members::PrincipalParts;

/// A value, or why there is none.
#[derive(JsonSchema)]
#[schemars(untagged, inline)]
#[expect(dead_code, reason = "for its schema")]
pub(super) enum OrFailed<T> {
    Found(T),
    Failed(event::Failure),
}

/// The caller of a request, or that the author's function found none.
#[derive(JsonSchema)]
#[schemars(untagged, inline)]
#[expect(dead_code, reason = "for its schema")]
pub(super) enum Caller {
    Found(PrincipalParts<'static>),
    Nobody(Nobody),
    Failed(event::Failure),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "for its schema")]
pub(super) struct Nobody {
    nobody: bool,
}

impl JsonSchema for ClientValue<'_> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ClientValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A client's value where a text is expected: `true` stands for any other.",
            "anyOf": [{ "type": "string" }, { "const": true }],
        })
    }
}

/// What an adapter gives, and what it gets.
fn definitions() -> BTreeMap<String, Value> {
    let mut given = SchemaSettings::draft2020_12()
        .for_deserialize()
        .into_generator();
    given.subschema_for::<settings::Settings>();
    given.subschema_for::<Message<'_>>();
    given.subschema_for::<TransportMessage<'_>>();
    given.subschema_for::<event::Reported>();
    given.subschema_for::<handle::Operation<'_>>();
    given.subschema_for::<Answer>();
    let mut got = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    got.subschema_for::<step::Document<'_>>();
    got.subschema_for::<redis::DialogueStep<'_>>();
    got.subschema_for::<Judgement>();
    let mut all: BTreeMap<_, _> = given.take_definitions(true).into_iter().collect();
    all.extend(got.take_definitions(true));
    all
}
#[test]
fn show() {
    println!("{}", serde_json::to_string_pretty(&definitions()).unwrap());
}
