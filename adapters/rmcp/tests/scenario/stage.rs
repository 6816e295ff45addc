//! A guard by a transcript's settings, and its server.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use futures::future::ready;
use rmcp::ErrorData;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use sealwax::testing::TestClock;
use sealwax::{Codec, KeyRing, Principal};
use sealwax_rmcp::ledger::LedgerError;
use sealwax_rmcp::{
    Guard, GuardBuilder, Protected, Refusal, SessionLayer, Sessions, Streams, TokenEvent, anonymous,
};
use serde_json::{Value, json};

use crate::control::say;
use crate::handler::{Context, Server, is_mistake};
use crate::lossy_ledger::LossyLedger;

pub struct Stage {
    clock: TestClock,
    codec: Codec,
    who: Mutex<Value>,
    method: Mutex<Value>,
    /// The pages of the server's own list of tools, by their cursors.
    tools: Value,
    ledger: Option<Arc<LossyLedger>>,
    guard: Guard,
    pub server: Protected<Server>,
    transport: Value,
}

static STAGE: Mutex<Option<Arc<Stage>>> = Mutex::new(None);

pub fn stage() -> Arc<Stage> {
    STAGE.lock().unwrap().clone().unwrap()
}

impl Stage {
    pub fn begin(told: &Value) {
        let settings = &told["settings"];
        let text = |name: &str| told[name].as_str().unwrap();
        let clock = TestClock::at(told["now"].as_u64().unwrap());
        let keys: KeyRing = text("keys").parse().unwrap();
        let codec = Codec::builder(keys, text("audience")).payload_limit(4096);
        let codec = codec.build_in(clock.clone()).unwrap();
        let builder = match told["anonymous"] == true {
            true => Guard::builder(codec.clone(), anonymous),
            false => Guard::builder(codec.clone(), |_: &Context| principal()),
        };
        let builder = builder.on_refused(on_refused).on_event(on_event);
        let mut builder = options(builder, settings);
        let mut ledger = None;
        if let Some(kind) = settings["ledger"].as_str() {
            let (lossy, options) = LossyLedger::new(kind, &settings["ledgerOptions"], &clock);
            builder = builder.ledger_with(Arc::clone(&lossy), options);
            ledger = Some(lossy);
        }
        let guard = builder.build().unwrap();
        let server = guard.protect(Server(guard.clone()));
        *STAGE.lock().unwrap() = Some(Arc::new(Self {
            clock,
            codec,
            who: Mutex::default(),
            method: Mutex::default(),
            tools: settings["tools"].clone(),
            ledger,
            guard,
            server,
            transport: settings["transport"].clone(),
        }));
    }

    pub fn at(&self, told: &Value) {
        self.clock.set(told["now"].as_u64().unwrap());
        *self.who.lock().unwrap() = told["who"].clone();
        *self.method.lock().unwrap() = told["method"].clone();
        if let Some(ledger) = &self.ledger {
            ledger.at(told);
        }
    }

    /// Returns what the guard is told that asks for a page of the list of tools; `None` if a client asks.
    pub fn listed(&self, cursor: &Value) -> Option<Result<Value, ErrorData>> {
        let asks = *self.method.lock().unwrap() != "tools/list";
        let page = self.tools.get(cursor.as_str().unwrap_or_default());
        let failed = || ErrorData::internal_error("no list", None);
        asks.then(|| page.cloned().ok_or_else(failed))
    }

    pub fn set_keys(&self, told: &Value) {
        let keys = told["keys"].as_str().unwrap();
        self.codec.set_keys(keys.parse().unwrap());
    }

    pub async fn revoke(&self, whom: &Value) -> bool {
        match self.guard.revoke(&person(whom), None).await {
            Ok(()) => true,
            Err(LedgerError::Unavailable(_)) => false,
            Err(other) => panic!("{other}"),
        }
    }

    pub fn streams(&self) -> Streams {
        let settings = &self.transport;
        let streams = self.guard.streams();
        let streams = seconds(&settings["ttl"]).fold(streams, Streams::ttl);
        let streams = seconds(&settings["idle"]).fold(streams, Streams::idle);
        when(settings["sep1359"] == true, streams, Streams::sep1359)
    }

