//! The ledger of a transcript: in memory, with the transcript's clock.

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use sealwax_rmcp::GuardBuilder;
use sealwax_rmcp::ledger::{Command, Ledger, LedgerError, LedgerSettings, Reply};
use serde_json::Value;

use crate::scripted_server::Stage;
use crate::world_ledger::counted;

pub fn with_ledger(builder: GuardBuilder, stage: &Stage, options: &Value) -> GuardBuilder {
    let stage = stage.clone();
    let now = stage.lock().world.clock.now();
    let local = options["local"] != false;
    let tolerance = options["clockTolerance"].as_u64();
    let settings = LedgerSettings {
        clock_tolerance: tolerance.map(Duration::from_secs),
        accept_issued_since: options["acceptIssuedSince"].as_u64().map(|age| now - age),
        reusable_request_state: options["reusableRequestState"] == true,
        ..LedgerSettings::default()
    };
    builder.ledger_with(Scripted { stage, local }, settings)
}

struct Scripted {
    stage: Stage,
    local: bool,
}

impl Ledger for Scripted {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        let mut scene = self.stage.lock();
        scene.found.commands.extend(counted(command));
        let now = scene.world.clock.now();
        let reply = scene.world.ledger.run(command, now);
        ready(reply.map_err(LedgerError::Unavailable)).boxed()
    }

    fn is_local(&self) -> bool {
        self.local
    }
}
