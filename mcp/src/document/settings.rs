//! The settings of a guard.

use super::read::{Document, read, texts};
use crate::guard::Guard;
use crate::settings::{LedgerSettings, Required, SessionSettings, TransportSettings};
use sealwax::{Codec, Error};

/// Returns a guard with these settings.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid document, and as
/// [`GuardBuilder::build`](crate::GuardBuilder::build).
#[inline(never)]
pub fn guard(codec: Codec, settings: &str) -> Result<Guard, Error> {
    let settings = read(settings)?;
    let settings = Document(&settings);
    let mut builder = Guard::builder(codec);
    builder.has_accept = settings.is("asks");
    builder.request_state_ttl = settings.seconds("requestStateTtl");
    for (target, names) in settings.members("only") {
        builder.only.push((target.clone(), texts(names)));
    }
    let sessions = settings.at("sessions");
    if sessions.0.is_object() {
        let required = sessions.at("required");
        builder.sessions = Some(SessionSettings {
            ttl: sessions.seconds("ttl"),
            no_expiry: sessions.is("noExpiry"),
            held_by_server: sessions.is("heldByServer"),
            required: Required {
                all: sessions.is("required"),
                methods: texts(required.at("methods").0),
                tools: texts(required.at("tools").0),
            },
        });
    }
    let transport = settings.at("transport");
    builder.transport = TransportSettings {
        required: transport.at("required").0.as_bool() != Some(false),
        ttl: transport.seconds("ttl"),
        idle: transport.seconds("idle"),
        sep1359: transport.is("sep1359"),
        declares: transport.is("declares"),
    };
    let ledger = settings.at("ledger");
    if ledger.0.is_object() {
        builder.ledger = Some(LedgerSettings {
            label: ledger.text("label").unwrap_or_default().into(),
            clock_tolerance: ledger.seconds("allowance"),
            local: ledger.is("local"),
            accept_issued_since: ledger.number("adopt"),
            reusable_request_state: ledger.is("reusableRequestState"),
        });
    }
    builder.build()
}
