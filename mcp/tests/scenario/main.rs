//! The scenario server of the engine alone, by frames, without an SDK: tests/driver/run.py says what it is told, and what it
//! says. Messages come by its control channel, and are answered there; one thing happens at a time.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing)]

#[path = "../../../tests/common/mod.rs"]
#[allow(missing_docs)]
mod common;
mod exchange;
#[allow(missing_docs)]
mod frames;
mod handler;
mod ledger;
mod messages;
mod stage;

use std::io::{self, Lines, StdinLock, Write as _};

use exchange::{Told, threw, value};
use serde_json::{Value, json};
use stage::Stage;

struct Program {
    told: Lines<StdinLock<'static>>,
    stage: Option<Stage>,
    /// How many handlers have run.
    handlers: u64,
    /// The id of the session of the message around HTTP or stdio.
    session_id: Option<String>,
    /// What a session of the transport settled, for the message inside.
    negotiated: Option<String>,
}

impl Program {
    /// Returns what the driver tells next.
    fn next(&mut self) -> Option<Value> {
        let line = self.told.next()?.unwrap();
        Some(serde_json::from_str(&line).unwrap())
    }

    /// Returns what the client answers to a question.
    fn elicited(&mut self, params: &Value) -> Told {
        say(json!({"elicited": params}));
        loop {
            let told = self.next().unwrap();
            if told["do"] == "elicited" {
                return match &told["answer"]["error"] {
                    Value::Null => value(&told["answer"]["result"]),
                    error => threw(&error.to_string()),
                };
            }
            self.act(&told);
        }
    }

    fn stage(&mut self) -> &mut Stage {
        self.stage.as_mut().unwrap()
    }

    /// Does anything but the operations of a handler.
    fn act(&mut self, told: &Value) {
        let mut done = Value::Null;
        match told["do"].as_str().unwrap() {
            "serve" => self.stage = Some(Stage::new(told)),
            "at" => self.stage().at(told),
            "revoke" => done = stage::revoke(self, &told["whom"]).into(),
            "settle" => {}
            "send" => {
                let identified = std::mem::take(&mut self.stage().identified);
                let answered = messages::answered(self, told);
                self.stage().identified = identified;
                return say(json!({"answer": answered}));
            }
            other => panic!("nothing is named {other}"),
        }
        say(json!({"done": done}));
    }
}

fn say(said: Value) {
    let mut out = io::stdout().lock();
    writeln!(out, "{said}").unwrap();
    out.flush().unwrap();
}

fn main() {
    let mut program = Program {
        told: io::stdin().lines(),
        stage: None,
        handlers: 0,
        session_id: None,
        negotiated: None,
    };
    say(json!({"direct": true, "lines": null, "events": true}));
    while let Some(told) = program.next() {
        program.act(&told);
    }
}
