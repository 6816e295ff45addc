//! The control channel: what is said, and the handlers that wait to be told.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// By their ids, until they are told to end.
static HANDLERS: Mutex<BTreeMap<u64, UnboundedSender<Value>>> = Mutex::new(BTreeMap::new());

pub fn say(said: &Value) {
    println!("{said}");
}

/// Says that a handler runs, and what it has seen; returns what it will be told.
pub fn waiting(mut seen: Value) -> UnboundedReceiver<Value> {
    let (tell, told) = unbounded_channel();
    let mut handlers = HANDLERS.lock().unwrap();
    let id = handlers.last_key_value().map_or(0, |(last, _)| last + 1);
    seen["id"] = json!(id);
    handlers.insert(id, tell);
    say(&json!({"handler": seen}));
    told
}

/// Tells the handler that `to` names.
pub fn tell(told: Value) {
    let to = told["to"].as_u64().unwrap();
    let mut handlers = HANDLERS.lock().unwrap();
    let ends = told["do"] == "return" || told["do"] == "throw";
    handlers[&to].send(told).unwrap();
    if ends {
        handlers.remove(&to);
    }
}
