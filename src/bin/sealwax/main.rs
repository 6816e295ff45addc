//! The `sealwax` command, for operators and for scripts.

mod args;
mod ledger;

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use args::{
    Action, Cli, Command, HandleArgs, KeyArgs, OpenArgs, PrincipalArgs, PurposeArgs, RequestArgs,
    SealArgs, SessionIdArgs, ViewArgs,
};
use clap::Parser as _;
use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use sealwax::hazmat;
use sealwax::{
    Codec, Environment, Error, Inspected, Key, KeyRing, Opened, Principal, Purpose, RequestContext,
    System, View,
};
use serde_json::json;
use zeroize::Zeroizing;

/// Longer input is cut here, and refused for its length by what reads it.
const MAX_INPUT: u64 = 4 << 20;

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(output) => match io::stdout().write_all(&output) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&Failure::Io(error)),
        },
        Err(failure) => fail(&failure),
    }
}

enum Failure {
    Sealwax(Error),
    Io(io::Error),
    /// A store that could not be reached. The text holds no URL, for that may hold a password.
    Store(String),
    /// A store that is not fit to be a ledger.
    Unfit(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Sealwax(error)
    }
}

impl From<redis::RedisError> for Failure {
    fn from(error: redis::RedisError) -> Self {
        Self::Store(error.to_string())
    }
}

impl From<sealwax::ledger::SqliteError> for Failure {
    fn from(error: sealwax::ledger::SqliteError) -> Self {
        Self::Store(error.to_string())
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn fail(failure: &Failure) -> ExitCode {
    match failure {
        Failure::Sealwax(error) => {
            eprintln!("sealwax: {}: {error}", error.code());
            ExitCode::from(if error.is_refusal() { 1 } else { 2 })
        }
        Failure::Io(error) => {
            eprintln!("sealwax: {error}");
            ExitCode::from(2)
        }
        Failure::Store(why) => {
            eprintln!("sealwax: ledger_unavailable: {why}");
            ExitCode::from(2)
        }
        Failure::Unfit(why) => {
            eprintln!("sealwax: ledger_unfit: {why}");
            ExitCode::from(1)
        }
    }
}

/// What goes to stdout: nothing of it before everything has succeeded.
fn run(command: Command) -> Result<Vec<u8>, Failure> {
    match command {
        Command::Keygen { count } => keygen(count),
        Command::Seal(args) => seal(&args),
        Command::Open(args) => open(&args),
        Command::SessionId(args) => session_id(&args),
        Command::Handle(args) => handle(&args),
        Command::Context(args) => Ok(line(request_context(&args)?)),
        Command::Inspect(args) => inspect(&args),
        Command::Ledger(action) => Ok(line(ledger::run(&action)?)),
    }
}

fn keygen(count: u16) -> Result<Vec<u8>, Failure> {
    let mut lines = Vec::new();
    for _ in 0..count {
        if let Some(text) = Key::generate()?.to_text() {
            lines.extend_from_slice(&line(text.as_str()));
        }
    }
    Ok(lines)
}

fn seal(args: &SealArgs) -> Result<Vec<u8>, Failure> {
    let view = view(&args.view)?;
    let context = context(&args.purpose)?;
    let sealer = view.sealer(purpose(&args.purpose, &context));
    let sealer = match args.ttl {
        _ if args.no_expiry => sealer.no_expiry(),
        Some(ttl) => sealer.ttl(Duration::from_secs(ttl.into())),
        None => sealer,
    };
    let token = hazmat::seal(&sealer, args.age, args.generation, &stdin()?)?;
    Ok(line(token))
}

fn open(args: &OpenArgs) -> Result<Vec<u8>, Failure> {
    let view = view(&args.view)?;
    let context = context(&args.purpose)?;
    let sealer = view.sealer(purpose(&args.purpose, &context));
    let sealer = match args.max_age {
        Some(max_age) => sealer.max_age(Duration::from_secs(max_age)),
        None => sealer,
    };
    let opened = sealer.open(stdin_text()?.as_str())?;
    if args.json {
        return Ok(line(facts(&opened)));
    }
    Ok(opened.into_payload())
}

fn facts<K>(opened: &Opened<K>) -> serde_json::Value {
    json!({
        "payload_base64": BASE64.encode(opened.payload()),
        "issued_at": opened.issued_at(),
        "expires_at": opened.expires_at(),
        "started_at": opened.started_at(),
        "generation": opened.generation(),
        "token_id": opened.token_id().to_string(),
        "needs_reseal": opened.needs_reseal(),
    })
}

fn session_id(args: &SessionIdArgs) -> Result<Vec<u8>, Failure> {
    let view = view(&args.view)?;
    let id = match args.action {
        Action::New => view.mint_session_id()?,
        Action::Verify => {
            view.verify_session_id(&stdin_text()?, args.max_age.map(Duration::from_secs))?
        }
    };
    Ok(line(id))
}

fn handle(args: &HandleArgs) -> Result<Vec<u8>, Failure> {
    let view = view(&args.view)?;
    let max_age = args.max_age.map(Duration::from_secs);
    let handle = match args.action {
        Action::New => view.mint_handle(&args.handle_type)?,
        Action::Verify => view.verify_handle(&args.handle_type, &stdin_text()?, max_age)?,
    };
    Ok(line(handle))
}

fn inspect(args: &KeyArgs) -> Result<Vec<u8>, Failure> {
    let ring = match (&args.key_file, std::env::var_os("SEALWAX_KEYS")) {
        (None, None) => None,
        _ => Some(ring(args)?),
    };
    let in_ring = |key_id| match &ring {
        None => "unknown, for no ring was given",
        Some(ring) if ring.ids().any(|id| id == key_id) => "yes",
        Some(_) => "no",
    };
    let key = |key_id| format!("key id: {key_id}\nin this ring: {}", in_ring(key_id));
    Ok(line(match sealwax::inspect(&stdin_text()?)? {
        Inspected::Token {
            kind,
            key_id,
            token_id,
        } => {
            format!(
                "sealed token of kind {kind}\n{}\ntoken id: {token_id}",
                key(key_id)
            )
        }
        Inspected::SessionId {
            key_id,
            created_at_ms,
        } => {
            format!(
                "session id, made at {} (Unix seconds)\n{}",
                created_at_ms / 1000,
                key(key_id)
            )
        }
        Inspected::Handle {
            handle_type,
            created_at_ms,
        } => format!(
            "handle of type {handle_type}, made at {} (Unix seconds)\nkey id: none, for a handle names no key",
            created_at_ms / 1000
        ),
        Inspected::Key { key_id } => format!("key text, a secret\n{}", key(key_id)),
        _ => "known to the library, but not yet to this command".into(),
    }))
}

fn view(args: &ViewArgs) -> Result<View, Failure> {
    let builder = Codec::builder(ring(&args.keys)?, &args.audience);
    let now_ms = args
        .now
        .map_or_else(|| System.now_ms(), |now| now.saturating_mul(1000));
    let codec = builder.build_in(At { now_ms })?;
    Ok(codec.view(&principal(&args.principal)?)?)
}

/// One moment for the whole command, and the system's randomness.
struct At {
    now_ms: u64,
}

impl Environment for At {
    fn now_ms(&self) -> u64 {
        self.now_ms
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        System.fill(bytes)
    }
}

fn ring(args: &KeyArgs) -> Result<KeyRing, Failure> {
    let Some(file) = &args.key_file else {
        return Ok(KeyRing::from_env()?);
    };
    let text = fs::read_to_string(file).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("--key-file {}: {error}", file.display()),
        )
    })?;
    Ok(Zeroizing::new(text).parse()?)
}

