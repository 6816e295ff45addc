//! The commands that make, seal and open: `keygen`, `seal`, `open`, `session-id`, `handle`, `context`.

use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use sealwax::hazmat;
use sealwax::{
    Codec, CodecBuilder, Environment, Error, Handle, Key, KeyRing, Kind, Opened, Purpose,
    RequestContext, Variables, View,
};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::failure::Failure;
use crate::input::{Input, Stop};
use crate::options::wrong;
use crate::step::Done;

pub(crate) fn keygen(input: &Input<'_>) -> Result<Done, Stop> {
    let count = input.options().number("count", 1, u16::MAX.into())?;
    let mut done = Done::default();
    for _ in 0..count.unwrap_or(1) {
        if let Some(text) = Key::generate_in(input.environment)?.to_text() {
            done.stdout.extend_from_slice(text.as_bytes());
            done.stdout.push(b'\n');
        }
    }
    Ok(done)
}

pub(crate) fn seal(input: &Input<'_>) -> Result<Done, Stop> {
    let options = input.options();
    let bound = Bound::of(input)?;
    options.alone("ttl", &["no-expiry"])?;
    let ttl = options.duration("ttl", 0, u32::MAX.into())?;
    if ttl == Some(0) {
        let why = "expected 1 second or more; --no-expiry turns expiry off";
        return Err(wrong("ttl", why).into());
    }
    let age = claim(options.duration("age", 0, u32::MAX.into())?);
    let generation = claim(options.number("generation", 0, u32::MAX.into())?);
    let view = view(input, |codec| codec.payload_limit(bound.limit))?;
    let sealer = view.sealer(bound.purpose());
    let sealer = match ttl {
        _ if options.has("no-expiry") => sealer.no_expiry(),
        Some(ttl) => sealer.ttl(Duration::from_secs(ttl)),
        None => sealer,
    };
    sealer.check()?;
    let payload = input.stdin("the payload")?;
    let token = hazmat::seal(&sealer, age, generation, payload);
    Ok(Done::line(token.map_err(Failure::of_sealing)?))
}

fn claim(number: Option<u64>) -> u32 {
    number.map_or(0, |number| u32::try_from(number).unwrap_or(u32::MAX))
}

pub(crate) fn open(input: &Input<'_>) -> Result<Done, Stop> {
    let bound = Bound::of(input)?;
    let (max_age, clock_tolerance) = times(input)?;
    let view = view(input, |codec| {
        codec
            .payload_limit(bound.limit)
            .clock_tolerance(clock_tolerance)
    })?;
    let sealer = view.sealer(bound.purpose());
    let sealer = match max_age {
        Some(max_age) => sealer.max_age(max_age),
        None => sealer,
    };
    sealer.check()?;
    let opened = sealer.open(input.stdin_text("the token")?.as_str())?;
    if input.options().has("json") {
        return Ok(Done::line(facts(&opened)));
    }
    Ok(Done {
        stdout: Zeroizing::new(opened.into_payload()),
        ..Done::default()
    })
}

fn facts<K>(opened: &Opened<K>) -> String {
    #[derive(Serialize)]
    struct Facts {
        expires_at: Option<u64>,
        generation: u32,
        issued_at: u64,
        needs_reseal: bool,
        payload_base64: String,
        started_at: u64,
        token_id: String,
    }
    let facts = Facts {
        expires_at: opened.expires_at(),
        generation: opened.generation(),
        issued_at: opened.issued_at(),
        needs_reseal: opened.needs_reseal(),
        payload_base64: BASE64_STANDARD.encode(opened.payload()),
        started_at: opened.started_at(),
        token_id: opened.token_id().to_string(),
    };
    // Texts, numbers and booleans always serialize.
    serde_json::to_string(&facts).unwrap_or_default()
}

pub(crate) fn session_id(input: &Input<'_>) -> Result<Done, Stop> {
    let is_new = is_new(input)?;
    let (max_age, clock_tolerance) = times(input)?;
    let view = view(input, |codec| codec.clock_tolerance(clock_tolerance))?;
    Ok(Done::line(match is_new {
        true => view.mint_session_id()?,
        false => view.verify_session_id(&input.stdin_text("the session id")?, max_age)?,
    }))
}

pub(crate) fn handle(input: &Input<'_>) -> Result<Done, Stop> {
    let is_new = is_new(input)?;
    let (max_age, clock_tolerance) = times(input)?;
    let handle_type = input.options().required("type")?;
    let view = view(input, |codec| codec.clock_tolerance(clock_tolerance))?;
    Handle::check_type(handle_type)?;
    Ok(Done::line(match is_new {
        true => view.mint_handle(handle_type)?,
        false => view.verify_handle(handle_type, &input.stdin_text("the handle")?, max_age)?,
    }))
}

fn is_new(input: &Input<'_>) -> Result<bool, Failure> {
    match input.options().required("action")? {
        "new" => Ok(true),
        "verify" => Ok(false),
        found => Err(wrong(
            "action",
            &format!("expected new or verify, found {found:?}"),
        )),
    }
}

pub(crate) fn context(input: &Input<'_>) -> Result<Done, Stop> {
    let options = input.options();
    let method = options.required("method")?;
    let target = options.required("target")?;
    let arguments = options.not_empty("arguments")?;
    Ok(Done::line(RequestContext::new(method, target, arguments)?))
}

