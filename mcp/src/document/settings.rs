//! The settings of a guard.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::NO_DOCUMENT;
use super::read::{parse, read};
use crate::confirm::Confirm;
use crate::guard::Guard;
use crate::message::members::Seconds;
use crate::settings::{LedgerSettings, SessionSettings, TransportSettings};
use sealwax::{Codec, Error};

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct Settings {
    /// Whether to collect what happens to tokens that are not refused.
    events: bool,
    #[serde(with = "Seconds")]
    request_state_ttl: Option<Duration>,
    /// Targets, and the names of the arguments that their `requestState` is bound to.
    #[cfg_attr(
        test,
        schemars(with = "std::collections::BTreeMap<String, Vec<String>>")
    )]
    only: IgnoredAny,
    /// The tools that run only for a confirmed call.
    #[cfg_attr(
        test,
        schemars(with = "std::collections::BTreeMap<String, super::schemas::ConfirmFacts>")
    )]
    confirm: IgnoredAny,
    /// Whether those are too that the server marks as destructive.
    #[cfg_attr(test, schemars(with = "super::schemas::DestructiveFacts"))]
    confirm_destructive: IgnoredAny,
    /// How long a user may take to confirm: 600 by default.
    #[serde(with = "Seconds")]
    confirm_ttl: Option<Duration>,
    /// Whether the server has data-layer sessions, and which.
    sessions: Option<SessionSettings>,
    transport: TransportSettings,
    /// Whether there is a ledger, and which.
    ledger: Option<LedgerSettings>,
    /// How long all questions of one request may take together: 1000 by default.
    time_limit_ms: Option<u64>,
}

/// Returns a guard with these settings.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid document, and as
/// [`GuardBuilder::build`](crate::GuardBuilder::build).
#[inline(never)]
pub fn guard(codec: Codec, settings: &str) -> Result<Guard, Error> {
    let document = parse(settings)?;
    let settings = members(&document)?;
    let mut builder = Guard::builder(codec).events(settings.events);
    builder.request_state_ttl = settings.request_state_ttl;
    for (target, names) in named(&document, "only")? {
        builder.only.push((target.clone(), read(names)?));
    }
    for (tool, facts) in named(&document, "confirm")? {
        let message = match facts.get("message") {
            None | Some(Value::Null) => None,
            Some(message) => Some(read(message)?),
        };
        let preview = preview(facts, tool)?;
        builder
            .confirm
            .push((tool.clone(), Confirm { message, preview }));
    }
    builder.destructive = match document.get("confirmDestructive") {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(facts) => Some(preview(facts, "confirmDestructive")?),
    };
    builder.confirm_ttl = settings.confirm_ttl;
    builder.sessions = settings.sessions;
    builder.transport = settings.transport;
    builder.ledger = settings.ledger;
    if let Some(millis) = settings.time_limit_ms {
        builder.time_limit = Duration::from_millis(millis);
    }
    builder.build()
}

/// Returns what a setting has for each name. A list of names, which has nothing, would leave them unprotected.
#[inline(never)]
fn named<'a>(
    document: &'a Value,
    setting: &str,
) -> Result<impl Iterator<Item = (&'a String, &'a Value)>, Error> {
    let all = match document.get(setting) {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(all) => Some(all.as_object().ok_or(NO_DOCUMENT)?),
    };
    Ok(all.into_iter().flatten())
}

/// Returns whether the facts of a confirmation have the fallback of a preview.
#[inline(never)]
fn preview(facts: &Value, of: &str) -> Result<bool, Error> {
    match facts.get("fallback") {
        None | Some(Value::Null) => Ok(false),
        Some(fallback) if fallback == "refuse" => Ok(false),
        Some(fallback) if fallback == "preview" => Ok(true),
        Some(_) => {
            let expected = format!("confirm {of}: expected the fallback refuse or preview");
            Err(Error::argument(expected))
        }
    }
}

/// Reads the settings apart from what makes a guard of them: HotSpot compiles no function as large as both.
#[inline(never)]
fn members(document: &Value) -> Result<Settings, Error> {
    read(document)
}
