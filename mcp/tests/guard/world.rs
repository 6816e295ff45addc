//! Keys, people, and the tokens that transcripts name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sealwax::{
    Codec, Environment, Error, Key, KeyRing, Principal, RequestContext, SessionMetadata, System,
    View,
};
use sealwax_mcp::{
    Guard, Item, LedgerSettings, Presented, Required, SessionSettings, TransportSettings,
};
use serde_json::{Value, json};

use crate::world_ledger::WorldLedger;

/// A clock that stands still, in Unix seconds, until it is set.
#[derive(Clone)]
pub struct Clock(Arc<AtomicU64>);

impl Clock {
    fn at(now: u64) -> Self {
        Self(Arc::new(AtomicU64::new(now)))
    }

    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }
}

impl Environment for Clock {
    fn now_ms(&self) -> u64 {
        self.now() * 1000
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        System.fill(bytes)
    }
}

/// The time when a transcript begins, in Unix seconds.
const NOW: u64 = 1_800_000_000;

pub struct World {
    file: Value,
    settings: Value,
    pub clock: Clock,
    pub ledger: WorldLedger,
    pub guard: Guard,
    pub tokens: HashMap<String, String>,
    /// All metadata that was seen of each session, with its principal.
    pub sessions: HashMap<String, Vec<Value>>,
    pub handles: HashMap<String, String>,
    /// What `accept` remembers.
    gone: HashSet<(Item, String)>,
}

impl World {
    pub fn new(file: &Value, settings: &Value) -> Self {
        let clock = Clock::at(NOW);
        let codec = codec(file, &json!({"key": "both"}), clock.clone());
        Self {
            guard: guard(codec, settings),
            ledger: WorldLedger::new(settings, NOW),
            clock,
            file: file.clone(),
            settings: settings.clone(),
            tokens: HashMap::new(),
            sessions: HashMap::new(),
            handles: HashMap::new(),
            gone: HashSet::new(),
        }
    }

    /// Brings about what an event says of the time and of the ledger.
    pub fn before(&mut self, event: &Value) {
        self.clock.pass(event["after"].as_u64().unwrap_or(0));
        self.ledger.before(event, self.clock.now());
    }

    /// Returns a text with the names of the keys in place of their ids.
    pub fn key_named(&self, text: &str) -> String {
        let keys = self.file["keys"].as_object().into_iter().flatten();
        keys.fold(text.into(), |text: String, (name, key)| {
            let key: Key = key.as_str().unwrap().parse().unwrap();
            text.replace(&key.id().to_string(), name)
        })
    }

    pub fn principal(&self, who: &str) -> Option<Principal> {
        principal(&self.file, who)
    }

    pub fn initial(&self) -> String {
        self.settings["sessions"]["initial"].to_string()
    }

