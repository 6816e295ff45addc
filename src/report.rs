//! What the `inspect` commands print of a text, in every language: tests/inspect.json has it.

use serde::Serialize;

use crate::sessions::rfc3339;
use crate::token::TokenId;
use crate::{Error, Inspected, KeyId, KeyRing, Kind, inspect};

/// The prefix `sw1.`.
const TOKEN_PREFIX: usize = 4;
/// The least bytes of a sealed token besides its payload (SPEC.md, "Opening").
const TOKEN_OVERHEAD: usize = 65;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// What a text tells without a key: for people, and as JSON.
///
/// ```
/// use sealwax::report::Report;
///
/// let text = "sess_YwQ9bQGecE3hfrBbBraFZF1xtvSBKOpmiUxTYKr-hJL-NNis-53cjqR0Ko0";
/// let report = Report::of(text, None)?;
/// assert!(report.words(1_783_456_612).ends_with("\nmade at: 2026-05-28T20:36:52Z\nage: 40d"));
/// assert!(report.json().starts_with(r#"{"what":"session-id","key_id":"63043d6d""#));
/// let (kind, id) = report.ledger_end().unwrap();
/// assert_eq!((kind, id.len()), ("session", 32));
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Report(Facts);

/// The members of the JSON, in their order. A length is in bytes and in characters: all that
/// [`inspect`] knows is ASCII. `in_ring` is `None` without a ring.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
enum Facts {
    Token {
        kind: &'static str,
        key_id: String,
        in_ring: Option<bool>,
        token_id: String,
        ledger_end: Option<LedgerEnd>,
        length: usize,
    },
    SessionId {
        key_id: String,
        in_ring: Option<bool>,
        created_at_ms: u64,
        ledger_end: LedgerEnd,
        length: usize,
    },
    Handle {
        handle_type: String,
        created_at_ms: u64,
        ledger_end: LedgerEnd,
        length: usize,
    },
    Key {
        key_id: String,
        in_ring: Option<bool>,
        length: usize,
    },
}

/// What `sealwax ledger end` takes to end it: the kind and the id by which the log and the ledger know it.
#[derive(Clone, Debug, Serialize)]
struct LedgerEnd {
    kind: &'static str,
    id: String,
}

impl LedgerEnd {
    fn of(kind: &'static str, ulid: [u8; 16]) -> Self {
        Self {
            kind,
            id: TokenId(ulid).to_string(),
        }
    }
}

// Not inlined, to keep the WebAssembly module small.
impl Report {
    /// Reports on a text, and on whether the ring has the key that it names.
    ///
    /// # Errors
    ///
    /// Those of [`inspect`].
    #[inline(never)]
    pub fn of(text: &str, ring: Option<&KeyRing>) -> Result<Self, Error> {
        let length = text.len();
        let in_ring = |key: KeyId| ring.map(|ring| ring.ids().any(|id| id == key));
        Ok(Self(match inspect(text)? {
            Inspected::Token {
                kind,
                key_id,
                token_id,
            } => Facts::Token {
                kind: kind.name(),
                key_id: key_id.to_string(),
                in_ring: in_ring(key_id),
                token_id: token_id.to_string(),
                // A ledger knows the states of a session by its id, and cannot end a cursor.
                ledger_end: match kind {
                    Kind::RequestState | Kind::Session | Kind::HandleState => {
                        Some(LedgerEnd::of(kind.name(), *token_id.as_bytes()))
                    }
                    _ => None,
                },
                length,
            },
            Inspected::SessionId {
                key_id,
                created_at_ms,
                ulid,
            } => Facts::SessionId {
                key_id: key_id.to_string(),
                in_ring: in_ring(key_id),
                created_at_ms,
                ledger_end: LedgerEnd::of("session", ulid),
                length,
            },
            Inspected::Handle {
                handle_type,
                created_at_ms,
                ulid,
            } => Facts::Handle {
                handle_type,
                created_at_ms,
                ledger_end: LedgerEnd::of("handle", ulid),
                length,
            },
            Inspected::Key { key_id } => Facts::Key {
                key_id: key_id.to_string(),
                in_ring: in_ring(key_id),
                length,
            },
        }))
    }

