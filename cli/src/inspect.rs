//! `sealwax inspect`: identifies a text. The commands of the other packages print the same words:
//! tests/inspect.json has them.

use std::fmt::Display;

use sealwax::{Environment as _, Inspected, KeyId, System};
use serde_json::json;

use super::{Failure, ring, stdin_text};
use crate::args::InspectArgs;
use crate::duration::{moment, told};

/// The prefix `sw1.`.
const TOKEN_PREFIX: usize = 4;
/// The least bytes of a sealed token besides its payload (SPEC.md, "Opening").
const TOKEN_OVERHEAD: usize = 65;

pub fn run(args: &InspectArgs) -> Result<String, Failure> {
    let ring = match (&args.keys.key_file, std::env::var_os("SEALWAX_KEYS")) {
        (None, None) => None,
        _ => Some(ring(&args.keys)?),
    };
    let in_ring = |key_id: &KeyId| {
        let ring = ring.as_ref()?;
        Some(ring.ids().any(|id| id == *key_id))
    };
    let text = match &args.text {
        Some(text) => text.clone().into(),
        None => stdin_text("the text to inspect")?,
    };
    let seen = sealwax::inspect(&text).map_err(|error| Failure::from(error).without_tip())?;
    if args.json {
        return Ok(facts(&seen, text.len(), in_ring).to_string());
    }
    let now = args.now.unwrap_or_else(|| System.now_ms() / 1000);
    Ok(words(&seen, text.len(), now, in_ring).join("\n"))
}

fn words(
    seen: &Inspected,
    length: usize,
    now: u64,
    in_ring: impl Fn(&KeyId) -> Option<bool>,
) -> Vec<String> {
    let key = |key_id| {
        let in_ring = match in_ring(key_id) {
            None => "unknown, no keys given",
            Some(true) => "yes",
            Some(false) => "no",
        };
        [fact("key id", key_id), fact("in this ring", in_ring)]
    };
    let length_told = fact("length", format_args!("{length} characters"));
    let mut lines = Vec::new();
    match seen {
        Inspected::Token {
            kind,
            key_id,
            token_id,
        } => {
            let payload = (length - TOKEN_PREFIX) * 3 / 4 - TOKEN_OVERHEAD;
            lines.push(format!("sealed token of kind {kind}"));
            lines.push(fact("prefix", "sw1."));
            lines.extend(key(key_id));
            lines.push(fact("token id", token_id));
            lines.push(length_told);
            lines.push(fact(
                "payload",
                format_args!("encrypted, at most {payload} bytes"),
            ));
            lines.push(fact("made at", "encrypted"));
            lines.push(fact(
                "to open it",
                format_args!("sealwax open --kind {kind}"),
            ));
        }
        Inspected::SessionId {
            key_id,
            created_at_ms,
        } => {
            lines.push("session id".into());
            lines.push(fact("prefix", "sess_"));
            lines.extend(key(key_id));
            lines.push(length_told);
            lines.extend(made(*created_at_ms, now));
            lines.push(fact("to verify it", "sealwax session-id verify"));
        }
        Inspected::Handle {
            handle_type,
            created_at_ms,
        } => {
            lines.push(format!("handle of type {handle_type}"));
            lines.push(fact("prefix", format_args!("{handle_type}_")));
            lines.push(fact("key id", "none, a handle names no key"));
            lines.push(length_told);
            lines.extend(made(*created_at_ms, now));
            lines.push(fact(
                "to verify it",
                format_args!("sealwax handle verify --type {handle_type}"),
            ));
        }
        Inspected::Key { key_id } => {
            lines.push("key text, a secret".into());
            lines.push(fact("prefix", "swk1_"));
            lines.extend(key(key_id));
            lines.push(length_told);
        }
        _ => lines.push("known to the library, but not yet to this command".into()),
    }
    lines
}

fn fact(name: &str, value: impl Display) -> String {
    format!("{name}: {value}")
}

fn made(created_at_ms: u64, now: u64) -> [String; 2] {
    let made = created_at_ms / 1000;
    let age = match now.checked_sub(made) {
        Some(age) => told(age),
        None => format!("none, it is {} in the future", told(made - now)),
    };
    [fact("made at", moment(made)), fact("age", age)]
}

/// Returns the facts under the names that the bindings use.
fn facts(
    seen: &Inspected,
    length: usize,
    in_ring: impl Fn(&KeyId) -> Option<bool>,
) -> serde_json::Value {
    match seen {
        Inspected::Token {
            kind,
            key_id,
            token_id,
        } => json!({
            "what": "token",
            "kind": kind.name(),
            "key_id": key_id.to_string(),
            "in_ring": in_ring(key_id),
            "token_id": token_id.to_string(),
            "length": length,
        }),
        Inspected::SessionId {
            key_id,
            created_at_ms,
        } => json!({
            "what": "session-id",
            "key_id": key_id.to_string(),
            "in_ring": in_ring(key_id),
            "created_at_ms": created_at_ms,
            "length": length,
        }),
        Inspected::Handle {
            handle_type,
            created_at_ms,
        } => json!({
            "what": "handle",
            "handle_type": handle_type,
            "created_at_ms": created_at_ms,
            "length": length,
        }),
        Inspected::Key { key_id } => json!({
            "what": "key",
            "key_id": key_id.to_string(),
            "in_ring": in_ring(key_id),
            "length": length,
        }),
        _ => json!({ "what": "unknown", "length": length }),
    }
}
