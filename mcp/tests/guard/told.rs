//! Messages for the engine, written as JSON.

use std::time::Duration;

use sealwax::Principal;
use sealwax_mcp::{
    Body, ClientSession, ClientValue, Exchange, Failed, Guard, HttpRequest, Message, document,
};
use serde_json::{Value, json};

pub fn message(guard: &Guard, told: &Value, arguments: Option<&str>) -> (Exchange, String) {
    let session = &told["session"];
    let session = (!session.is_null()).then(|| ClientSession {
        id: ClientValue::from(&session["id"]),
        state: ClientValue::from(&session["state"]),
    });
    let message = Message {
        method: told["method"].as_str().unwrap_or_default(),
        target: told["target"].as_str(),
        arguments,
        notification: told["notification"] == true,
        modern: told["modern"] == true,
        header: told["header"].as_str(),
        token: ClientValue::from(&told["token"]),
        session,
        principal: caller(&told["principal"]),
        within: told["withinMs"].as_u64().map(Duration::from_millis),
    };
    document::begun(guard.message(message))
}

/// A message on HTTP, or else on stdio.
pub fn transport(guard: &Guard, told: &Value, params: Option<&str>) -> (Exchange, String) {
    let mut body = json!({"jsonrpc": "2.0"});
    for (from, to) in [("method", "method"), ("messageSessionId", "sessionId")] {
        if !told[from].is_null() {
            body[to] = told[from].clone();
        }
    }
    if told["notification"] != true && !told["method"].is_null() {
        body["id"] = 1.into();
    }
    if let Some(params) = params {
        body["params"] = serde_json::from_str(params).unwrap();
    } else if !told["target"].is_null() {
        body["params"] = json!({"name": told["target"]});
    }
    let body = body.to_string();
    let Some(http) = told["http"].as_str() else {
        return document::begun(guard.connection().line(body.as_bytes()));
    };
    let version = Some("2026-07-28").filter(|_| told["modern"] == true);
    let request = HttpRequest {
        method: http,
        version: ClientValue::from(version),
        session: ClientValue::from(&told["header"]),
        body: Some(Body::Whole(body.as_bytes())),
        principal: caller(&told["principal"]),
        ..HttpRequest::default()
    };
    document::begun(guard.http(request))
}

/// Returns a result that a step changed.
pub fn changed(mut result: Value, step: &Value) -> Value {
    for change in step["set"].as_array().into_iter().flatten() {
        let path = change[0].as_array().unwrap().iter();
        let place = path.fold(&mut result, |place, name| {
            if !place.is_object() {
                *place = json!({});
            }
            &mut place[name.as_str().unwrap()]
        });
        *place = change[1].clone();
    }
    result
}

/// Returns the caller; one that is no principal is the adapter's mistake.
fn caller(told: &Value) -> Option<Result<Principal, Failed>> {
    if told.is_null() {
        return None;
    }
    let parts = ["issuer", "client", "subject"].map(|name| ClientValue::from(&told[name]));
    let [issuer, client, subject] = parts.map(ClientValue::text);
    let is_named = parts.iter().any(|part| *part != ClientValue::Absent);
    let named = match &told["anonymous"] {
        Value::Bool(true) if !is_named => Ok(Principal::anonymous()),
        Value::Null | Value::Bool(false) if !parts.contains(&ClientValue::Other) => {
            Principal::from_parts(issuer, client, subject)
        }
        _ => return Some(Err(Failed::Wrong("no principal".into()))),
    };
    Some(named.map_err(|error| Failed::Wrong(error.to_string())))
}
