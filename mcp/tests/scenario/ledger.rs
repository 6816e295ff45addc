//! The ledger of a transcript, with the transcript's clock, whose answers may be lost.

use std::collections::HashMap;

use sealwax_mcp::ledger::{Command, Memory};
use serde_json::Value;

/// How long a ledger has remembered, unless a transcript says otherwise.
const HOUR: u64 = 3600;

pub struct LossyLedger {
    memory: Memory,
    /// Whether it fails at every command but `open`.
    fails: bool,
    /// How many of the next answers are lost, by command.
    lost: HashMap<String, u64>,
}

impl LossyLedger {
    pub fn new(settings: &Value, now: u64) -> Self {
        let since = settings["ledgerOptions"]["since"].as_u64();
        Self {
            memory: Memory::new(Memory::CAPACITY, now - since.unwrap_or(HOUR)),
            fails: settings["ledger"] == "failing",
            lost: HashMap::new(),
        }
    }

    pub fn before(&mut self, told: &Value, now: u64) {
        if told["forgets"] == true {
            self.memory = Memory::new(Memory::CAPACITY, now);
        }
        for (command, times) in told["lost"].as_object().into_iter().flatten() {
            self.lost.insert(command.clone(), times.as_u64().unwrap());
        }
    }

    /// Runs a command. It is done, even if its answer is lost.
    pub fn run(&mut self, command: &Command, now: u64) -> Result<Vec<String>, String> {
        if self.fails && counted(command).is_some() {
            return Err("the store is down".into());
        }
        let reply = self.memory.run(command, now);
        match self.lost.get_mut(command.script.name()) {
            Some(left) if *left > 0 => {
                *left -= 1;
                Err("the answer is lost".into())
            }
            _ => Ok(reply),
        }
    }
}

/// The name of a command, which transcripts count; `open` they do not.
pub fn counted(command: &Command) -> Option<&'static str> {
    Some(command.script.name()).filter(|name| *name != "open")
}