    pub fn routes(&self) -> Router {
        let settings = &self.transport;
        let layer = seconds(&settings["ttl"]).fold(self.guard.layer(), SessionLayer::ttl);
        let layer = seconds(&settings["idle"]).fold(layer, SessionLayer::idle);
        let layer = when(settings["required"] == false, layer, SessionLayer::optional);
        let layer = when(
            settings["onLost"] == "serve",
            layer,
            SessionLayer::serve_lost,
        );
        let layer = when(settings["sep1359"] == true, layer, SessionLayer::sep1359);
        let server = self.server.clone();
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true);
        let sessions = Arc::<NeverSessionManager>::default();
        let http = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
        let wrapped = tower_layer::Layer::layer(&layer, http.clone());
        Router::new()
            .route_service("/plain", http)
            .route_service("/wrapped", wrapped)
    }
}

/// Returns the time that a setting has, if it is there.
pub fn seconds(value: &Value) -> impl Iterator<Item = Duration> {
    value.as_u64().map(Duration::from_secs).into_iter()
}

/// Changes what is made, where that is set.
pub fn when<T>(is_set: bool, made: T, change: fn(T) -> T) -> T {
    if is_set { change(made) } else { made }
}

fn principal() -> Option<Principal> {
    say(&json!({"asked": "principal"}));
    let who = stage().who.lock().unwrap().clone();
    if who == "thrower" {
        // A panic that prints nothing.
        resume_unwind(Box::new("the principal function panics"));
    }
    (!who.is_null()).then(|| person(&who))
}

pub fn person(parts: &Value) -> Principal {
    if parts["anonymous"] == true {
        return Principal::anonymous();
    }
    let part = |name: &str| parts[name].as_str();
    Principal::from_parts(part("issuer"), part("client"), part("subject")).unwrap()
}

fn on_refused(refusal: &Refusal) {
    assert!(!refusal.message.is_empty(), "a refusal says why");
    if !is_mistake(refusal.code) {
        let reported = json!({"code": refusal.code, "kind": refusal.kind.name()});
        say(&json!({"reported": reported}));
    }
}

fn on_event(event: &TokenEvent) {
    let mut happened = format!("{} {}", event.event.name(), event.kind);
    let age = event.age.map(|age| age.as_secs().to_string());
    let key_id = event.key_id.map(|id| id.to_string());
    for part in key_id.into_iter().chain(age) {
        happened = format!("{happened} {part}");
    }
    say(&json!({"happened": happened}));
}

fn options(mut builder: GuardBuilder, settings: &Value) -> GuardBuilder {
    builder = seconds(&settings["requestStateTtl"]).fold(builder, GuardBuilder::request_state_ttl);
    for (target, arguments) in settings["only"].as_object().into_iter().flatten() {
        builder = builder.only(target, names(arguments));
    }
    builder = seconds(&settings["confirmTtl"]).fold(builder, GuardBuilder::confirm_ttl);
    for (tool, confirm) in settings["confirm"].as_object().into_iter().flatten() {
        let words = confirm["words"].clone();
        builder = match confirm["message"].as_str() {
            Some(message) => builder.confirm(tool, message),
            None => builder.confirm_with(tool, move |_, _| {
                say(&json!({"asked": "confirm"}));
                let failed = || ErrorData::internal_error("no question", None);
                ready(words.as_str().map(Into::into).ok_or_else(failed))
            }),
        };
        if confirm["fallback"] == "preview" {
            builder = builder.preview(tool);
        }
    }
    builder = match &settings["confirmDestructive"] {
        Value::Null => builder,
        with if with["fallback"] == "preview" => builder.preview_destructive(),
        _ => builder.confirm_destructive(),
    };
    match settings["sessions"].is_object() {
        true => builder.sessions(sessions(&settings["sessions"])),
        false => builder,
    }
}

fn sessions(settings: &Value) -> Sessions {
    let sessions = match settings["heldByServer"] == true {
        true => Sessions::held_by_server(),
        false => {
            let initial = settings["initial"].clone();
            Sessions::new(move |_, _| {
                say(&json!({"asked": "begin"}));
                ready(Ok(initial.clone()))
            })
        }
    };
    let sessions = seconds(&settings["ttl"]).fold(sessions, Sessions::ttl);
    let sessions = when(settings["noExpiry"] == true, sessions, Sessions::no_expiry);
    let required = &settings["required"];
    when(*required == true, sessions, Sessions::require_all)
        .require_methods(names(&required["methods"]))
        .require_tools(names(&required["tools"]))
}

fn names(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap_or_default()
}