/// What a token is for, and what it is bound to.
struct Bound<'a> {
    purpose: Purpose<'a>,
    context: Vec<u8>,
    limit: usize,
}

impl<'a> Bound<'a> {
    fn of(input: &Input<'a>) -> Result<Self, Failure> {
        let options = input.options();
        let kind: Kind = options.required("kind")?.parse()?;
        let label = options.text("label").unwrap_or_default();
        if kind == Kind::HandleState && !label.is_empty() {
            Handle::check_type(label)
                .map_err(|error| Failure::from(error).by("--type", "--label"))?;
        }
        let limit = options.number("payload-limit", 0, 1 << 20)?.unwrap_or(4096);
        Ok(Self {
            purpose: Purpose {
                kind,
                label,
                session_id: options.not_empty("session-id")?.unwrap_or_default(),
                context: &[],
            },
            context: Self::context(input)?,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
        })
    }

    fn context(input: &Input<'_>) -> Result<Vec<u8>, Failure> {
        let options = input.options();
        options.alone("context", &["method", "target", "arguments"])?;
        for (one, other) in [
            ("method", "target"),
            ("target", "method"),
            ("arguments", "method"),
        ] {
            options.needs(one, other)?;
        }
        let arguments = options.not_empty("arguments")?;
        if let (Some(method), Some(target)) = (options.text("method"), options.text("target")) {
            let context = RequestContext::new(method, target, arguments)?;
            return Ok(context.as_bytes().to_vec());
        }
        let Some(hex) = options.text("context") else {
            return Ok(Vec::new());
        };
        match base16ct::mixed::decode_vec(hex) {
            Ok(context) if context.len() == 32 => Ok(context),
            _ => Err(wrong(
                "context",
                "expected 64 hex digits, as `sealwax context` prints them",
            )),
        }
    }

    fn purpose(&self) -> Purpose<'_> {
        Purpose {
            context: &self.context,
            ..self.purpose
        }
    }
}

/// Returns the maximum age, and the clock tolerance.
fn times(input: &Input<'_>) -> Result<(Option<Duration>, Duration), Failure> {
    let options = input.options();
    let max_age = options.duration("max-age", 0, u64::MAX)?;
    let clock_tolerance = options.clock_tolerance()?;
    Ok((
        max_age.map(Duration::from_secs),
        clock_tolerance.unwrap_or(Duration::from_secs(60)),
    ))
}

fn view(
    input: &Input<'_>,
    limits: impl FnOnce(CodecBuilder) -> CodecBuilder,
) -> Result<View, Stop> {
    let options = input.options();
    let audience = options.required("audience")?;
    let principal = options.principal()?;
    let at = At {
        now_ms: input.now_ms()?,
        environment: input.environment,
    };
    let codec = limits(Codec::builder(ring(input)?, audience)).build_in(at)?;
    Ok(codec.view(&principal)?)
}

/// The environment of one command: one time throughout, and the program's randomness.
struct At {
    now_ms: u64,
    environment: &'static dyn Environment,
}

impl Environment for At {
    fn now_ms(&self) -> u64 {
        self.now_ms
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        self.environment.fill(bytes)
    }
}

/// Returns the keys, which must be given.
pub(crate) fn ring(input: &Input<'_>) -> Result<KeyRing, Stop> {
    match given_ring(input)? {
        Some(ring) => Ok(ring),
        None => {
            let why = "SEALWAX_KEYS is not set, nor is SEALWAX_KEYS_FILE or SEALWAX_SECRET";
            Err(Failure::from(Error::InvalidKey(why.into()))
                .tip(
                    "give a file of keys with --key-file or SEALWAX_KEYS_FILE, or keys in \
                     SEALWAX_KEYS; `sealwax keygen` makes a key",
                )
                .into())
        }
    }
}

/// Returns the text of a file of keys.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, Failure> {
    let text = std::str::from_utf8(bytes);
    text.map_err(|_| Error::InvalidKey("expected UTF-8".into()).into())
}

/// Returns the keys, if they are given.
pub(crate) fn given_ring(input: &Input<'_>) -> Result<Option<KeyRing>, Stop> {
    let variables = Variables {
        keys: input.variable("SEALWAX_KEYS"),
        keys_file: input.variable("SEALWAX_KEYS_FILE"),
        secret: input.variable("SEALWAX_SECRET"),
        secret_fallbacks: input.variable("SEALWAX_SECRET_FALLBACKS"),
    };
    let (file, place) = match (input.options().text("key-file"), variables) {
        (Some(file), _) => (file, format!("--key-file {file}")),
        (None, variables) if variables.are_absent() => return Ok(None),
        (None, variables) => match (variables.ring(), variables.keys_file) {
            (Ok(None), Some(file)) => (file, format!("SEALWAX_KEYS_FILE {file}")),
            (ring, _) => return Ok(ring?),
        },
    };
    let text = utf8(input.file(file, &place)?).map_err(|failure| failure.found_in(&place))?;
    let ring = text.parse::<KeyRing>().map_err(Failure::from);
    Ok(Some(ring.map_err(|failure| failure.found_in(&place))?))
}
