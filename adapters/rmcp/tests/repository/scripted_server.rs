//! A server of rmcp with a tool, a prompt and a resource named `play`, and the options of its guard.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sealwax::Principal;
use sealwax_rmcp::{
    Accept, BoxError, Guard, GuardBuilder, Kind, Presented, Protected, Refusal, Sessions,
};
use serde_json::{Value, json};

use crate::matching;
use crate::matching::compare;
use crate::messages::Found;
use crate::over_http::{Http, http};
use crate::over_streams::Lines;
use crate::scripted_ledger::with_ledger;
use crate::world::{World, codec};

/// The state of the current message.
pub struct Scene {
    pub world: World,
    pub event: Value,
    pub found: Found,
    gone: HashSet<(Kind, String)>,
}

#[derive(Clone)]
pub struct Stage(Arc<Mutex<Scene>>);

impl Stage {
    pub fn lock(&self) -> MutexGuard<'_, Scene> {
        self.0.lock().unwrap()
    }

    fn asked(&self, what: impl Into<String>) {
        self.lock().found.asked.push(what.into());
    }
}

#[derive(Clone)]
pub struct Server {
    pub stage: Stage,
    pub guard: Guard,
    /// Whether the server holds the state of sessions.
    pub held_by_server: bool,
}

pub struct Running {
    pub stage: Stage,
    guard: Guard,
    server: Protected<Server>,
    transport: Value,
    lines: Option<Lines>,
}

impl Running {
    pub fn new(file: &Value, settings: &Value) -> Self {
        let stage = Stage(Arc::new(Mutex::new(Scene {
            world: World::new(file, settings),
            event: Value::Null,
            found: Found::default(),
            gone: HashSet::new(),
        })));
        let clock = stage.lock().world.clock.clone();
        let codec = codec(file, &json!({"key": "both"}), clock);
        let who = stage.clone();
        let builder = Guard::builder(codec, move |_: &RequestContext<RoleServer>| principal(&who));
        let builder = options(builder, &stage, settings);
        let builder = match sessions(&stage, &settings["sessions"]) {
            Some(sessions) => builder.sessions(sessions),
            None => builder,
        };
        let guard = builder.build().unwrap();
        let server = guard.protect(Server {
            stage: stage.clone(),
            guard: guard.clone(),
            held_by_server: settings["sessions"]["heldByServer"] == true,
        });
        Self {
            stage,
            guard,
            server,
            transport: settings["transport"].clone(),
            lines: None,
        }
    }

    /// For what happens while a handler runs.
    pub fn during(server: &Server) -> Self {
        Self {
            stage: server.stage.clone(),
            guard: server.guard.clone(),
            server: server.guard.protect(server.clone()),
            transport: Value::Null,
            lines: None,
        }
    }

    /// Plays events. Returns what differs first.
    pub async fn play(&mut self, events: &Value) -> Result<(), String> {
        for (at, event) in events.as_array().into_iter().flatten().enumerate() {
            let outer = {
                let mut scene = self.stage.lock();
                let found = std::mem::take(&mut scene.found);
                (std::mem::take(&mut scene.event), found)
            };
            let found = self.found(event).await;
            let mut scene = self.stage.lock();
            (scene.event, scene.found) = outer;
            compare(&mut scene.world, event, &found).map_err(|why| format!("event {at}: {why}"))?;
        }
        Ok(())
    }

