//! The settings of a guard.

use std::fmt;
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::message::members::{Seconds, lifetime};
use sealwax::{Error, Ttl, View, check_ttl};

/// Settings of a [ledger](crate::ledger).
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct LedgerSettings {
    /// Distinguishes two ledgers of one audience in one store; empty by default.
    pub label: String,
    /// The largest difference between the clocks of the replicas and of the store, in whole
    /// seconds: 5 by default, and 0 if the ledger is `local`.
    #[serde(with = "Seconds")]
    pub clock_tolerance: Option<Duration>,
    /// Whether the ledger is on this machine, as a file or in memory, so that there is one clock.
    pub local: bool,
    /// Accepts tokens older than the ledger if they were made since this time, in Unix seconds: for
    /// the day on which the ledger is introduced. This includes what ended before it, and outdated
    /// states of sessions; but no `requestState`, which could have been used.
    pub accept_issued_since: Option<u64>,
    /// Whether a `requestState` may be used any number of times.
    pub reusable_request_state: bool,
}

impl LedgerSettings {
    /// Returns the clock tolerance, set or usual.
    #[must_use]
    pub fn clock_tolerance(&self) -> Duration {
        let usual = Duration::from_secs(if self.local { 0 } else { 5 });
        self.clock_tolerance.unwrap_or(usual)
    }
}

/// Settings of data-layer sessions.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SessionSettings {
    /// The lifetime of a session without a write, in whole seconds: 24 hours by default.
    #[serde(with = "Seconds")]
    pub ttl: Option<Duration>,
    /// Whether it lives up to the codec's `session_max_age`.
    pub no_expiry: bool,
    /// Whether the server holds the session's value, by its ulid: only the id is verified then.
    pub held_by_server: bool,
    /// The requests that are refused without a session.
    #[cfg_attr(test, schemars(with = "RequiredDocument"))]
    pub required: Required,
}

/// The requests that need a session.
#[derive(Clone, Debug, Default)]
pub struct Required {
    /// Every request but `initialize`, `ping`, `server/discover`, `sessions/create` and lists.
    pub all: bool,
    /// Methods.
    pub methods: Vec<String>,
    /// Tools, by name.
    pub tools: Vec<String>,
}

/// [`Required`], but for all.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
#[derive(Default)]
struct RequiredNames {
    /// Methods, such as `resources/read`.
    methods: Vec<String>,
    /// Tools, by name.
    tools: Vec<String>,
}

/// The forms of [`Required`] in a document.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[schemars(untagged, rename = "Required")]
#[expect(dead_code, reason = "for its schema")]
enum RequiredDocument {
    All(bool),
    Some(RequiredNames),
}

impl<'de> Deserialize<'de> for Required {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Required;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, or methods and tools")
            }

            fn visit_bool<E>(self, all: bool) -> Result<Required, E> {
                Ok(Required {
                    all,
                    ..Required::default()
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Required, A::Error> {
                let names = RequiredNames::deserialize(MapAccessDeserializer::new(members))?;
                Ok(Required {
                    all: false,
                    methods: names.methods,
                    tools: names.tools,
                })
            }
        }

        from.deserialize_any(Reader)
    }
}

/// Settings of sessions of the transport, for [`Guard::http`](crate::Guard::http) and
/// [`Guard::connection`](crate::Guard::connection).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TransportSettings {
    /// Whether an HTTP request without a session is refused: true by default.
    pub required: bool,
    /// The lifetime of a session, in whole seconds: 30 days by default.
    #[serde(with = "Seconds")]
    pub ttl: Option<Duration>,
    /// The time that a session may be idle, in whole seconds; this requires a ledger.
    #[serde(with = "Seconds")]
    pub idle: Option<Duration>,
    /// What becomes of a request whose session is lost.
    pub on_lost: OnLost,
    /// Whether to speak SEP-1359.
    pub sep1359: bool,
    /// Whether to add the `sessions` capability here, if the SDK's handlers cannot.
    pub declares: bool,
    /// Whether the SDK speaks revision 2026-07-28, whose requests have no sessions of the transport: true by default.
    pub modern: bool,
}

/// What becomes of a request whose session is lost: it has expired, its key was retired, or it is of another audience.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OnLost {
    /// It is refused, so that the client begins anew.
    #[default]
    Refuse,
    /// It is served as one without a session, for clients that do not. Another user's session is refused all the same, as is one
    /// that was ended.
    Serve,
}

impl Default for TransportSettings {
    fn default() -> Self {
        Self {
            required: true,
            ttl: None,
            idle: None,
            on_lost: OnLost::Refuse,
            sep1359: false,
            declares: false,
            modern: true,
        }
    }
}

impl SessionSettings {
    pub(super) fn check(&self) -> Result<(), Error> {
        check("ttl of sessions", self.ttl)?;
        if self.ttl.is_some() && self.no_expiry {
            return Err(Error::argument(
                "sessions: expected a ttl or no expiry, found both",
            ));
        }
        if self.held_by_server && (self.ttl.is_some() || self.no_expiry) {
            return Err(Error::argument(
                "sessions: expected no lifetime where the server holds them: they live as long as the \
                 codec's session_max_age",
            ));
        }
        match self.required.methods.iter().find(|method| is_free(method)) {
            None => Ok(()),
            Some(free) => Err(Error::argument(format!(
                "required: expected methods that may depend on a session, found {free}: leave it out"
            ))),
        }
    }

    /// Returns the core's sessions of one principal.
    pub(super) fn of<'v>(&self, view: &'v View) -> sealwax::Sessions<'v> {
        view.sessions().with_ttl(match self.no_expiry {
            true => Ttl::None,
            false => lifetime(self.ttl),
        })
    }
}

impl Required {
    pub(super) fn by(&self, method: &str, target: Option<&str>) -> bool {
        (self.all && !is_free(method))
            || has(&self.methods, method)
            || (method == "tools/call" && target.is_some_and(|tool| has(&self.tools, tool)))
    }
}

pub(super) fn check(name: &str, ttl: Option<Duration>) -> Result<(), Error> {
    let Some(Err(error)) = ttl.map(check_ttl) else {
        return Ok(());
    };
    Err(Error::argument(format!("{name}: {error}")))
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|one| one == name)
}

/// Returns whether a method must work without a session: those before one begins, and lists, which
/// are the same for all users.
fn is_free(method: &str) -> bool {
    let always = matches!(
        method,
        "initialize" | "ping" | "server/discover" | "sessions/create"
    );
    always || is_list(method)
}

/// Returns whether a method is a list; lists never depend on a session.
pub(super) fn is_list(method: &str) -> bool {
    method.ends_with("/list")
}
