//! The types of documents that are made and read by hand, for their schemas alone.
#![expect(dead_code, reason = "nothing is made of them")]

use schemars::JsonSchema;

use crate::message::members::PrincipalParts;
use crate::reply::event::Happened;
use crate::reply::log::Level;
use crate::reply::step::Item;

/// A tool's confirmation.
#[derive(JsonSchema)]
pub(super) struct ConfirmFacts {
    /// The question, with arguments in braces; absent: the author's function makes it.
    message: Option<String>,
    /// What becomes of a call whose user cannot be asked: `refuse`, which is the default, or `preview`.
    fallback: Option<String>,
}

/// The forms of `confirmDestructive`.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum DestructiveFacts {
    All(bool),
    With(DestructiveOptions),
}

#[derive(JsonSchema)]
pub(super) struct DestructiveOptions {
    /// As that of a tool.
    fallback: Option<String>,
}

#[derive(JsonSchema)]
pub(super) struct Fault {
    code: String,
    kind: Item,
    message: String,
    method: Option<String>,
    target: Option<String>,
    id: Option<String>,
    principal: Option<PrincipalParts<'static>>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct Refused {
    time: String,
    level: Level,
    code: String,
    kind: Item,
    #[schemars(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[schemars(skip_serializing_if = "is_false")]
    custom_method: bool,
    #[schemars(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    issuer: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    message: String,
    line: String,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct TokenEvent {
    event: Happened,
    kind: Item,
    #[schemars(skip_serializing_if = "Option::is_none")]
    key_id: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    age: Option<u64>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[schemars(skip_serializing_if = "is_false")]
    custom_method: bool,
    #[schemars(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    issuer: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
}