    async fn found(&mut self, event: &Value) -> Found {
        let message = {
            let mut scene = self.stage.lock();
            scene.world.before(event);
            let message = scene.world.resolved(&event["message"]);
            scene.event = event.clone();
            scene.found = Found {
                sent: message.clone(),
                ..Found::default()
            };
            message
        };
        let answered = match event["via"].as_str() {
            // rmcp's stateless HTTP service does not pass notifications on.
            Some("request") if event["notification"] == true => {
                let (ours, theirs) = tokio::io::duplex(1 << 16);
                let streams = tokio::io::split(theirs);
                let mut lines = Lines::new(self.server.clone(), streams, ours);
                lines.initialize().await;
                lines.send(event, message).await
            }
            Some("request") => {
                let service = http(&self.server);
                self.request(event, message, service).await
            }
            Some("http") => {
                let layer = self.guard.layer();
                let layer = if self.transport["required"] == false {
                    layer.optional()
                } else {
                    layer
                };
                let layer = match self.transport["ttl"].as_u64() {
                    Some(ttl) => layer.ttl(Duration::from_secs(ttl)),
                    None => layer,
                };
                let layer = match self.transport["idle"].as_u64() {
                    Some(idle) => layer.idle(Duration::from_secs(idle)),
                    None => layer,
                };
                let layer = if self.transport["sep1359"] == true {
                    layer.sep1359()
                } else {
                    layer
                };
                let service = tower_layer::Layer::layer(&layer, http(&self.server));
                self.call(event, message, service).await
            }
            Some("stdio") => self.line(event, message).await,
            Some("operator") => self.revoke(event).await,
            other => panic!("no way is named {other:?}"),
        };
        if event["notification"] == true {
            self.settled(event).await;
        }
        let mut found = std::mem::take(&mut self.stage.lock().found);
        // The guard answers its own methods itself.
        let own = event["message"]["method"].as_str();
        if matches!(own, Some("sessions/create" | "sessions/delete"))
            && answered.get("result").is_some()
        {
            found.delivered = json!({});
        }
        found.answered = answered;
        found
    }

    async fn revoke(&self, event: &Value) -> Value {
        let whom = event["revoke"].as_str().unwrap();
        let principal = self.stage.lock().world.principal(whom).unwrap();
        json!({"done": self.guard.revoke(&principal, None).await.is_ok()})
    }

