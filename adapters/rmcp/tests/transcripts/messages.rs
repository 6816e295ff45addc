//! What came of an event.

use serde_json::Value;

#[derive(Clone, Debug, Default)]
pub struct Found {
    pub asked: Vec<String>,
    /// Whether each that was accepted or not is anybody's.
    pub anybodys: Vec<bool>,
    pub delivered: Value,
    pub did: Vec<Value>,
    pub answered: Value,
    pub reported: Vec<Value>,
    /// The message that was sent, for what is echoed.
    pub sent: Value,
}
