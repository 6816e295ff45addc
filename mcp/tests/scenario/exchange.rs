//! The engine's exchanges, by frames.

use sealwax::Error;
use sealwax_mcp::machine::{Answer, Machine, flag, kind};
use serde_json::{Value, json};

use crate::frames::{NO_TEXT, Texts, made, tell};
use crate::{Program, say};

/// The answer to a question: a value as JSON, or what was thrown, or what is wrong.
pub type Told = [Option<String>; 3];

pub fn value(value: &Value) -> Told {
    [Some(value.to_string()), None, None]
}

pub fn threw(what: &str) -> Told {
    [None, Some(what.into()), None]
}

/// The value that a client sent at a place.
pub fn sent(value: Option<&Value>) -> Option<&[u8]> {
    match value? {
        Value::Null => None,
        Value::String(text) => Some(text.as_bytes()),
        _ => Some(NO_TEXT),
    }
}

pub struct Exchange {
    pub machine: Machine,
    /// The bytes that belong to the last step.
    pub beside: Option<String>,
}

impl Exchange {
    pub fn begun(parent: &Machine, kind: u8, flags: u16, texts: Texts<'_>) -> (Self, Value) {
        let (machine, answer) = made(Some(parent), kind, flags, texts);
        let mut exchange = Self {
            machine,
            beside: None,
        };
        let step = exchange.step(answer);
        (exchange, step)
    }

    /// Tells it something, and returns the next step.
    pub fn on(&mut self, kind: u8, flags: u16, texts: Texts<'_>) -> Value {
        let answer = self.tell(kind, flags, texts).unwrap();
        self.step(answer)
    }

    pub fn told(&mut self, told: &Told) -> Value {
        let texts = told.each_ref().map(|text| text.as_deref());
        self.on(kind::TOLD, 0, &texts.map(|text| text.map(str::as_bytes)))
    }

    pub fn tell(&mut self, kind: u8, flags: u16, texts: Texts<'_>) -> Result<Answer, Error> {
        tell(&mut self.machine, kind, flags, texts)
    }

    /// Returns an answer as a step, with what a short one leaves out. Says what was refused, and what happened to tokens.
    fn step(&mut self, answer: Answer) -> Value {
        let [text, beside] = answer.texts;
        let read = |text: &String| serde_json::from_str::<Value>(text).unwrap();
        let step = match answer.kind {
            kind::STEP => {
                self.beside = beside;
                read(&text.unwrap())
            }
            kind::DELIVER => {
                json!({"step": "deliver", "short": true, "opened": text, "events": beside.as_ref().map(read)})
            }
            kind::RESPOND => {
                json!({"step": "respond", "token": text, "events": beside.as_ref().map(read)})
            }
            other => panic!("no step is of the kind {other}"),
        };
        report(&step);
        step
    }

    /// Answers the questions until there is another step, and returns that; `known` is who asks, once that is resolved.
    pub fn driven(&mut self, program: &mut Program, mut step: Value, known: &mut Value) -> Value {
        while step["step"] == "ask" && !["body", "replay"].map(Value::from).contains(&step["name"])
        {
            let has_limit = ["ledger", "elicit", "list_tools"].map(Value::from);
            let limit = &step["withinMs"];
            assert_eq!(limit.is_u64(), has_limit.contains(&step["name"]), "{step}");
            let told = match step["name"] == "elicit" {
                true => program.elicited(&step["params"]),
                false => program.stage().answered(&step, known),
            };
            let (flags, parts) = caller(known);
            step = match step["name"] == "principal" && flags != 0 {
                true => self.on(kind::PRINCIPAL, flags & flag::ANONYMOUS, &parts),
                false => self.told(&told),
            };
        }
        step
    }
}

fn report(step: &Value) {
    let list = |name: &str| step[name].as_array().cloned().unwrap_or_default();
    for one in list("refused") {
        let level = one["level"] == "warn" || one["level"] == "error";
        assert!(level && one["message"] != "", "{one}");
        say(json!({"reported": {"code": one["code"], "kind": one["kind"]}}));
    }
    for event in list("events") {
        let parts = ["event", "kind", "keyId", "age"].map(|name| event[name].to_string());
        let words = parts.iter().filter(|part| *part != "null");
        let text = words.fold(String::new(), |text, word| {
            text + " " + word.trim_matches('"')
        });
        say(json!({"happened": text.trim_start()}));
    }
}

/// The caller of a message, as its frame has one: flags and parts.
pub fn caller(known: &Value) -> (u16, [Option<&[u8]>; 3]) {
    let parts = ["issuer", "client", "subject"].map(|name| sent(known.get(name)));
    match known {
        Value::Null => (0, parts),
        _ if known["anonymous"] == true => (flag::CALLER | flag::ANONYMOUS, parts),
        _ => (flag::CALLER, parts),
    }
}
