//! Writes the types of the documents for TypeScript and Python, from the schemas of the Rust types.
//!
//! `SEALWAX_WRITE=1 cargo test -p sealwax-mcp document_types` writes the files.

use std::collections::BTreeMap;
use std::{env, fs};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::{event, handle, redis, schemas, settings, sqlite, step};
use crate::ledger::{redis::Answer, sqlite::Answer as SqliteAnswer};
use crate::message::input::ClientValue;

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

/// The types of what an adapter gives, and of what it gets.
fn definitions() -> BTreeMap<String, Value> {
    let mut given = SchemaSettings::draft2020_12()
        .for_deserialize()
        .into_generator();
    given.subschema_for::<settings::Settings>();
    given.subschema_for::<event::Reported<'_>>();
    given.subschema_for::<handle::Operation<'_>>();
    given.subschema_for::<schemas::Fault>();
    given.subschema_for::<Answer>();
    given.subschema_for::<SqliteAnswer>();
    let mut got = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    got.subschema_for::<step::Document<'_>>();
    got.subschema_for::<redis::StoreStep<'_>>();
    got.subschema_for::<sqlite::SqliteStep>();
    let mut all: BTreeMap<_, _> = given.take_definitions(true).into_iter().collect();
    all.extend(got.take_definitions(true));
    all
}

#[derive(Clone, Copy)]
enum Language {
    TypeScript,
    Python,
}

use Language::{Python, TypeScript};

impl Language {
    fn pick(self, typescript: &str, python: &str) -> String {
        match self {
            TypeScript => typescript.into(),
            Python => python.into(),
        }
    }

    fn literal(self, value: &Value) -> String {
        match self {
            TypeScript => value.to_string().replace('"', "'"),
            Python if value == &Value::Bool(true) => "Literal[True]".into(),
            Python => format!("Literal[{value}]"),
        }
    }

    /// Returns the type of a member.
    fn name(self, schema: &Value) -> String {
        let texts = |member: &str| schema[member].as_array().cloned().unwrap_or_default();
        if schema == &Value::Bool(true) {
            return self.pick("unknown", "Any");
        }
        if let Some(path) = schema["$ref"].as_str() {
            return path.replace("#/$defs/", "");
        }
        if let Some(value) = schema.get("const") {
            return self.literal(value);
        }
        let any: Vec<_> = match &schema["type"] {
            Value::Array(types) => types
                .iter()
                .map(|one| {
                    let mut schema = schema.clone();
                    schema["type"] = one.clone();
                    self.name(&schema)
                })
                .collect(),
            _ => {
                let literals = texts("enum").into_iter().map(|one| self.literal(&one));
                let schemas = [texts("anyOf"), texts("oneOf")].concat();
                literals
                    .chain(schemas.iter().map(|one| self.name(one)))
                    .collect()
            }
        };
        if !any.is_empty() {
            return any.join(" | ");
        }
        match schema["type"].as_str() {
            Some("string") => self.pick("string", "str"),
            Some("integer") => self.pick("number", "int"),
            Some("boolean") => self.pick("boolean", "bool"),
            Some("null") => self.pick("null", "None"),
            Some("array") if schema["prefixItems"].is_array() => {
                let items: Vec<_> = texts("prefixItems")
                    .iter()
                    .map(|one| self.name(one))
                    .collect();
                let items = items.join(", ");
                self.pick(&format!("[{items}]"), &format!("tuple[{items}]"))
            }
            Some("array") => {
                let item = self.name(&schema["items"]);
                let of = match item.contains(" | ") || item.starts_with("readonly ") {
                    true => format!("({item})"),
                    false => item.clone(),
                };
                self.pick(&format!("readonly {of}[]"), &format!("Sequence[{item}]"))
            }
            Some("object") => match &schema["additionalProperties"] {
                values @ Value::Object(_) => {
                    let values = self.name(values);
                    self.pick(
                        &format!("Readonly<Record<string, {values}>>"),
                        &format!("Mapping[str, {values}]"),
                    )
                }
                _ => self.pick("Readonly<Record<string, unknown>>", "dict[str, Any]"),
            },
            _ => panic!("no type of {schema}"),
        }
    }

