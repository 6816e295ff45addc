//! A guard with the settings of a transcript, and the clock and the ledger in the driver's hands.

use sealwax::{Codec, KeyRing, Principal};
use sealwax_mcp::ledger::Command;
use sealwax_mcp::{Connection, Event, Exchange, Failed, Guard, Level, Step, document};
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

/// What a transcript's settings share with a guard's.
const SHARED: [&str; 7] = [
    "requestStateTtl",
    "only",
    "confirm",
    "confirmDestructive",
    "confirmTtl",
    "sessions",
    "transport",
];

fn guard(codec: Codec, settings: &Value, now: u64) -> Guard {
    let mut document = json!({"events": true});
    for name in SHARED {
        document[name] = settings[name].clone();
    }
    if settings["ledger"].is_string() {
        let mut ledger = json!({"local": true});
        for (name, value) in settings["ledgerOptions"].as_object().into_iter().flatten() {
            ledger[name] = value.clone();
        }
        if let Some(age) = ledger["acceptIssuedSince"].as_u64() {
            ledger["acceptIssuedSince"] = (now - age).into();
        }
        document["ledger"] = ledger;
    }
    document::guard(codec, &document.to_string()).unwrap()
}
