//! A day of traffic in simulated time, after which memory is as it was in the morning: users call a tool in two rounds,
//! sessions go on, idle and expire, keys rotate each hour, and users are signed out. `SEALWAX_EXCHANGES=1000000` takes
//! some minutes.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../../tests/common/mod.rs"]
mod common;
#[allow(dead_code, reason = "it needs no other")]
#[path = "../guard/told.rs"]
mod told;

use std::collections::BTreeMap;
use std::time::Duration;

use common::Clock;
use sealwax::{Codec, Key, KeyRing, Principal};
use sealwax_mcp::ledger::Memory;
use sealwax_mcp::{Exchange, Guard, document};
use serde_json::{Value, json};

const HOURS: u64 = 24;
const IDLE: u64 = 1800;
const SESSIONS: usize = 32;

struct Day {
    clock: Clock,
    keys: Vec<Key>,
    codec: Codec,
    guard: Guard,
    ledger: Memory,
    sessions: Vec<Option<Value>>,
    random: u64,
    seen: BTreeMap<String, u64>,
}

fn read(step: &str) -> Value {
    serde_json::from_str(step).unwrap()
}

impl Day {
    fn new() -> Self {
        let clock = Clock::at_ms(1_800_000_000_000);
        let keys = vec![Key::generate().unwrap()];
        let codec = Codec::builder(KeyRing::new(keys.clone()).unwrap(), "a")
            .session_max_age(Duration::from_secs(7200))
            .build_in(clock.clone())
            .unwrap();
        let settings = json!({"sessions": {"ttl": IDLE}, "ledger": {"local": true}});
        Self {
            guard: document::guard(codec.clone(), &settings.to_string()).unwrap(),
            ledger: Memory::new(Memory::CAPACITY, clock.now()),
            sessions: vec![None; SESSIONS],
            random: 7,
            seen: BTreeMap::new(),
            clock,
            keys,
            codec,
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % limit
    }

    fn ask(&mut self, exchange: &mut Exchange, first: &str) -> Value {
        let mut step = first.to_owned();
        while read(&step)["name"] == "ledger" {
            let reply = document::run(&mut self.ledger, &step, self.clock.now()).unwrap();
            step = document::told(exchange, Ok(&reply)).unwrap();
        }
        read(&step)
    }

    fn begin(&mut self, user: u64, mut more: Value) -> (Exchange, Value) {
        more["method"] = "tools/call".into();
        more["target"] = "t".into();
        more["modern"] = true.into();
        more["principal"] = json!({"subject": user.to_string()});
        let (mut exchange, first) = told::message(&self.guard, &more, None);
        let step = self.ask(&mut exchange, &first);
        let code = step["refused"][0]["code"].as_str().unwrap_or("delivered");
        *self.seen.entry(code.to_owned()).or_default() += 1;
        (exchange, step)
    }

    fn end(&mut self, exchange: &mut Exchange, members: &Value) -> Value {
        let event = json!({"result": {"members": members}});
        let first = document::on(exchange, &event.to_string(), None).unwrap();
        let step = self.ask(exchange, &first);
        assert_eq!(step["step"], "respond");
        step
    }

    fn two_rounds(&mut self, user: u64) {
        let (mut asking, _) = self.begin(user, json!({}));
        let token = asking.seal_state(r#"{"page":2}"#).unwrap();
        self.end(
            &mut asking,
            &json!({"resultType": "input_required", "requestState": token}),
        );
        let (mut answered, step) = self.begin(user, json!({"token": token}));
        assert_eq!(step["opened"], r#"{"page":2}"#);
        self.end(&mut answered, &json!({"resultType": "complete"}));
        let (_, step) = self.begin(user, json!({"token": token}));
        assert_eq!(step["refused"][0]["code"], "used");
    }

    fn session(&mut self, at: usize) {
        let user = at as u64;
        let sent = self.sessions[at].take().unwrap_or_else(|| {
            let view = self.codec.view(&Principal::subject(user.to_string()));
            let made = view
                .unwrap()
                .sessions()
                .ttl(Duration::from_secs(IDLE))
                .create(b"0");
            let made = made.unwrap();
            json!({"id": made.session_id, "state": made.state})
        });
        let (mut exchange, step) = self.begin(user, json!({"session": sent}));
        if step["step"] == "reply" {
            return;
        }
        exchange.write(r#"{"count":1}"#).unwrap();
        let step = self.end(&mut exchange, &json!({"resultType": "complete"}));
        let metadata = &told::changed(json!({}), &step)["_meta"]["io.modelcontextprotocol/session"];
        self.sessions[at] = Some(json!({"id": metadata["sessionId"], "state": metadata["state"]}));
    }

    fn pass_an_hour(&mut self) {
        self.keys.insert(0, Key::generate().unwrap());
        self.keys.truncate(2);
        assert!(
            self.codec
                .set_keys(KeyRing::new(self.keys.clone()).unwrap())
        );
        let user = json!({"subject": self.below(100).to_string()});
        let (mut exchange, first) =
            document::revoke(&self.guard, &user.to_string(), Some(3600)).unwrap();
        assert_eq!(self.ask(&mut exchange, &first)["step"], "done");
    }
}

/// The memory of this process that is in RAM.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_flat_over_a_day() {
    let wanted = std::env::var("SEALWAX_EXCHANGES").map(|it| it.parse().unwrap());
    let each: u64 = wanted.unwrap_or(1_920) / HOURS;
    let mut day = Day::new();
    let mut found = Vec::new();
    for _ in 0..HOURS {
        for _ in 0..each {
            day.clock.pass_ms(3_600_000 / each);
            let (user, at) = (day.below(100), day.below(SESSIONS as u64));
            day.two_rounds(user);
            day.session(usize::try_from(at).unwrap());
        }
        day.pass_an_hour();
        found.push(resident());
    }
    let most = |hours: std::ops::Range<usize>| found[hours].iter().max().copied().unwrap();
    let (morning, evening) = (most(4..10), most(20..24));
    println!(
        "resident: {} kB in the morning, {} kB in the evening",
        morning >> 10,
        evening >> 10
    );
    println!("{:?}", day.seen);
    assert!(evening < morning + morning / 20 + (256 << 10), "{found:?}");
    assert!(day.seen["used"] >= each * HOURS);
    assert!(day.seen["expired"] + day.seen["unknown_key"] > 10);
}
