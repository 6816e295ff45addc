//! The script of a handler, on the engine.

use std::time::Duration;

use sealwax_mcp::ledger::Command;
use sealwax_mcp::{
    ClientValue, Event, Exchange, Failed, HandleOp, HandleOpKind, HandleResult, Predecessor,
    Question, Step, Verdict,
};
use serde_json::{Value, json};

use crate::messages::{Found, play_all, sent};
use crate::world::World;
use crate::world_ledger::counted;

/// Runs a handler's operations. Returns its result; `None` where it throws.
pub fn run(
    world: &mut World,
    exchange: &mut Exchange,
    event: &Value,
    found: &mut Found,
) -> Option<Value> {
    let mut returned = json!({});
    for operation in event["handler"].as_array().into_iter().flatten() {
        let name = operation[0].as_str().unwrap();
        match name {
            "return" => returned = with_states(exchange, &world.resolved(&operation[1])),
            "result" => returned = result_of(&session_of(exchange)["value"]),
            "throw" => return None,
            _ => {
                let did = operate(world, exchange, operation, event, found);
                found.did.push(did);
            }
        }
    }
    let during = play_all(world, &event["during"]);
    found.wrong = during.err().map(|why| format!("during: {why}"));
    Some(returned)
}

/// A function that was given to `update`: it adds to a number.
#[derive(Debug)]
pub struct Update {
    added: i64,
    /// Whether it fails at a newer value.
    fails: bool,
}

impl Update {
    fn applied(&self, value: &str) -> String {
        (value.parse::<i64>().unwrap() + self.added).to_string()
    }
}

/// Applies the functions of a handler to a newer value. Returns what it becomes, and the result if it is made of it.
pub fn updated(
    found: &mut Found,
    event: &Value,
    value: &str,
) -> Result<(String, Option<Value>), Failed> {
    if found.updates.iter().any(|update| update.fails) {
        return Err(Failed("update: the function threw".into()));
    }
    let updates = found.updates.iter();
    let value = updates.fold(value.to_owned(), |value, update| update.applied(&value));
    let makes = |operation: &Value| operation[0] == "result";
    let made = event["handler"].as_array().unwrap().iter().any(makes);
    let result = made.then(|| result_of(&value.parse().unwrap()));
    Ok((value, result))
}

