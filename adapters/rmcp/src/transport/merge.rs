//! The changes to a result.

use serde_json::{Value, json};

/// Applies a JSON Merge Patch (RFC 7396).
pub(crate) fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (name, patch) in patch {
        match patch {
            Value::Null => drop(target.as_object_mut().and_then(|it| it.remove(&name))),
            patch => merge(&mut target[name], patch),
        }
    }
}
