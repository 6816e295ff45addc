//! The `sealwax` command, for operators and for scripts.

mod args;
mod duration;
mod failure;
mod inspect;
mod ledger;
mod manual;

use std::fs;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use args::{
    Action, Cli, Command, HandleArgs, KeyArgs, OpenArgs, PrincipalArgs, PurposeArgs, RequestArgs,
    SealArgs, SessionIdArgs, TimeArgs, ViewArgs,
};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use clap::Parser as _;
use failure::Failure;
use sealwax::hazmat;
use sealwax::{
    Codec, CodecBuilder, Environment, Error, Handle, Key, KeyRing, Kind, Opened, Principal,
    Purpose, RequestContext, System, View,
};
use serde_json::json;
use zeroize::Zeroizing;

/// Longer input is cut here, and the reader refuses it for its length.
const MAX_INPUT: u64 = 4 << 20;

fn main() -> ExitCode {
    let done = run(Cli::parse().command).and_then(|output| Ok(print(&output)?));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // If stderr cannot be written, the exit status still tells.
            let _ = writeln!(io::stderr(), "{failure}");
            failure.exit_code()
        }
    }
}

/// Prints; a reader that closes early, such as `head`, is no failure.
fn print(output: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout();
    match stdout.write_all(output).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// Returns the output, so that nothing is printed unless everything succeeded.
fn run(command: Command) -> Result<Vec<u8>, Failure> {
    match command {
        Command::Keygen { count } => keygen(count),
        Command::Seal(args) => seal(&args),
        Command::Open(args) => open(&args),
        Command::SessionId(args) => session_id(&args),
        Command::Handle(args) => handle(&args),
        Command::Context(args) => Ok(line(request_context(&args)?)),
        Command::Inspect(args) => Ok(line(inspect::run(&args)?)),
        Command::Ledger(action) => Ok(line(ledger::run(&action)?)),
        Command::Completions { shell } => Ok(manual::completions(shell)),
        Command::Man { command } => manual::page(&command),
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
    let view = view(&args.view, |codec| limited(codec, &args.purpose))?;
    let context = context(&args.purpose)?;
    let sealer = view.sealer(purpose(&args.purpose, &context)?);
    let sealer = match args.ttl {
        _ if args.no_expiry => sealer.no_expiry(),
        Some(ttl) => sealer.ttl(Duration::from_secs(ttl.into())),
        None => sealer,
    };
    sealer.check()?;
    let payload = stdin("the payload")?;
    let token = hazmat::seal(&sealer, args.age, args.generation, &payload);
    Ok(line(token.map_err(Failure::of_sealing)?))
}

fn open(args: &OpenArgs) -> Result<Vec<u8>, Failure> {
    let view = view(&args.view, |codec| {
        judging(limited(codec, &args.purpose), &args.time)
    })?;
    let context = context(&args.purpose)?;
    let sealer = view.sealer(purpose(&args.purpose, &context)?);
    let sealer = match max_age(&args.time) {
        Some(max_age) => sealer.max_age(max_age),
        None => sealer,
    };
    sealer.check()?;
    let opened = sealer.open(stdin_text("the token")?.as_str())?;
    if args.json {
        return Ok(line(facts(&opened)));
    }
    Ok(opened.into_payload())
}

fn facts<K>(opened: &Opened<K>) -> serde_json::Value {
    json!({
        "payload_base64": BASE64_STANDARD.encode(opened.payload()),
        "issued_at": opened.issued_at(),
        "expires_at": opened.expires_at(),
        "started_at": opened.started_at(),
        "generation": opened.generation(),
        "token_id": opened.token_id().to_string(),
        "needs_reseal": opened.needs_reseal(),
    })
}

fn session_id(args: &SessionIdArgs) -> Result<Vec<u8>, Failure> {
    let view = view(&args.view, |codec| judging(codec, &args.time))?;
    let id = match args.action {
        Action::New => view.mint_session_id()?,
        Action::Verify => {
            view.verify_session_id(&stdin_text("the session id")?, max_age(&args.time))?
        }
    };
    Ok(line(id))
}

fn handle(args: &HandleArgs) -> Result<Vec<u8>, Failure> {
    let view = view(&args.view, |codec| judging(codec, &args.time))?;
    Handle::check_type(&args.handle_type)?;
    let handle = match args.action {
        Action::New => view.mint_handle(&args.handle_type)?,
        Action::Verify => {
            let text = stdin_text("the handle")?;
            view.verify_handle(&args.handle_type, &text, max_age(&args.time))?
        }
    };
    Ok(line(handle))
}

fn view(
    args: &ViewArgs,
    limits: impl FnOnce(CodecBuilder) -> CodecBuilder,
) -> Result<View, Failure> {
    let builder = limits(Codec::builder(ring(&args.keys)?, &args.audience));
    let now_ms = args
        .now
        .map_or_else(|| System.now_ms(), |now| now.saturating_mul(1000));
    let codec = builder.build_in(At { now_ms })?;
    Ok(codec.view(&principal(&args.principal)?)?)
}

fn limited(codec: CodecBuilder, args: &PurposeArgs) -> CodecBuilder {
    codec.payload_limit(args.payload_limit as usize)
}

fn judging(codec: CodecBuilder, args: &TimeArgs) -> CodecBuilder {
    codec.skew(Duration::from_secs(args.skew))
}

fn max_age(args: &TimeArgs) -> Option<Duration> {
    args.max_age.map(Duration::from_secs)
}

/// The environment of one command: one time throughout, and the system's randomness.
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
        let given = std::env::var_os("SEALWAX_KEYS").is_some_and(|keys| !keys.is_empty());
        return KeyRing::from_env().map_err(|error| match Failure::from(error) {
            failure if given => failure.found_in("SEALWAX_KEYS"),
            failure => failure.tip("or give a file of keys with --key-file"),
        });
    };
    let place = format!("--key-file {}", file.display());
    let text = fs::read_to_string(file).map_err(|error| Failure::from(error).found_in(&place))?;
    let ring = Zeroizing::new(text).parse::<KeyRing>();
    ring.map_err(|error| Failure::from(error).found_in(&place))
}