    /// Waits for the effects of a notification, which has no answer.
    async fn settled(&self, event: &Value) {
        for _ in 0..500 {
            {
                let found = &self.stage.lock().found;
                let all = |name: &str, there: usize| {
                    event[name]
                        .as_array()
                        .is_none_or(|them| there >= them.len())
                };
                if all("reported", found.reported.len())
                    && all("asked", found.asked.len())
                    && all("did", found.did.len())
                    && found.delivered.is_null() == event["delivered"].is_null()
                {
                    break;
                }
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn request(&self, event: &Value, message: Value, service: impl Http) -> Value {
        let answered = self.call(event, message, service).await;
        let mut message = answered["message"].clone();
        match message.as_object_mut() {
            Some(message) => {
                message.retain(|name, _| name == "result" || name == "error");
                json!(message)
            }
            None => Value::Null,
        }
    }

    async fn call(&self, event: &Value, message: Value, mut service: impl Http) -> Value {
        let headers = self.stage.lock().world.resolved(&event["headers"]);
        let header = self.stage.lock().world.resolved(&event["header"]);
        let request = crate::over_http::request(event, message, &headers, header.as_str());
        service.send(request).await
    }

    async fn line(&mut self, event: &Value, message: Value) -> Value {
        let lines = self.lines.get_or_insert_with(|| {
            let streams = self.guard.streams();
            let streams = match self.transport["ttl"].as_u64() {
                Some(ttl) => streams.ttl(Duration::from_secs(ttl)),
                None => streams,
            };
            let streams = match self.transport["idle"].as_u64() {
                Some(idle) => streams.idle(Duration::from_secs(idle)),
                None => streams,
            };
            let streams = if self.transport["sep1359"] == true {
                streams.sep1359()
            } else {
                streams
            };
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            let streams = streams.wrap(tokio::io::split(theirs));
            Lines::new(self.server.clone(), streams, ours)
        });
        lines.send(event, message).await
    }
}

fn principal(stage: &Stage) -> Option<Principal> {
    let mut scene = stage.lock();
    scene.found.asked.push("principal".to_owned());
    let who = scene.event["as"].as_str().unwrap().to_owned();
    let found = scene.world.principal(&who);
    drop(scene);
    assert!(who != "thrower", "as the transcript wants it");
    found
}

fn options(mut builder: GuardBuilder, stage: &Stage, settings: &Value) -> GuardBuilder {
    let told = stage.clone();
    builder = builder.on_refused(move |refusal: &Refusal| {
        assert!(!refusal.message.is_empty());
        let reported = json!({"code": refusal.code, "kind": refusal.kind.name()});
        told.lock().found.reported.push(reported);
    });
    let told = stage.clone();
    builder = builder.on_event(move |event| {
        let (key_id, age) = (event.key_id.map(|id| id.to_string()), event.age);
        let age = age.map(|age| age.as_secs());
        let happened = matching::happened(event.event, event.kind, key_id, age);
        told.lock().found.happened.push(happened);
    });
    if let Some(ttl) = settings["requestStateTtl"].as_u64() {
        builder = builder.request_state_ttl(Duration::from_secs(ttl));
    }
    for (target, names) in settings["only"].as_object().into_iter().flatten() {
        let names = names.as_array().unwrap().iter();
        builder = builder.only(target, names.map(|name| name.as_str().unwrap()));
    }
    if settings["ledger"].is_string() {
        builder = with_ledger(builder, stage, &settings["ledgerOptions"]);
    }
    match settings["accept"].as_str() {
        Some(how) => builder.accept(Remembers {
            stage: stage.clone(),
            how: how.into(),
        }),
        None => builder,
    }
}

/// Returns the sessions, as the transcript sets them.
fn sessions(stage: &Stage, settings: &Value) -> Option<Sessions> {
    settings.as_object()?;
    let (stage, initial) = (stage.clone(), settings["initial"].clone());
    let mut sessions = match settings["heldByServer"] == true {
        true => Sessions::held_by_server(),
        false => Sessions::new(move |_, _| {
            stage.asked("begin");
            ready(Ok(initial.clone()))
        }),
    };
    if let Some(ttl) = settings["ttl"].as_u64() {
        sessions = sessions.ttl(Duration::from_secs(ttl));
    }
    if settings["noExpiry"] == true {
        sessions = sessions.no_expiry();
    }
    let required = &settings["required"];
    if *required == true {
        sessions = sessions.require_all();
    }
    let names = |value: &Value| -> Vec<String> {
        serde_json::from_value(value.clone()).unwrap_or_default()
    };
    sessions = sessions.require_methods(names(&required["methods"]));
    Some(sessions.require_tools(names(&required["tools"])))
}

/// `Accept`, as a transcript sets it.
struct Remembers {
    stage: Stage,
    how: String,
}

impl Remembers {
    fn asked(&self, how: &str, token: &Presented) {
        self.stage.asked(format!("{how} {}", token.kind));
    }
}

impl Accept for Remembers {
    fn accept<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<bool, BoxError>> {
        self.asked("accept", token);
        let mut scene = self.stage.lock();
        let anybodys =
            token.principal == Principal::anonymous() && scene.event["as"] != "anonymous";
        scene.found.anybodys.push(anybodys);
        let id = (token.kind, token.id.clone());
        let verdict = match &*self.how {
            "fails" => Err("the store is down".into()),
            "no" => Ok(false),
            "once" if scene.gone.contains(&id) => Ok(false),
            "once" if token.kind == Kind::RequestState => Ok(scene.gone.insert(id)),
            _ => Ok(true),
        };
        ready(verdict).boxed()
    }

    fn ended<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<(), BoxError>> {
        self.asked("end", token);
        if self.how == "fails" {
            return ready(Err("the store is down".into())).boxed();
        }
        let id = (token.kind, token.id.clone());
        self.stage.lock().gone.insert(id);
        ready(Ok(())).boxed()
    }
}