    /// Writes an object with these members, which has those of `parent` too.
    fn object(self, name: &str, schema: &Value, parent: &Value) -> String {
        let no_members = serde_json::Map::new();
        let base = schema["$ref"].as_str().map(|_| {
            let reference = serde_json::json!({ "$ref": schema["$ref"] });
            self.name(&reference)
        });
        let mut text = match (self, base) {
            (TypeScript, None) => format!("export interface {name} {{"),
            (TypeScript, Some(base)) => format!("export interface {name} extends {base} {{"),
            (Python, base) => format!("class {name}({}):", base.unwrap_or("TypedDict".into())),
        };
        let before = text.len();
        for schema in [schema, parent] {
            let required = schema["required"].as_array();
            for (member, schema) in schema["properties"].as_object().unwrap_or(&no_members) {
                let optional = !required.is_some_and(|names| names.iter().any(|one| one == member));
                let name = self.name(schema);
                let name = name.strip_suffix(&self.pick(" | null", " | None"));
                let name = name
                    .filter(|_| optional)
                    .map_or(self.name(schema), Into::into);
                text += &match (self, optional) {
                    (TypeScript, false) => format!("\n  readonly {member}: {name};"),
                    (TypeScript, true) => format!("\n  readonly {member}?: {name} | undefined;"),
                    (Python, false) => format!("\n    {member}: {name}"),
                    (Python, true) => format!("\n    {member}: NotRequired[{name} | None]"),
                };
            }
        }
        if text.len() == before {
            text += &self.pick("", "\n    pass");
        }
        text + &self.pick("\n}\n\n", "\n\n")
    }

    /// Writes a type.
    fn definition(self, name: &str, schema: &Value) -> String {
        let mut text = String::new();
        let Some(variants) = schema["oneOf"].as_array() else {
            return match schema["type"].as_str() {
                Some("object") => self.object(name, schema, &Value::Null),
                _ => self.alias(name, &self.name(schema)),
            };
        };
        // An object is named by its `step`, or by its only member.
        let mut names = Vec::new();
        for variant in variants {
            if variant["type"] != "object" {
                names.push(self.name(variant));
                continue;
            }
            let kind = match &variant["properties"]["step"]["const"] {
                Value::String(step) => step,
                _ => variant["required"][0].as_str().unwrap_or_default(),
            };
            let name = format!("{}{}{name}", kind[..1].to_uppercase(), &kind[1..]);
            text += &self.object(&name, variant, schema);
            names.push(name);
        }
        text + &self.alias(name, &names.join(" | "))
    }

    fn alias(self, name: &str, of: &str) -> String {
        match self {
            TypeScript => format!("export type {name} = {of};\n\n"),
            Python => format!("{name}: TypeAlias = \"{}\"\n\n", of.replace('"', "'")),
        }
    }

    fn file(self) -> String {
        let head = "The engine's documents, which docs/engine.md describes. A test of mcp/src/document writes this file.";
        let mut text = self.pick(
            &format!("/** {head} */\n\n"),
            &format!(
                "# ruff: noqa: E501\n\"\"\"{head}\"\"\"\n\nfrom collections.abc import Mapping, Sequence\n\
                 from typing import Any, Literal, TypeAlias\n\nfrom typing_extensions import NotRequired, TypedDict\n\n"
            ),
        );
        for (name, schema) in definitions() {
            text += &self.definition(&name, &schema);
        }
        text.trim_end().to_owned() + "\n"
    }
}

#[test]
fn document_types_of_the_adapters_are_those_of_the_engine() {
    for (language, path) in [
        (TypeScript, "../pkg/src/documents.ts"),
        (Python, "../bindings/python/src/sealwax/_documents.pyi"),
    ] {
        let written = language.file();
        if env::var_os("SEALWAX_WRITE").is_some() {
            fs::write(path, &written).unwrap();
        }
        let found = fs::read_to_string(path).unwrap_or_default();
        assert!(
            found == written,
            "{path} differs from the types of mcp/src/document: run the tests with SEALWAX_WRITE=1"
        );
    }
}
