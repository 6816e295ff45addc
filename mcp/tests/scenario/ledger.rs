//! The ledger of a transcript, with the transcript's clock, whose answers may be lost.

use std::collections::HashMap;

use sealwax_mcp::ledger::Memory;
use sealwax_mcp::machine::{Machine, kind};
use serde_json::{Value, json};

use crate::exchange::Told;
use crate::frames::{made, tell};
use crate::say;

/// How long a ledger has remembered, unless a transcript says otherwise.
const HOUR: u64 = 3600;

pub struct LossyLedger {
    memory: Machine,
    /// Whether it fails at every command but `open`.
    fails: bool,
    /// How many of the next answers are lost, by command.
    lost: HashMap<String, u64>,
}

fn memory(since: u64) -> Machine {
    let [capacity, since] = [Memory::CAPACITY.to_string(), since.to_string()];
    let texts = [&capacity, &since].map(|text| Some(text.as_bytes()));
    made(None, kind::MEMORY, 0, &texts).0
}

impl LossyLedger {
    pub fn new(settings: &Value, now: u64) -> Self {
        let since = settings["ledgerOptions"]["since"].as_u64();
        Self {
            memory: memory(now - since.unwrap_or(HOUR)),
            fails: settings["ledger"] == "failing",
            lost: HashMap::new(),
        }
    }

    pub fn before(&mut self, told: &Value, now: u64) {
        if told["forgets"] == true {
            self.memory = memory(now);
        }
        for (command, times) in told["lost"].as_object().into_iter().flatten() {
            self.lost.insert(command.clone(), times.as_u64().unwrap());
        }
    }

    /// Runs a command. It is done, even if its answer is lost. Says which, but for `open`.
    pub fn run(&mut self, asked: &Value, now: u64) -> Told {
        let wrong = |why: &str| [None, None, Some(why.into())];
        let script = asked["script"].as_str().unwrap();
        if script != "open" {
            say(json!({"commands": script}));
            if self.fails {
                return wrong("the store is down");
            }
        }
        let command = json!({"script": script, "keys": asked["keys"], "args": asked["args"]});
        let [command, now] = [command.to_string(), now.to_string()];
        let texts = [&command, &now].map(|text| Some(text.as_bytes()));
        let [reply, _] = tell(&mut self.memory, kind::RUN, 0, &texts).unwrap().texts;
        match self.lost.get_mut(script) {
            Some(left) if *left > 0 => {
                *left -= 1;
                wrong("the answer is lost")
            }
            _ => [reply, None, None],
        }
    }
}
