//! The handler of a transcript, on the engine: it does what the driver tells it.

use std::time::Duration;

use sealwax::Principal;
use sealwax_mcp::{Exchange, HandleOp, HandleOpKind, HandleResult, Predecessor, Step};
use serde_json::{Value, json};

use crate::messages::sent;
use crate::stage::{principal, report};
use crate::{Program, say};

/// Returns the handler's result; `None` where it throws.
pub fn run(program: &mut Program, exchange: &mut Exchange, mut seen: Value) -> Option<Value> {
    program.handlers += 1;
    seen["id"] = program.handlers.into();
    say(json!({"handler": seen}));
    loop {
        let told = program.next().unwrap();
        match told["do"].as_str().unwrap() {
            // Another message comes meanwhile.
            _ if told["to"] != seen["id"] => program.act(&told),
            "return" => return Some(with_states(exchange, &told["result"])),
            "throw" => return None,
            name => {
                let done = operate(program, exchange, name, &told["given"], &told["options"]);
                say(json!({"done": done}));
            }
        }
    }
}

/// Replaces each `{"$state": value}` by what an author gets for that value.
fn with_states(exchange: &mut Exchange, value: &Value) -> Value {
    match value {
        Value::Object(object) if object.contains_key("$state") => exchange
            .seal_state(&object["$state"].to_string())
            .unwrap()
            .into(),
        Value::Object(object) => object
            .iter()
            .map(|(name, value)| (name.clone(), with_states(exchange, value)))
            .collect(),
        Value::Array(items) => items
            .iter()
            .map(|item| with_states(exchange, item))
            .collect(),
        other => other.clone(),
    }
}

fn operate(
    program: &mut Program,
    exchange: &mut Exchange,
    name: &str,
    given: &Value,
    options: &Value,
) -> Value {
    let mistake = |error: sealwax::Error| json!({"error": error.code()});
    match name {
        "state" => exchange.state().map_or_else(mistake, |state| json!(state)),
        "idempotencyKey" => exchange.idempotency_key().map_or_else(mistake, Value::from),
        "sessionId" => {
            let own = exchange.session().map(sealwax_mcp::Session::ulid);
            json!(own.or_else(|| program.session_id.take()))
        }
        "session" => session_of(exchange),
        "write" => {
            let written = exchange.write(&given[0].to_string());
            written.map_or_else(mistake, |()| "ok".into())
        }
        "fork" => exchange
            .fork()
            .map_or_else(mistake, |metadata| json!(metadata)),
        _ => handled(program, exchange, name, given, options).unwrap_or_else(|refused| refused),
    }
}

pub fn session_of(exchange: &Exchange) -> Value {
    let Some(session) = exchange.session() else {
        return Value::Null;
    };
    let value = session
        .value()
        .map(|value| serde_json::from_str::<Value>(value).unwrap());
    json!({"value": value, "generation": session.generation()})
}

