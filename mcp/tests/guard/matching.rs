//! Compares the outcome of an event with its transcript.

use std::time::Duration;

use sealwax::{Opened, Purpose, SessionMetadata, kind::Untyped};
use sealwax_mcp::{Happened, Item};
use serde_json::{Map, Value, json};

use crate::messages::Found;
use crate::world::{World, context};

pub fn compare(world: &mut World, event: &Value, found: &Found) -> Result<(), String> {
    let equal = |what: &str, found: &Value, expected: &Value| {
        if found == expected {
            return Ok(());
        }
        Err(format!("{what}: expected {expected}, found {found}"))
    };
    if let Some(why) = &found.wrong {
        return Err(why.clone());
    }
    equal("reported", &json!(found.reported), &event["reported"])?;
    if let Some(happened) = event.get("happened") {
        let found = found.happened.iter().map(|one| world.key_named(one));
        equal("happened", &found.collect(), happened)?;
    }
    equal("asked", &json!(found.asked), &event["asked"])?;
    if let Some(commands) = event.get("commands") {
        equal("commands", &json!(found.commands), commands)?;
    }
    if let Some(anybodys) = event.get("anybodys") {
        equal("anybodys", &json!(found.anybodys), anybodys)?;
    }
    match (&event["delivered"], &found.delivered) {
        (Value::Null, Value::Null) => {}
        (Value::Object(expected), Value::Object(delivered)) => {
            for (name, value) in expected {
                equal(name, delivered.get(name).unwrap_or(&Value::Null), value)?;
            }
        }
        (expected, delivered) => equal("delivered", delivered, expected)?,
    }
    let none = Vec::new();
    let did = event["did"].as_array().unwrap_or(&none);
    if did.len() != found.did.len() {
        return Err(format!("did: expected {did:?}, found {:?}", found.did));
    }
    for (expected, found_did) in did.iter().zip(&found.did) {
        matches(world, expected, found_did, "did")?;
    }
    let answered = &event["answered"];
    if event["via"] != "http" && answered.is_null() {
        return equal("answered", &found.answered, answered);
    }
    if let Some(error) = answered
        .get("error")
        .or_else(|| answered["message"].get("error"))
    {
        // An error has exactly these members.
        let message = found.answered.get("message").unwrap_or(&found.answered);
        let expected = echoed(error, found);
        exactly(world, &expected, &message["error"], "error")?;
        return match answered.get("status") {
            Some(status) => equal("status", &found.answered["status"], status),
            None => Ok(()),
        };
    }
    matches(world, answered, &found.answered, "answered")
}

/// Writes an event as transcripts do, with the id of the key.
pub fn happened(event: Happened, kind: Item, key_id: Option<String>, age: Option<u64>) -> String {
    let mut text = format!("{} {kind}", event.name());
    for part in key_id.into_iter().chain(age.map(|age| age.to_string())) {
        text += " ";
        text += &part;
    }
    text
}

/// An error: it has no other members, and its data neither.
fn exactly(world: &mut World, expected: &Value, error: &Value, place: &str) -> Result<(), String> {
    for (expected, value) in [(expected, error), (&expected["data"], &error["data"])] {
        let names = |value: &Value| -> Vec<String> {
            let members = value.as_object().into_iter().flatten();
            let mut names: Vec<_> = members.map(|(name, _)| name.clone()).collect();
            names.sort_unstable();
            names
        };
        if names(expected) != names(value) {
            return Err(format!("{place}: expected {expected}, found {error}"));
        }
    }
    matches(world, expected, error, place)
}

/// `$echo` is the session id that was sent.
fn echoed(error: &Value, found: &Found) -> Value {
    let mut error = error.clone();
    if error["data"]["sessionId"] == "$echo" {
        let meta = &found.sent["params"]["_meta"]["io.modelcontextprotocol/session"];
        let sent = found.sent.get("sessionId").unwrap_or(&meta["sessionId"]);
        error["data"]["sessionId"] = sent.clone();
    }
    error
}