fn principal(args: &PrincipalArgs) -> Result<Principal, Error> {
    if args.anonymous {
        return Ok(Principal::anonymous());
    }
    Principal::from_parts(
        args.issuer.as_deref(),
        args.client.as_deref(),
        args.subject.as_deref(),
    )
}

fn purpose<'a>(args: &'a PurposeArgs, context: &'a [u8]) -> Purpose<'a> {
    Purpose {
        kind: args.kind,
        label: args.label.as_deref().unwrap_or_default(),
        session_id: args.session_id.as_deref().unwrap_or_default(),
        context,
    }
}

fn context(args: &PurposeArgs) -> Result<Vec<u8>, Error> {
    if let (Some(method), Some(target)) = (&args.method, &args.target) {
        let context = RequestContext::new(method, target, args.arguments.as_deref())?;
        return Ok(context.as_bytes().to_vec());
    }
    let hex = args.context.as_deref().unwrap_or_default();
    HEXLOWER_PERMISSIVE
        .decode(hex.as_bytes())
        .map_err(|_| Error::InvalidArgument("context: expected 64 hex digits".into()))
}

fn request_context(args: &RequestArgs) -> Result<RequestContext, Error> {
    RequestContext::new(&args.method, &args.target, args.arguments.as_deref())
}

/// Stdin to the byte.
fn stdin() -> io::Result<Zeroizing<Vec<u8>>> {
    let mut input = Zeroizing::new(Vec::new());
    io::stdin().take(MAX_INPUT).read_to_end(&mut input)?;
    Ok(input)
}

/// A token, an id, a handle or a key text: without one line ending at its end, which is the
/// shell's. None of ours has a character that is not ASCII, so what is no UTF-8 may stay garbled.
fn stdin_text() -> io::Result<Zeroizing<String>> {
    let mut input = stdin()?;
    if input.pop_if(|last| *last == b'\n').is_some() {
        input.pop_if(|last| *last == b'\r');
    }
    Ok(Zeroizing::new(String::from_utf8_lossy(&input).into_owned()))
}

fn line(text: impl std::fmt::Display) -> Vec<u8> {
    format!("{text}\n").into_bytes()
}