    /// Accepts all of these; otherwise returns the first that is not accepted, or `None` if `accept` fails.
    pub fn accept(&mut self, asked: &[Presented]) -> Result<(), Option<usize>> {
        match self.settings["accept"].as_str() {
            Some("no") => Err(Some(0)),
            Some("fails") => Err(None),
            Some("once") => {
                let is_gone = |one: &Presented| self.gone.contains(&(one.item, one.id.clone()));
                if let Some(at) = asked.iter().position(is_gone) {
                    return Err(Some(at));
                }
                let states = asked.iter().filter(|one| one.item == Item::RequestState);
                let states: Vec<_> = states.map(|one| (one.item, one.id.clone())).collect();
                self.gone.extend(states);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub fn end(&mut self, ended: &Presented) -> Result<(), ()> {
        if self.settings["accept"] == "fails" {
            return Err(());
        }
        self.gone.insert((ended.item, ended.id.clone()));
        Ok(())
    }

    /// The view that made, or opens, the token that `made` describes, `age` seconds ago.
    pub fn view(&self, made: &Value, age: &str) -> View {
        let age = made[age].as_i64().unwrap_or(0);
        let then = self.clock.now().checked_add_signed(-age).unwrap();
        let codec = codec(&self.file, made, Clock::at(then));
        let who = made["as"].as_str().unwrap_or("alice");
        codec.view(&self.principal(who).unwrap()).unwrap()
    }

    /// A value of a transcript, with its named tokens, sessions and handles put in.
    pub fn resolved(&mut self, value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.resolved(item)).collect(),
            Value::Object(object) if object.contains_key("$token") => self.token(&object["$token"]),
            Value::Object(object) if object.contains_key("$session") => self.session(value),
            Value::Object(object) if object.contains_key("$handle") => {
                self.handle(&object["$handle"])
            }
            Value::Object(object) => object
                .iter()
                .map(|(name, value)| (name.clone(), self.resolved(value)))
                .collect(),
            other => other.clone(),
        }
    }

    fn token(&mut self, token: &Value) -> Value {
        if let Some(name) = token.as_str() {
            return self.tokens[name].as_str().into();
        }
        let view = self.view(token, "age");
        let payload = token["payload"].as_str().unwrap();
        let text = changed(&sealed(&view, token, payload), &token["change"]);
        if let Some(name) = token["name"].as_str() {
            self.tokens.insert(name.into(), text.clone());
        }
        text.into()
    }

    fn session(&mut self, named: &Value) -> Value {
        let mut metadata = match named["$session"].as_str() {
            Some(name) => {
                let versions = &self.sessions[name];
                let version = named["version"].as_u64();
                let at = version.map_or(versions.len() - 1, |at| usize::try_from(at).unwrap());
                versions[at].clone()
            }
            None => self.made_session(&named["$session"]),
        };
        let made = if named["$session"].is_object() {
            &named["$session"]
        } else {
            named
        };
        for member in made["without"].as_array().into_iter().flatten() {
            metadata
                .as_object_mut()
                .unwrap()
                .remove(member.as_str().unwrap());
        }
        match named["member"].as_str() {
            Some(member) => metadata[member].clone(),
            None => metadata,
        }
    }

    fn made_session(&mut self, made: &Value) -> Value {
        let payload = made["payload"].as_str().unwrap_or("1");
        let with_ttl = |view: &View, metadata: Option<&SessionMetadata>| {
            let sessions = view.sessions();
            let sessions = match made["ttl"].as_u64() {
                Some(ttl) => sessions.ttl(Duration::from_secs(ttl)),
                None => sessions,
            };
            let metadata = match metadata {
                None => sessions.create(payload.as_bytes()),
                Some(metadata) => {
                    let opened = sessions.open(metadata).unwrap();
                    sessions.renew(&opened, payload.as_bytes())
                }
            };
            metadata.unwrap()
        };
        let mut metadata = if made["idAge"].is_u64() {
            // An old session whose state is fresh.
            let begun = with_ttl(&self.view(made, "idAge"), None);
            let mut state = with_ttl(&self.view(made, "age"), None).state;
            let mut metadata = begun;
            std::mem::swap(&mut metadata.state, &mut state);
            json!(metadata)
        } else {
            json!(with_ttl(&self.view(made, "age"), None))
        };
        if made["stateOf"].is_string() {
            metadata["state"] = json!(with_ttl(&self.view(made, "age"), None).state);
        }
        if !made["state"].is_null() {
            metadata["state"] = made["state"].clone();
        }
        for (member, change) in [("sessionId", "changeId"), ("state", "changeState")] {
            if let Some(text) = metadata[member].as_str() {
                metadata[member] = changed(text, &made[change]).into();
            }
        }
        if let Some(name) = made["name"].as_str() {
            let versions = self.sessions.entry(name.into()).or_default();
            versions.push(metadata.clone());
        }
        metadata
    }

    fn handle(&mut self, named: &Value) -> Value {
        if let Some(name) = named.as_str() {
            return self.handles[name].as_str().into();
        }
        let view = self.view(named, "age");
        let handle_type = named["type"].as_str().unwrap();
        let text = match named["payload"].as_str() {
            Some(payload) => {
                let sealer = view.handle_state(handle_type);
                sealer.seal(payload.as_bytes()).unwrap().into_string()
            }
            None => view.mint_handle(handle_type).unwrap().to_string(),
        };
        changed(&text, &named["change"]).into()
    }
}

fn principal(file: &Value, who: &str) -> Option<Principal> {
    let person = file["people"].get(who)?;
    if person["anonymous"] == true {
        return Some(Principal::anonymous());
    }
    let part = |name: &str| person[name].as_str();
    Some(Principal::from_parts(part("issuer"), part("client"), part("subject")).unwrap())
}

/// Resolves `key`: `new` unless it says `old` or `unknown`; `both` is the guard's own ring.
pub fn codec(file: &Value, made: &Value, clock: Clock) -> Codec {
    let key = |name: &str| file["keys"][name].as_str().unwrap();
    let ring = match made["key"].as_str() {
        Some("both") => format!("{} {}", key("new"), key("old")),
        Some(name) => key(name).to_owned(),
        None => key("new").to_owned(),
    };
    let audience = made["audience"].as_str();
    let audience = audience.unwrap_or(file["audience"].as_str().unwrap());
    let ring: KeyRing = ring.parse().unwrap();
    let builder = Codec::builder(ring, audience).payload_limit(1 << 16);
    let builder = if made["key"] == "both" {
        builder.payload_limit(4096)
    } else {
        builder
    };
    builder.build_in(clock).unwrap()
}

fn guard(codec: Codec, settings: &Value) -> Guard {
    let seconds = |value: &Value| value.as_u64().map(Duration::from_secs);
    let mut builder = Guard::builder(codec).has_accept(settings["accept"].is_string());
    builder = builder.events(true);
    if let Some(ttl) = seconds(&settings["requestStateTtl"]) {
        builder = builder.request_state_ttl(ttl);
    }
    for (target, names) in settings["only"].as_object().into_iter().flatten() {
        let names = names.as_array().unwrap().iter();
        builder = builder.only(target, names.map(|name| name.as_str().unwrap()));
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
            accept_issued_since: options["acceptIssuedSince"].as_u64().map(|age| NOW - age),
            reusable_request_state: options["reusableRequestState"] == true,
        });
    }
    let transport = &settings["transport"];
    builder = builder.transport(TransportSettings {
        required: transport["required"] != false,
        ttl: seconds(&transport["ttl"]),
        idle: seconds(&transport["idle"]),
        sep1359: transport["sep1359"] == true,
        declares: false,
    });
    builder.build().unwrap()
}