    /// Returns the facts as lines, with the age at `now`, in Unix seconds.
    #[must_use]
    #[inline(never)]
    pub fn words(&self, now: u64) -> String {
        match &self.0 {
            Facts::Token {
                kind,
                key_id,
                in_ring,
                token_id,
                length,
                ..
            } => {
                let key = key(key_id, *in_ring);
                let payload = (length - TOKEN_PREFIX) * 3 / 4 - TOKEN_OVERHEAD;
                format!(
                    "sealed token of kind {kind}\n\
                     prefix: sw1.\n\
                     {key}\n\
                     token id: {token_id}\n\
                     length: {length} characters\n\
                     payload: encrypted, at most {payload} bytes\n\
                     made at: encrypted"
                )
            }
            Facts::SessionId {
                key_id,
                in_ring,
                created_at_ms,
                length,
                ..
            } => {
                let (key, made) = (key(key_id, *in_ring), made(*created_at_ms, now));
                format!("session id\nprefix: sess_\n{key}\nlength: {length} characters\n{made}")
            }
            Facts::Handle {
                handle_type,
                created_at_ms,
                length,
                ..
            } => {
                let made = made(*created_at_ms, now);
                format!(
                    "handle of type {handle_type}\n\
                     prefix: {handle_type}_\n\
                     key id: none, a handle names no key\n\
                     length: {length} characters\n\
                     {made}"
                )
            }
            Facts::Key {
                key_id,
                in_ring,
                length,
            } => {
                let key = key(key_id, *in_ring);
                format!("key text, a secret\nprefix: swk1_\n{key}\nlength: {length} characters")
            }
        }
    }

    /// Returns the kind and the id with which `sealwax ledger end` ends it.
    #[must_use]
    pub fn ledger_end(&self) -> Option<(&'static str, &str)> {
        let end = match &self.0 {
            Facts::Token { ledger_end, .. } => ledger_end.as_ref()?,
            Facts::SessionId { ledger_end, .. } | Facts::Handle { ledger_end, .. } => ledger_end,
            Facts::Key { .. } => return None,
        };
        Some((end.kind, &end.id))
    }

    /// Returns the facts as a JSON object.
    #[must_use]
    #[inline(never)]
    pub fn json(&self) -> String {
        // Texts, numbers and booleans always serialize.
        serde_json::to_string(&self.0).unwrap_or_default()
    }
}

fn key(key_id: &str, in_ring: Option<bool>) -> String {
    let in_ring = match in_ring {
        None => "unknown, no keys given",
        Some(true) => "yes",
        Some(false) => "no",
    };
    format!("key id: {key_id}\nin this ring: {in_ring}")
}

fn made(created_at_ms: u64, now: u64) -> String {
    let made = created_at_ms / 1000;
    let moment = moment(made);
    let apart = told(now.abs_diff(made));
    if made > now {
        format!("made at: {moment}\nage: none, it is {apart} in the future")
    } else {
        format!("made at: {moment}\nage: {apart}")
    }
}

/// Writes the two largest units of a duration in seconds, such as `3d 4h`, `5m 12s` or `0s`.
#[must_use]
pub fn told(seconds: u64) -> String {
    let (large, unit, small, rest) = match seconds {
        DAY.. => (seconds / DAY, 'd', seconds % DAY / HOUR, 'h'),
        HOUR.. => (seconds / HOUR, 'h', seconds % HOUR / MINUTE, 'm'),
        MINUTE.. => (seconds / MINUTE, 'm', seconds % MINUTE, 's'),
        _ => return format!("{seconds}s"),
    };
    match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit} {small}{rest}"),
    }
}

/// Writes Unix seconds as `YYYY-MM-DDTHH:MM:SSZ`.
#[must_use]
pub fn moment(unix_seconds: u64) -> String {
    rfc3339(unix_seconds).unwrap_or_else(|| "after the year 9999".into())
}