/// At least what is expected.
fn matches(world: &mut World, expected: &Value, value: &Value, place: &str) -> Result<(), String> {
    let differs = || Err(format!("{place}: expected {expected}, found {value}"));
    match expected {
        Value::Object(object) if object.contains_key("$token") => {
            token(world, &object["$token"], value, place)
        }
        Value::Object(object) if object.contains_key("$session") => {
            session(world, object, value, place)
        }
        Value::Object(object) if object.contains_key("$handle") => {
            match value["handle"].is_string() {
                true => Ok(()),
                false => differs(),
            }
        }
        Value::Object(object) => {
            for (name, member) in object {
                let place = format!("{place}.{name}");
                if name == "$absent" {
                    let absent = member.as_array().unwrap().iter();
                    for name in absent.map(|name| name.as_str().unwrap()) {
                        if value.get(name).is_some() {
                            return Err(format!("{place}: {name} is there"));
                        }
                    }
                    continue;
                }
                let Some(value) = value.get(name) else {
                    return Err(format!("{place} is missing in {value}"));
                };
                matches(world, member, value, &place)?;
            }
            Ok(())
        }
        Value::Array(items) if value.as_array().is_some_and(|it| it.len() == items.len()) => {
            for (expected, value) in items.iter().zip(value.as_array().unwrap()) {
                matches(world, expected, value, place)?;
            }
            Ok(())
        }
        _ if expected == value => Ok(()),
        _ => differs(),
    }
}

fn token(world: &mut World, expected: &Value, value: &Value, place: &str) -> Result<(), String> {
    let text = value.as_str().ok_or(format!("{place}: no text"))?;
    if let Some(name) = expected.as_str() {
        let known = world.tokens.get(name).map(String::as_str) == Some(text);
        return if known {
            Ok(())
        } else {
            Err(format!("{place}: another token"))
        };
    }
    let view = world.view(&json!({"as": expected["as"], "key": "new"}), "age");
    let bound = context(&expected["context"]);
    let mut purpose = Purpose::of(expected["kind"].as_str().unwrap().parse().unwrap());
    purpose.label = expected["label"].as_str().unwrap_or_default();
    if let Some(bound) = &bound {
        purpose.context = bound.as_bytes();
    }
    let opened: Opened<Untyped> = view
        .sealer(purpose)
        .open(text)
        .map_err(|e| format!("{place}: {e}"))?;
    if let Some(name) = expected["name"].as_str() {
        world.tokens.insert(name.into(), text.into());
    }
    if let Some(ttl) = expected["ttl"].as_u64()
        && opened.expires_at() != Some(opened.issued_at() + ttl)
    {
        return Err(format!("{place}: lives to {:?}", opened.expires_at()));
    }
    let payload = String::from_utf8(opened.payload().to_vec()).unwrap();
    if let Some(members) = expected["json"].as_object() {
        let payload: Value = serde_json::from_str(&payload).unwrap();
        let same = members.iter().all(|(name, value)| payload[name] == *value);
        return if same {
            Ok(())
        } else {
            Err(format!("{place}: holds {payload}"))
        };
    }
    match expected["payload"].as_str() {
        Some(held) if held != payload => Err(format!("{place}: holds {payload}")),
        _ => Ok(()),
    }
}

fn session(
    world: &mut World,
    expected: &Map<String, Value>,
    value: &Value,
    place: &str,
) -> Result<(), String> {
    let name = expected["$session"].as_str().unwrap();
    let id = value["sessionId"]
        .as_str()
        .ok_or(format!("{place}: no session"))?;
    let before = world
        .sessions
        .get(name)
        .and_then(|versions| versions.last());
    if before.is_some_and(|before| before["sessionId"] != *id) {
        return Err(format!("{place}: another session"));
    }
    if let Some(version) = expected.get("version") {
        let at = usize::try_from(version.as_u64().unwrap()).unwrap();
        return match world.sessions[name].get(at) {
            Some(version) if version["state"] == value["state"] => Ok(()),
            _ => Err(format!("{place}: another version")),
        };
    }
    let view = world.view(&json!({"key": "both"}), "age");
    match expected.get("payload") {
        Some(payload) => {
            let sent = SessionMetadata::new(id, value["state"].as_str().map(Into::into));
            let sessions = view.sessions().ttl(Duration::from_secs(1));
            let opened = sessions
                .open(&sent)
                .map_err(|error| format!("{place}: {error}"))?;
            let held = String::from_utf8(opened.payload().to_vec()).unwrap();
            if held != payload.as_str().unwrap() {
                return Err(format!("{place}: holds {held}"));
            }
            let generation = opened.state().generation();
            if expected["generation"] != generation {
                return Err(format!("{place}: of generation {generation}"));
            }
        }
        None if value.get("state").is_some() && place != "did" => {
            return Err(format!("{place}: a new state"));
        }
        None => {}
    }
    let versions = world.sessions.entry(name.into()).or_default();
    if value.get("state").is_some() || versions.is_empty() {
        versions.push(value.clone());
    }
    Ok(())
}