/// The result that the operation `result` makes of a session's value.
fn result_of(value: &Value) -> Value {
    json!({"content": [{"type": "text", "text": value.to_string()}]})
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
    world: &mut World,
    exchange: &mut Exchange,
    operation: &Value,
    event: &Value,
    found: &mut Found,
) -> Value {
    let mistake = |error: sealwax::Error| json!({"error": error.code()});
    match operation[0].as_str().unwrap() {
        "state" => exchange.state().map_or_else(mistake, |state| json!(state)),
        "session" => session_of(exchange),
        "write" => {
            let written = exchange.write(&operation[1].to_string());
            written.map_or_else(mistake, |()| "ok".into())
        }
        "update" => {
            let added = operation[1].as_i64().unwrap();
            let fails = operation[2]["fails"] == true;
            let update = Update { added, fails };
            let value = exchange.session().unwrap().value().unwrap().to_owned();
            let written = exchange.update(&update.applied(&value));
            found.updates.push(update);
            written.map_or_else(mistake, |()| "ok".into())
        }
        "fork" => exchange
            .fork()
            .map_or_else(mistake, |metadata| json!(metadata)),
        _ => act(world, exchange, operation, event, found),
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

fn act(
    world: &mut World,
    exchange: &Exchange,
    operation: &Value,
    event: &Value,
    found: &mut Found,
) -> Value {
    let name = operation[0].as_str().unwrap();
    let handle_type = operation[1].as_str().unwrap();
    let options = operation.as_array().unwrap().last().unwrap();
    let max_age = options["maxAge"].as_u64().map(Duration::from_secs);
    let third = world.resolved(operation.get(2).unwrap_or(&Value::Null));
    let handle: ClientValue<'_> = sent(Some(&third).filter(|_| operation.get(2).is_some()));
    let value = match name {
        "renew" => operation[3].to_string(),
        _ => third.to_string(),
    };
    let once = options["once"] == true;
    let mut before = None;
    if name == "renew" {
        let kind = HandleOpKind::Open {
            handle,
            max_age: None,
            once,
        };
        match drive(
            world,
            exchange,
            HandleOp { handle_type, kind },
            event,
            found,
        ) {
            Ok(opened) => before = opened.predecessor,
            Err(refused) => return refused,
        }
    }
    let kind = match name {
        "mint" => HandleOpKind::Mint { max_age },
        "check" => HandleOpKind::Check { handle, max_age },
        "seal" | "renew" => HandleOpKind::Seal {
            value: &value,
            ttl: None,
            predecessor: before,
            once,
        },
        "open" => HandleOpKind::Open {
            handle,
            max_age,
            once,
        },
        "end" => HandleOpKind::End {
            handle,
            max_age,
            self_contained: options["selfContained"] == true,
        },
        other => panic!("no operation is named {other}"),
    };
    let made = match drive(
        world,
        exchange,
        HandleOp { handle_type, kind },
        event,
        found,
    ) {
        Ok(made) => made,
        Err(refused) => return refused,
    };
    // A token that holds its state tells its times, whether made or opened.
    if matches!(name, "seal" | "renew" | "open") {
        let (before, life) = (made.predecessor.clone().unwrap(), made.times.unwrap());
        assert!(before.started_at <= life.issued_at && life.expires_at > Some(life.issued_at));
    }
    if let (Some(name), Some(handle)) = (options["as"].as_str(), &made.handle) {
        world.handles.insert(name.into(), handle.clone());
    }
    match made {
        _ if name == "end" => "ok".into(),
        HandleResult {
            value: Some(value),
            predecessor: before,
            ..
        } => {
            let value: Value = serde_json::from_str(&value).unwrap();
            json!({"value": value, "generation": before.map(|Predecessor { generation, .. }| generation)})
        }
        made => json!({"handle": made.handle}),
    }
}

fn drive(
    world: &mut World,
    exchange: &Exchange,
    act: HandleOp<'_>,
    event: &Value,
    found: &mut Found,
) -> Result<HandleResult, Value> {
    let (mut acting, mut step) = exchange.handle(act);
    let mut opened = None;
    let done = loop {
        let next = match step {
            Step::Identify => found.identify(world, event),
            Step::Ask { question, .. } => {
                opened = Some(acting.opened().map(str::to_owned));
                Event::Answer(found.answer(world, question))
            }
            Step::Ledger(command) => found.run(world, &command),
            Step::Done(made) => {
                // A token could be read before `accept` was asked about it.
                assert!(opened.is_none_or(|opened| opened == made.value));
                break Ok(*made);
            }
            Step::Reply(reply) => {
                let (text, elsewhere) = (reply.tool.unwrap().content[0].text, reply.error.unwrap());
                assert_eq!(elsewhere.message, text);
                let refusals = ["This handle is not valid", "Authentication required"];
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
    found.report(&mut acting);
    done
}

impl Found {
    pub fn identify(&mut self, world: &World, event: &Value) -> Event<'static> {
        let who = event["as"].as_str().unwrap();
        if !std::mem::replace(&mut self.identified, true) {
            self.asked.push("principal".into());
        }
        match (world.principal(who), who) {
            (Some(principal), _) => Event::Principal(Ok(Some(principal))),
            (None, "nobody") => Event::Principal(Ok(None)),
            (None, _) => Event::Principal(Err(Failed("principal: it threw".into()))),
        }
    }

    pub fn run(&mut self, world: &mut World, command: &Command) -> Event<'static> {
        self.commands.extend(counted(command));
        let now = world.clock.now();
        Event::Ledger(world.ledger.run(command, now).map_err(Failed))
    }

    pub fn answer(&mut self, world: &mut World, question: Question) -> Verdict {
        let failed = || Verdict::Unavailable(Failed("accept: failed".into()));
        match question {
            Question::Accept(asked) => {
                let verdict = world.accept(&asked);
                // `accept` is asked about one after another, until one is not accepted.
                let heard = match verdict {
                    Ok(()) => asked.len(),
                    Err(at) => at.unwrap_or_default() + 1,
                };
                for presented in &asked[..heard] {
                    self.asked.push(format!("accept {}", presented.item));
                    self.anybodys.push(presented.public);
                }
                match verdict {
                    Ok(()) => Verdict::Yes,
                    Err(Some(at)) => Verdict::No(at),
                    Err(None) => failed(),
                }
            }
            Question::End(presented) => {
                self.asked.push(format!("end {}", presented.item));
                world
                    .end(&presented)
                    .map_or_else(|()| failed(), |()| Verdict::Yes)
            }
            other => panic!("no question is {other:?}"),
        }
    }
}
