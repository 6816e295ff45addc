//! A guard with the settings of a transcript, and the clock and the ledger in the driver's hands.

use std::time::Duration;

use sealwax::{Codec, KeyRing, Principal};
use sealwax_mcp::ledger::Command;
use sealwax_mcp::{
    Confirm, Connection, Event, Exchange, Failed, Guard, LedgerSettings, Level, OnLost, Required,
    SessionSettings, Step, TransportSettings,
};
use serde_json::{Value, json};

use crate::common::Clock;
use crate::ledger::{LossyLedger, counted};
use crate::say;

pub struct Stage {
    pub guard: Guard,
    /// Of the client on stdio.
    pub connection: Connection,
    settings: Value,
    clock: Clock,
    ledger: LossyLedger,
    /// The parts of the principal who asks, `null`, or that the function throws.
    who: Value,
    anonymous: bool,
    /// Whether it was asked who asks, during this message.
    pub identified: bool,
}

impl Stage {
    pub fn new(told: &Value) -> Self {
        let (settings, now) = (told["settings"].clone(), told["now"].as_u64().unwrap());
        let clock = Clock::at_ms(now * 1000);
        let ring: KeyRing = told["keys"].as_str().unwrap().parse().unwrap();
        let codec = Codec::builder(ring, told["audience"].as_str().unwrap());
        let codec = codec.build_in(clock.clone()).unwrap();
        let guard = guard(codec, &settings, now);
        Self {
            connection: guard.connection(),
            guard,
            ledger: LossyLedger::new(&settings, now),
            settings,
            clock,
            who: Value::Null,
            anonymous: told["anonymous"] == true,
            identified: false,
        }
    }

    pub fn at(&mut self, told: &Value) {
        self.clock.set(told["now"].as_u64().unwrap());
        self.ledger.before(told, self.clock.now());
        self.who = told["who"].clone();
    }

    pub fn initial(&self) -> String {
        say(json!({"asked": "begin"}));
        self.settings["sessions"]["initial"].to_string()
    }

    /// Returns what the author's function makes of a call, as JSON; `None` if it throws.
    pub fn words(&self) -> Option<String> {
        say(json!({"asked": "confirm"}));
        let words = &self.settings["confirm"]["play"]["words"];
        (!words.is_null()).then(|| words.to_string())
    }

    /// Returns a page of the server's list of tools, as JSON; `None` if it throws.
    pub fn listed(&self, cursor: &str) -> Option<String> {
        self.settings["tools"].get(cursor).map(Value::to_string)
    }

    pub fn identify(&mut self) -> Event<'static> {
        // Who is anonymous by name is not asked for.
        if !std::mem::replace(&mut self.identified, true) && !self.anonymous {
            say(json!({"asked": "principal"}));
        }
        if self.who == "thrower" {
            return Event::Principal(Err(Failed::Threw("an error".into())));
        }
        Event::Principal(Ok(principal(&self.who)))
    }

    pub fn run(&mut self, command: &Command) -> Event<'static> {
        if let Some(name) = counted(command) {
            say(json!({"commands": name}));
        }
        let reply = self.ledger.run(command, self.clock.now());
        Event::Ledger(reply.map_err(Failed::Wrong))
    }

    /// Whether the ledger recorded it.
    pub fn revoke(&mut self, whom: &Value) -> bool {
        let guard = self.guard.clone();
        let (mut exchange, mut step) = guard.revoke(&principal(whom).unwrap(), None).unwrap();
        let done = loop {
            match step {
                Step::Ledger(command) => step = exchange.on(self.run(&command)).unwrap(),
                Step::Done(_) => break true,
                _ => break false,
            }
        };
        report(&mut exchange);
        done
    }
}

/// Says what was refused, and what happened to tokens.
pub fn report(exchange: &mut Exchange) {
    for one in exchange.refused() {
        let level = matches!(one.level, Level::Warn | Level::Error);
        assert!(level && !one.message.is_empty(), "{one:?}");
        say(json!({"reported": {"code": one.code, "kind": one.item.name()}}));
    }
    for event in exchange.events() {
        let mut text = format!("{} {}", event.event.name(), event.item);
        let age = event.age.map(|age| age.to_string());
        for part in event.key_id.map(|id| id.to_string()).into_iter().chain(age) {
            text += " ";
            text += &part;
        }
        say(json!({"happened": text}));
    }
}

pub fn principal(parts: &Value) -> Option<Principal> {
    if parts["anonymous"] == true {
        return Some(Principal::anonymous());
    }
    let part = |name: &str| parts[name].as_str();
    let (issuer, client, subject) = (part("issuer"), part("client"), part("subject"));
    parts
        .is_object()
        .then(|| Principal::from_parts(issuer, client, subject).unwrap())
}

fn guard(codec: Codec, settings: &Value, now: u64) -> Guard {
    let seconds = |value: &Value| value.as_u64().map(Duration::from_secs);
    let mut builder = Guard::builder(codec).events(true);
    if let Some(ttl) = seconds(&settings["requestStateTtl"]) {
        builder = builder.request_state_ttl(ttl);
    }
    for (target, names) in settings["only"].as_object().into_iter().flatten() {
        let names = names.as_array().unwrap().iter();
        builder = builder.only(target, names.map(|name| name.as_str().unwrap()));
    }
    for (tool, confirm) in settings["confirm"].as_object().into_iter().flatten() {
        let message = confirm["message"].as_str().map(Into::into);
        let preview = confirm["fallback"] == "preview";
        builder = builder.confirm(tool, Confirm { message, preview });
    }
    let destructive = &settings["confirmDestructive"];
    if !destructive.is_null() {
        builder = builder.confirm_destructive(destructive["fallback"] == "preview");
    }
    if let Some(ttl) = seconds(&settings["confirmTtl"]) {
        builder = builder.confirm_ttl(ttl);
    }
    let sessions = &settings["sessions"];
    if sessions.is_object() {
        let required = &sessions["required"];
        let names = |value: &Value| {
            let names = value.as_array().into_iter().flatten();
            names
                .map(|name| name.as_str().unwrap().to_owned())
                .collect()
        };
        builder = builder.sessions(SessionSettings {
            ttl: seconds(&sessions["ttl"]),
            no_expiry: sessions["noExpiry"] == true,
            held_by_server: sessions["heldByServer"] == true,
            required: Required {
                all: *required == true,
                methods: names(&required["methods"]),
                tools: names(&required["tools"]),
            },
        });
    }
    if settings["ledger"].is_string() {
        let options = &settings["ledgerOptions"];
        builder = builder.ledger(LedgerSettings {
            label: String::new(),
            clock_tolerance: seconds(&options["clockTolerance"]),
            local: options["local"] != false,
            accept_issued_since: options["acceptIssuedSince"].as_u64().map(|age| now - age),
            reusable_request_state: options["reusableRequestState"] == true,
        });
    }
    let transport = &settings["transport"];
    builder = builder.transport(TransportSettings {
        modern: true,
        required: transport["required"] != false,
        ttl: seconds(&transport["ttl"]),
        idle: seconds(&transport["idle"]),
        on_lost: match transport["onLost"] == "serve" {
            true => OnLost::Serve,
            false => OnLost::Refuse,
        },
        sep1359: transport["sep1359"] == true,
        declares: false,
    });
    builder.build().unwrap()
}
