//! The outcome of an event.

use serde_json::Value;

#[derive(Clone, Debug, Default)]
pub struct Found {
    pub asked: Vec<String>,
    /// For each question to `accept`: whether any user may present the token.
    pub anybodys: Vec<bool>,
    pub delivered: Value,
    pub did: Vec<Value>,
    /// The commands that the ledger got, but `open`.
    pub commands: Vec<&'static str>,
    /// What is wrong with an event during this one.
    pub wrong: Option<String>,
    pub answered: Value,
    pub reported: Vec<Value>,
    /// What happened to tokens: event, kind, id of the key and age.
    pub happened: Vec<String>,
    /// The message that was sent, to compare with its echo.
    pub sent: Value,
}
