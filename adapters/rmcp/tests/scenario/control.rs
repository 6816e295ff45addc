//! The control channel: what is said, and the handlers that wait to be told.

use std::sync::Mutex;

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// By their ids.
static HANDLERS: Mutex<Vec<UnboundedSender<Value>>> = Mutex::new(Vec::new());

pub fn say(said: &Value) {
    println!("{said}");
}

/// Says that a handler runs, and what it has seen; returns what it will be told.
pub fn waiting(mut seen: Value) -> UnboundedReceiver<Value> {
    let (tell, told) = unbounded_channel();
    let mut handlers = HANDLERS.lock().unwrap();
    seen["id"] = json!(handlers.len());
    handlers.push(tell);
    say(&json!({"handler": seen}));
    told
}

/// Tells the handler that `to` names.
pub fn tell(told: Value) {
    let to = usize::try_from(told["to"].as_u64().unwrap()).unwrap();
    HANDLERS.lock().unwrap()[to].send(told).unwrap();
}
