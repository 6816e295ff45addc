//! The ledger in memory on the scenario's clock, whose answers may be lost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sealwax::testing::TestClock;
use sealwax_rmcp::ledger::{Command, Ledger, LedgerError, LedgerSettings, Memory, Reply};
use sealwax_rmcp::testing;
use serde_json::{Value, json};

use crate::control::say;

pub struct LossyLedger {
    clock: TestClock,
    memory: Mutex<Arc<Memory>>,
    /// Whether it fails at every command but `open`.
    fails: bool,
    local: bool,
    /// How many of the next answers are lost, by command.
    lost: Mutex<HashMap<String, u64>>,
}

impl LossyLedger {
    /// Returns a ledger that has remembered for a while, and the guard's settings of it.
    pub fn new(kind: &str, options: &Value, clock: &TestClock) -> (Arc<Self>, LedgerSettings) {
        let now = clock.now();
        clock.set(now - options["since"].as_u64().unwrap_or(3600));
        let memory = Arc::new(testing::ledger(clock));
        clock.set(now);
        let ledger = Self {
            clock: clock.clone(),
            memory: Mutex::new(memory),
            fails: kind == "failing",
            local: options["local"] != false,
            lost: Mutex::default(),
        };
        let settings = LedgerSettings {
            clock_tolerance: options["clockTolerance"].as_u64().map(Duration::from_secs),
            accept_issued_since: options["acceptIssuedSince"].as_u64().map(|age| now - age),
            reusable_request_state: options["reusableRequestState"] == true,
            ..LedgerSettings::default()
        };
        (Arc::new(ledger), settings)
    }

    pub fn at(&self, told: &Value) {
        if told["forgets"] == true {
            *self.memory.lock().unwrap() = Arc::new(testing::ledger(&self.clock));
        }
        for (command, times) in told["lost"].as_object().into_iter().flatten() {
            let mut lost = self.lost.lock().unwrap();
            lost.insert(command.clone(), times.as_u64().unwrap());
        }
    }

    /// Whether this answer is lost.
    fn loses(&self, command: &str) -> bool {
        match self.lost.lock().unwrap().get_mut(command) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }

    async fn reply(&self, command: &Command) -> Reply {
        let name = command.script.name();
        // When it is opened is the adapter's own.
        if name != "open" {
            say(&json!({"commands": name}));
            if self.fails {
                return Err(LedgerError::Unavailable("the store is down".into()));
            }
        }
        let memory = Arc::clone(&self.memory.lock().unwrap());
        let reply = memory.run(command).await;
        if self.loses(name) {
            return Err(LedgerError::Unavailable("the answer is lost".into()));
        }
        reply
    }
}

impl Ledger for LossyLedger {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        self.reply(command).boxed()
    }

    fn is_local(&self) -> bool {
        self.local
    }
}