fn principal(args: &PrincipalArgs) -> Result<Principal, Error> {
    if args.anonymous {
        return Ok(Principal::anonymous());
    }
    if args.subject.is_none() && args.client.is_none() {
        return Err(Error::InvalidArgument(
            "--issuer: expected --subject or --client too: an issuer alone names no user".into(),
        ));
    }
    Principal::from_parts(
        args.issuer.as_deref(),
        args.client.as_deref(),
        args.subject.as_deref(),
    )
}

fn purpose<'a>(args: &'a PurposeArgs, context: &'a [u8]) -> Result<Purpose<'a>, Failure> {
    let label = args.label.as_deref().unwrap_or_default();
    if args.kind == Kind::HandleState && !label.is_empty() {
        Handle::check_type(label).map_err(|error| Failure::from(error).by("--type", "--label"))?;
    }
    Ok(Purpose {
        kind: args.kind,
        label,
        session_id: args.session_id.as_deref().unwrap_or_default(),
        context,
    })
}

fn context(args: &PurposeArgs) -> Result<Vec<u8>, Error> {
    if let (Some(method), Some(target)) = (&args.method, &args.target) {
        let context = RequestContext::new(method, target, args.arguments.as_deref())?;
        return Ok(context.as_bytes().to_vec());
    }
    Ok(args.context.map(Vec::from).unwrap_or_default())
}

fn request_context(args: &RequestArgs) -> Result<RequestContext, Error> {
    RequestContext::new(&args.method, &args.target, args.arguments.as_deref())
}

/// Reads stdin to the byte; on a terminal, says what to type.
fn stdin(what: &str) -> io::Result<Zeroizing<Vec<u8>>> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        let _ = writeln!(io::stderr(), "sealwax: type {what}, then Ctrl-D");
    }
    let mut input = Zeroizing::new(Vec::new());
    stdin.take(MAX_INPUT).read_to_end(&mut input)?;
    Ok(input)
}

/// Reads a token, an id, a handle or a key text, without one line ending at its end, which the
/// shell adds. All of these are ASCII, so invalid UTF-8 may stay garbled.
fn stdin_text(what: &str) -> io::Result<Zeroizing<String>> {
    let mut input = stdin(what)?;
    if input.pop_if(|last| *last == b'\n').is_some() {
        input.pop_if(|last| *last == b'\r');
    }
    Ok(Zeroizing::new(String::from_utf8_lossy(&input).into_owned()))
}

fn line(text: impl std::fmt::Display) -> Vec<u8> {
    format!("{text}\n").into_bytes()
}
