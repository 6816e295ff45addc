//! The features that the suite asks for, from `features.json`.

use std::sync::LazyLock;

use rmcp::ErrorData;
use rmcp::model::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

#[expect(clippy::expect_used, reason = "the file is beside this one")]
pub static FEATURES: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("features.json")).expect("JSON in features.json")
});

/// The tools that do more than return a result of `features.json`, or ask.
pub const TOOLS: [&str; 7] = [
    "test_tool_with_logging",
    "test_logging_tool",
    "test_tool_with_progress",
    "test_reconnection",
    "test_missing_capability",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
];
/// The parts of an object of `features.json`.
pub fn each(value: &'static Value) -> impl Iterator<Item = (&'static String, &'static Value)> {
    value.as_object().into_iter().flatten()
}

/// A type of rmcp, from its JSON.
pub fn made<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A value of `features.json`, with the placeholders of its texts filled in.
pub fn filled(template: &Value, values: &JsonObject) -> Value {
    match template {
        Value::String(text) => {
            let fill = |text: String, (name, value): (&String, &Value)| {
                text.replace(&format!("{{{name}}}"), value.as_str().unwrap_or_default())
            };
            Value::String(values.iter().fold(text.clone(), fill))
        }
        Value::Array(items) => items.iter().map(|item| filled(item, values)).collect(),
        Value::Object(members) => {
            let fill = |(name, value): (&String, &Value)| (name.clone(), filled(value, values));
            Value::Object(members.iter().map(fill).collect())
        }
        other => other.clone(),
    }
}

fn tool(name: &str, about: &Value) -> Tool {
    let schema = about.get("inputSchema").and_then(Value::as_object).cloned();
    let none = || JsonObject::from_iter([("type".to_owned(), json!("object"))]);
    let description = about["description"].as_str().unwrap_or("Asks first");
    Tool::new(
        name.to_owned(),
        description.to_owned(),
        schema.unwrap_or_else(none),
    )
}

pub fn tools() -> impl Iterator<Item = Tool> {
    let rounds = each(&FEATURES["rounds"]).filter(|(name, _)| !name.ends_with("_prompt"));
    let others = TOOLS.map(|name| tool(name, &json!({"description": name.replace('_', " ")})));
    each(&FEATURES["tools"])
        .chain(each(&FEATURES["questions"]))
        .chain(rounds)
        .map(|(name, about)| tool(name, about))
        .chain(others)
}
