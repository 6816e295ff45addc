//! Writes the log: to `tracing`, or to the standard error where nobody has subscribed to it.

use std::fmt::Arguments;
use std::io::{self, Write as _};

use rmcp::ErrorData;
use sealwax::{Environment as _, Error, System};
use sealwax_mcp::{Fault, Level, Refused};
use tracing::dispatcher::get_default;
use tracing::subscriber::NoSubscriber;

use crate::Kind;
use crate::refusal::{Refusal, internal};

/// Writes a refusal or a failure.
pub(crate) fn refusal(refusal: &Refusal) {
    let Refusal {
        level,
        code,
        kind,
        id,
        method,
        target,
        principal,
        message,
        ..
    } = refusal;
    let named = principal.as_ref().and_then(|principal| principal.parts());
    macro_rules! write {
        ($level:ident) => {
            tracing::$level!(
                target: "sealwax_rmcp",
                code,
                kind = kind.name(),
                method = method.as_deref(),
                target = target.as_deref(),
                issuer = named.and_then(|named| named.issuer),
                client = named.and_then(|named| named.client),
                subject = named.and_then(|named| named.subject),
                id,
                "{message}"
            )
        };
    }
    match level {
        Level::Warn => write!(warn),
        Level::Error => write!(error),
    }
    if is_unheard() {
        let level = level.name().to_ascii_uppercase();
        stderr(format_args!("{} {level} {}", refusal.time, refusal.line));
    }
}

/// Writes an error that no guard can report, and returns the answer to it.
pub(crate) fn unprotected(kind: Kind, error: &Error) -> ErrorData {
    let fault = Fault::new(kind, error.to_string());
    let entry = Refused::of(error.code(), fault, System.now_ms());
    refusal(&Refusal::new(entry));
    internal()
}

/// Writes a warning that belongs to no token.
pub(crate) fn warn(text: &str) {
    tracing::warn!(target: "sealwax_rmcp", "{text}");
    if is_unheard() {
        stderr(format_args!("WARN sealwax: {text}"));
    }
}

/// Writes a line. Nobody may read stderr any more, and `eprintln!` panics then: the request would get no answer.
fn stderr(line: Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Returns whether no program would see what goes to `tracing`.
fn is_unheard() -> bool {
    get_default(|subscriber| subscriber.is::<NoSubscriber>())
}