fn handled(
    program: &mut Program,
    exchange: &Exchange,
    name: &str,
    given: &Value,
    options: &Value,
) -> Result<Value, Value> {
    let handle_type = match name {
        "cursor" | "position" => options["argument"].as_str().unwrap_or("cursor"),
        _ => given[0].as_str().unwrap(),
    };
    let ttl = options["ttl"].as_u64().map(Duration::from_secs);
    let list = options["list"].as_str();
    let by = options.get("by").and_then(principal);
    let max_age = options["maxAge"].as_u64().map(Duration::from_secs);
    let handle = sent(given.get(1));
    let once = options["once"] == true;
    let mut drive = |kind| drive(program, exchange, HandleOp { handle_type, kind });
    let open = HandleOpKind::Open {
        handle,
        max_age: max_age.filter(|_| name != "renew"),
        once,
    };
    let (value, predecessor) = match name {
        "renew" => (&given[2], drive(open.clone())?.predecessor),
        "cursor" => (&given[0], None),
        _ => (&given[1], None),
    };
    let value = value.to_string();
    let made = drive(match name {
        "mint" => HandleOpKind::Mint { max_age },
        "check" => HandleOpKind::Check { handle, max_age },
        "mintShort" => HandleOpKind::MintShort {
            number: u32::try_from(given[1].as_u64().unwrap()).unwrap(),
        },
        "checkShort" => HandleOpKind::CheckShort { handle },
        "seal" | "renew" => HandleOpKind::Seal {
            value: &value,
            ttl: None,
            predecessor,
            once,
        },
        "open" => open,
        "end" => HandleOpKind::End {
            handle,
            max_age,
            self_contained: options["selfContained"] == true,
        },
        "link" => HandleOpKind::SealLink {
            value: &value,
            ttl,
            once,
        },
        "follow" => HandleOpKind::OpenLink {
            link: handle,
            keep: options["keep"] == true,
            by,
        },
        "cursor" => HandleOpKind::Cursor {
            position: &value,
            ttl,
            list,
        },
        "position" => HandleOpKind::Position { list },
        other => panic!("no operation is named {other}"),
    })?;
    // A token that holds its state tells its times, whether made or opened.
    if matches!(name, "seal" | "renew" | "open") {
        let (before, life) = (made.predecessor.clone().unwrap(), made.times.unwrap());
        assert!(before.started_at <= life.issued_at && life.expires_at > Some(life.issued_at));
    }
    let held = made
        .value
        .as_deref()
        .map(|value| serde_json::from_str::<Value>(value).unwrap());
    Ok(match made.value {
        _ if name == "end" => "ok".into(),
        _ if name == "position" => json!({ "position": held }),
        Some(_) if name == "follow" => json!({"value": held, "principal": named(&made.principal)}),
        Some(_) => {
            let generation = made
                .predecessor
                .map(|Predecessor { generation, .. }| generation);
            json!({"value": held, "generation": generation})
        }
        None => json!({"handle": made.handle}),
    })
}

fn named(principal: &Option<Principal>) -> Value {
    match principal.as_ref().unwrap().parts() {
        None => json!({"anonymous": true}),
        Some(parts) => {
            json!({"issuer": parts.issuer, "client": parts.client, "subject": parts.subject})
        }
    }
}

fn drive(
    program: &mut Program,
    exchange: &Exchange,
    act: HandleOp<'_>,
) -> Result<HandleResult, Value> {
    // Links are opened outside of any request.
    let (mut acting, mut step) = match act.kind {
        HandleOpKind::OpenLink { .. } => program.stage().guard.link(act),
        _ => exchange.handle(act),
    };
    let mut opened = None;
    let done = loop {
        let next = match step {
            Step::Identify => program.stage().identify(),
            Step::Ledger(command) => {
                opened = Some(acting.opened().map(str::to_owned));
                program.stage().run(&command)
            }
            Step::Done(made) => {
                // A token could be read before the ledger was asked about it.
                assert!(opened.is_none_or(|opened| opened == made.value));
                break Ok(*made);
            }
            Step::Reply(reply) if reply.status.is_some() => {
                let kind = match reply.status {
                    Some(404) => "refused",
                    _ => "failed",
                };
                break Err(json!({kind: true}));
            }
            Step::Reply(reply) => {
                let text = reply.tool.unwrap().content[0].text.clone();
                let elsewhere = reply.error.unwrap();
                assert_eq!(elsewhere.message, text);
                let refusals = ["This ", "Authentication required", "Invalid arguments"];
                let (kind, code) = if refusals.iter().any(|one| text.starts_with(one)) {
                    ("refused", -32602)
                } else {
                    ("failed", -32603)
                };
                assert_eq!(elsewhere.code, code);
                break Err(json!({kind: true}));
            }
            other => panic!("an act gives no {other:?}"),
        };
        step = acting.on(next).unwrap();
    };
    report(&mut acting);
    done
}
