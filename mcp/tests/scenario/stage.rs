//! A guard with the settings of a transcript, and the clock and the ledger in the driver's hands.

use sealwax::{Codec, KeyRing};
use sealwax_mcp::machine::{Machine, kind};
use serde_json::{Value, json};

use crate::common::Clock;
use crate::exchange::{Exchange, Told, threw, value};
use crate::frames::{framed, made};
use crate::ledger::LossyLedger;
use crate::{Program, say};

pub struct Stage {
    pub guard: Machine,
    /// Of the client on stdio.
    pub connection: Machine,
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
        let guard = guard(codec.build_in(clock.clone()).unwrap(), &settings, now);
        Self {
            connection: made(Some(&guard), kind::CONNECTION, 0, &[]).0,
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

    /// Answers a question of the engine's, but for those about a transport and a user.
    pub fn answered(&mut self, asked: &Value, known: &mut Value) -> Told {
        let fails = || threw("an error");
        match asked["name"].as_str().unwrap() {
            "principal" => {
                // Who is anonymous by name is not asked for.
                if !std::mem::replace(&mut self.identified, true) && !self.anonymous {
                    say(json!({"asked": "principal"}));
                }
                if self.who == "thrower" {
                    return fails();
                }
                known.clone_from(&self.who);
                value(&self.who)
            }
            "ledger" => self.ledger.run(asked, self.clock.now()),
            "initial" => {
                say(json!({"asked": "begin"}));
                value(&self.settings["sessions"]["initial"])
            }
            "confirm" => {
                say(json!({"asked": "confirm"}));
                assert_eq!(asked["params"]["name"], "play");
                match &self.settings["confirm"]["play"]["words"] {
                    Value::Null => fails(),
                    words => value(words),
                }
            }
            "list_tools" => {
                let cursor = asked["params"]["cursor"].as_str().unwrap_or_default();
                let page = self.settings["tools"].get(cursor);
                page.map_or_else(fails, value)
            }
            other => panic!("nothing is asked as {other}"),
        }
    }
}

/// Returns whether the ledger recorded it.
pub fn revoke(program: &mut Program, whom: &Value) -> bool {
    let texts = [Some(whom.to_string())];
    let texts = texts
        .each_ref()
        .map(|text| text.as_deref().map(str::as_bytes));
    let guard = &program.stage().guard;
    let (mut exchange, step) = Exchange::begun(guard, kind::REVOCATION, 0, &texts);
    exchange.driven(program, step, &mut Value::Null)["step"] == "done"
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

fn guard(codec: Codec, settings: &Value, now: u64) -> Machine {
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
    framed(
        kind::GUARD,
        0,
        &[Some(document.to_string().as_bytes())],
        |frame| Machine::guard(codec, frame).unwrap().0,
    )
}
