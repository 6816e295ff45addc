//! The Rust side of the interop run: a request a line on stdin, an answer a line on stdout
//! (tests/driver/interop.py says which). For tests/driver it has a clock in its hands: a last field says the time.
#![allow(clippy::unwrap_used)]

use std::error::Error as StdError;
use std::io::{self, BufRead as _, Write as _};
use std::time::Duration;

use base16ct::lower;
use sealwax::{
    Codec, Environment, Error, KeyRing, Principal, Purpose, RequestContext, Sealer,
    SessionMetadata, Sessions, System, View, kind::Untyped,
};

fn main() -> Result<(), Box<dyn StdError>> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let fields: Vec<_> = line.split('\t').collect();
        let (fields, now) = fields.split_at(12.min(fields.len()));
        let fields = fields.try_into().map_err(|_| "expected 12 fields")?;
        match answer(fields, now.first().copied()) {
            Ok(answer) => writeln!(out, "ok\t{answer}")?,
            Err(error) => writeln!(out, "error\t{}", error.code())?,
        }
        out.flush()?;
    }
    Ok(())
}

fn answer(fields: [&str; 12], now: Option<&str>) -> Result<String, Error> {
    let [
        op,
        ring,
        audience,
        principal,
        kind,
        label,
        session_id,
        context,
        ttl,
        payload,
        token,
        max_age,
    ] = fields;
    let [label, session_id, token] = [label, session_id, token].map(text);
    let (payload, context) = (bytes(payload), bytes(context));
    let max_age = (!max_age.is_empty()).then(|| Duration::from_secs(max_age.parse().unwrap()));

    // For tests/driver: of method, target and arguments.
    if op == "context" {
        let arguments = Some(text(fields[9])).filter(|json| !json.is_empty());
        return RequestContext::new(&label, &session_id, arguments.as_deref())
            .map(|context| context.to_string());
    }
    let view = view(ring, audience, principal, now)?;
    let sessions = lifetime(view.sessions(), ttl, Sessions::no_expiry, Sessions::ttl);
    let session = || sessions.open(&SessionMetadata::from_json(&token)?);
    let request = || RequestContext::from_bytes(&context);
    let made =
        |created_at_ms: u64, needs_reseal| format!("{created_at_ms}\t{}", u8::from(needs_reseal));
    match op {
        "mint-session-id" => view.mint_session_id().map(|id| id.to_string()),
        "verify-session-id" => {
            let id = view.verify_session_id(&token, max_age)?;
            Ok(made(id.created_at_ms(), id.needs_reseal()))
        }
        "mint-handle" => view.mint_handle(&label).map(|handle| handle.to_string()),
        "verify-handle" => {
            let handle = view.verify_handle(&label, &token, max_age)?;
            Ok(made(handle.created_at_ms(), handle.needs_reseal()))
        }
        "mint-short-handle" => {
            let number = String::from_utf8_lossy(&payload).parse();
            let number = number.map_err(|_| Error::argument("number"))?;
            view.mint_short_handle(&label, number)
        }
        "mint-consent" => Ok(view.mint_consent(&request()?)?.to_string()),
        "verify-consent" => {
            let consent = view.verify_consent(&request()?, &token, Duration::from_secs(600))?;
            Ok(made(consent.created_at_ms(), consent.needs_reseal()))
        }
        "session-create" => Ok(sessions.create(&payload)?.to_json()),
        "session-open" => {
            let session = session()?;
            let payload = lower::encode_string(session.payload());
            Ok(format!("{payload}\t{}", session.state().generation()))
        }
        "session-renew" => Ok(sessions.renew(&session()?, &payload)?.to_json()),
        "session-fork" => Ok(sessions.fork(&session()?)?.to_json()),
        _ => {
            let purpose = Purpose {
                kind: kind.parse()?,
                label: &label,
                session_id: &session_id,
                context: &context,
            };
            let sealer = lifetime(view.sealer(purpose), ttl, Sealer::no_expiry, Sealer::ttl);
            let sealer = max_age.into_iter().fold(sealer, Sealer::max_age);
            sealed(op, &sealer, &payload, &token)
        }
    }
}

fn sealed(
    op: &str,
    sealer: &Sealer<'_, Untyped>,
    payload: &[u8],
    token: &str,
) -> Result<String, Error> {
    match op {
        "seal" => Ok(sealer.seal(payload)?.to_string()),
        "renew" => Ok(sealer.renew(&sealer.open(token)?, payload)?.to_string()),
        "lifetime" => {
            let opened = sealer.open(token)?;
            let expires_at = opened.expires_at().unwrap_or(0);
            Ok(format!("{}\t{expires_at}", opened.issued_at()))
        }
        "open" => {
            let opened = sealer.open(token)?;
            let payload = lower::encode_string(opened.payload());
            let needs_reseal = u8::from(opened.needs_reseal());
            let (generation, id) = (opened.generation(), opened.token_id());
            Ok(format!("{payload}\t{generation}\t{needs_reseal}\t{id}"))
        }
        _ => panic!("no such op: {op}"),
    }
}

fn view(ring: &str, audience: &str, principal: &str, now: Option<&str>) -> Result<View, Error> {
    let principal = if principal == "anonymous" {
        Principal::anonymous()
    } else {
        let parts = text(principal);
        let mut parts = parts
            .split('\0')
            .map(|part| Some(part).filter(|part| !part.is_empty()));
        let mut next = || parts.next().flatten();
        Principal::from_parts(next(), next(), next())?
    };
    let codec = Codec::builder(text(ring).parse::<KeyRing>()?, text(audience));
    let codec = match now {
        // What a client sends may be larger than what a server seals.
        Some(now) => codec
            .payload_limit(1 << 16)
            .build_in(At(now.parse().unwrap()))?,
        None => codec.build()?,
    };
    codec.view(&principal)
}

/// A clock that stands still, in Unix seconds.
struct At(u64);

impl Environment for At {
    fn now_ms(&self) -> u64 {
        self.0 * 1000
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        System.fill(bytes)
    }
}

fn lifetime<T>(
    of: T,
    ttl: &str,
    no_expiry: impl FnOnce(T) -> T,
    lives: impl FnOnce(T, Duration) -> T,
) -> T {
    match ttl {
        "" => of,
        "none" => no_expiry(of),
        seconds => lives(of, Duration::from_secs(seconds.parse().unwrap())),
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    lower::decode_vec(hex).unwrap()
}

fn text(hex: &str) -> String {
    String::from_utf8(bytes(hex)).unwrap()
}
