//! The changes to a result.

use sealwax_mcp::Set;
use serde_json::{Value, json};

/// Sets members of a result.
pub(crate) fn set(result: &mut Value, changes: Vec<Set<'_>>) {
    for Set(path, value) in changes {
        let place = path.iter().fold(&mut *result, |place, name| {
            if !place.is_object() {
                *place = json!({});
            }
            &mut place[name]
        });
        *place = json!(value);
    }
}
