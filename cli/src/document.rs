//! A run by JSON documents, for programs in other languages.
//!
//! The request:
//!
//! ```json
//! {"program": "npx sealwax", "command": "ledger end", "options": {"audience": "…"},
//!  "environment": {"SEALWAX_KEYS": "…"}, "now": 1800000000000}
//! ```
//!
//! Steps:
//!
//! ```json
//! {"stdin": "the token"}
//! {"file": "…", "replaced": true}
//! {"redis": "redis://…", "send": ["INFO"]}
//! {"sqlite": "…", "query": "…", "parameters": ["…"]}
//! {"sqlite": "…", "run": {"script": "…", "keys": ["…"], "args": ["…"], "withinMs": 300}}
//! {"stdout": "base64", "write": {"path": "…", "text": "…"}, "wait": 11}
//! {"stderr": "…", "status": 1}
//! ```
//!
//! Answers, as [`Ask`](crate::Ask) says which:
//!
//! ```json
//! {"bytes": "base64"}
//! {"text": "…"}
//! {"texts": ["…"]}
//! {"number": 1}
//! {"error": "WRONGPASS …"}
//! {"absent": true}
//! {"link": true}
//! {"invalid": true}
//! {"failed": "ECONNREFUSED", "tip": "…"}
//! ```

use std::collections::BTreeMap;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use sealwax::Error;
use sealwax_mcp::ledger::redis;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::run::Run;
use crate::step::{Answer, Request, Step};

/// Begins a run.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for another document.
pub fn begin(request: &str) -> Result<Run, Error> {
    let request = read(request)?;
    let texts = |name: &str| -> Result<BTreeMap<String, String>, Error> {
        let Some(members) = request[name].as_object() else {
            return Ok(BTreeMap::new());
        };
        let member = |(name, value): (&String, &Value)| Ok((name.clone(), text(value)?));
        members.iter().map(member).collect()
    };
    Ok(Run::new(Request {
        program: text(&request["program"])?,
        command: text(&request["command"])?,
        options: texts("options")?,
        environment: texts("environment")?,
        now_ms: request["now"].as_u64().ok_or_else(unexpected)?,
    }))
}

/// Reads an answer.
///
/// # Errors
///
/// As [`begin`].
pub fn answer(answer: &str) -> Result<Answer, Error> {
    let answer = read(answer)?;
    let members = answer.as_object().ok_or_else(unexpected)?;
    // `tip` is beside `failed`.
    let (name, value) = members.iter().next().ok_or_else(unexpected)?;
    Ok(match name.as_str() {
        "bytes" => {
            let bytes = BASE64_STANDARD.decode(text(value)?);
            Answer::Bytes(Zeroizing::new(bytes.map_err(|_| unexpected())?))
        }
        "text" => Answer::Store(redis::Answer::Text(text(value)?)),
        "texts" => {
            let texts = value.as_array().ok_or_else(unexpected)?;
            let texts: Result<_, _> = texts.iter().map(text).collect();
            Answer::Store(redis::Answer::Texts(texts?))
        }
        "number" => Answer::Store(redis::Answer::Number(
            value.as_i64().ok_or_else(unexpected)?,
        )),
        "error" => Answer::Store(redis::Answer::Error(text(value)?)),
        "absent" => Answer::Absent,
        "link" => Answer::Link,
        "invalid" => Answer::Invalid,
        "failed" => Answer::Failed {
            why: text(value)?,
            tip: members.get("tip").map(text).transpose()?,
        },
        _ => return Err(unexpected()),
    })
}

/// Writes a step.
#[must_use]
pub fn step(step: &Step) -> String {
    // Texts, numbers and structs of these always serialize.
    serde_json::to_string(step).unwrap_or_default()
}

fn read(document: &str) -> Result<Value, Error> {
    serde_json::from_slice(document.as_bytes()).map_err(|_| unexpected())
}

fn text(value: &Value) -> Result<String, Error> {
    value.as_str().map(Into::into).ok_or_else(unexpected)
}

fn unexpected() -> Error {
    Error::InvalidArgument("command: expected a document of sealwax_cli::document".into())
}