fn sealed(view: &View, token: &Value, payload: &str) -> String {
    let label = token["label"].as_str().unwrap_or_default();
    let context = context(&token["context"]);
    let mut purpose = sealwax::Purpose::of(token["kind"].as_str().unwrap().parse().unwrap());
    purpose.label = label;
    if let Some(context) = &context {
        purpose.context = context.as_bytes();
    }
    let sealer = view.sealer(purpose);
    let sealer = match token["ttl"].as_u64() {
        Some(ttl) => sealer.ttl(Duration::from_secs(ttl)),
        None => sealer,
    };
    sealer.seal(payload.as_bytes()).unwrap().into_string()
}

/// Method, target and arguments; absent arguments are `null`.
pub fn context(context: &Value) -> Option<RequestContext> {
    let [method, target, arguments] = context.as_array()?.as_slice() else {
        panic!("a context has three members");
    };
    let arguments = (!arguments.is_null()).then(|| arguments.to_string());
    let (method, target) = (method.as_str().unwrap(), target.as_str().unwrap());
    Some(RequestContext::new(method, target, arguments.as_deref()).unwrap())
}

fn changed(text: &str, change: &Value) -> String {
    match change.as_str() {
        None => text.into(),
        // Not the last character, some of whose bits may be unused.
        Some("flip") => {
            let at = text.len() - 5;
            let other = if text.as_bytes()[at] == b'a' {
                "b"
            } else {
                "a"
            };
            format!("{}{other}{}", &text[..at], &text[at + 1..])
        }
        Some("pad") => format!("{text}="),
        Some("cut") => text[..text.len() - 1].into(),
        Some("double") => text.repeat(2),
        Some(other) => panic!("no change is named {other}"),
    }
}
