//! The command line.

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use sealwax::Kind;

use crate::duration;

/// Sealed, signed session tokens for MCP servers: makes keys, seals, opens, inspects.
///
/// Keys come from the environment variable SEALWAX_KEYS or from --key-file, never from
/// arguments, which every process of the machine can read. A payload on stdin is sealed to the
/// byte; a token, an id, a handle or a key text may end in one line ending.
///
/// A DURATION has units, as in 90s, 5m, 1h30m or 30d; a plain number is seconds.
///
/// Exit status: 0 for success; 1 when a token, an id or a handle is refused, or a store is not fit
/// to be a ledger; 2 for any other failure: wrong usage, keys or arguments, a payload over its
/// limit, a file or a store that cannot be used.
#[derive(Parser)]
#[command(name = "sealwax", version, verbatim_doc_comment)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Make keys, one a line: secrets to keep in SEALWAX_KEYS
    Keygen {
        /// The number of keys
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
        count: u16,
    },
    /// Seal the payload on stdin, print the token
    Seal(SealArgs),
    /// Open the token on stdin, print its payload
    Open(OpenArgs),
    /// Make a session id, or verify the one on stdin
    SessionId(SessionIdArgs),
    /// Make a handle, or verify the one on stdin
    Handle(HandleArgs),
    /// Print the context of a request: 64 hex digits
    Context(RequestArgs),
    /// Identify a token, session id, handle or key text, without opening it
    Inspect(InspectArgs),
    /// Check a ledger, end what is in use, sign a user out
    #[command(subcommand)]
    Ledger(LedgerAction),
    /// Print the completions for a shell, to be sourced or installed
    Completions { shell: Shell },
    /// Print a manual page, in roff
    Man {
        /// The command to print the page of, such as `ledger end`; by default `sealwax` itself
        command: Vec<String>,
    },
}

#[derive(Subcommand)]
pub enum LedgerAction {
    /// Begin a ledger, before the servers do, and wait until it knows what is sealed from now on:
    /// tokens sealed in the first seconds of a new ledger are refused
    Begin {
        #[command(flatten)]
        at: LedgerArgs,
        /// How far the clocks of the servers and of the store may differ, as the guards have it; by
        /// default 5s, and 0 for a file
        #[arg(long, value_name = "DURATION", value_parser = duration::skew)]
        clock_tolerance: Option<u64>,
    },
    /// Show what a store is, whether it is fit to be a ledger, and since when it remembers
    Check(LedgerArgs),
    /// Sign a principal out everywhere: everything of theirs that began until now is refused
    Revoke {
        #[command(flatten)]
        at: LedgerArgs,
        #[command(flatten)]
        principal: PrincipalArgs,
        /// How long to remember it: at least the longest lifetime of anything the service issues, now
        /// or later; by default 400 days, longer than anything lives
        #[arg(long, value_name = "DURATION", value_parser = duration::some)]
        retain_for: Option<u64>,
    },
    /// End a session, a handle or a requestState at every replica
    End {
        #[command(flatten)]
        at: LedgerArgs,
        /// Its kind, as in the log
        #[arg(long)]
        kind: EndedKind,
        /// Its id, as in the log: 32 hex digits
        #[arg(long)]
        id: String,
        /// How long to remember it: the rest of its lifetime; by default for ever
        #[arg(long, value_name = "DURATION", value_parser = duration::some)]
        retain_for: Option<u64>,
    },
}

/// Options that select a ledger.
#[derive(Args)]
pub struct LedgerArgs {
    /// redis://HOST, rediss://HOST or sqlite:PATH, in place of SEALWAX_LEDGER: every process of the machine can read
    /// a password in it
    pub url: Option<String>,
    /// The service of the ledger
    #[arg(long)]
    pub audience: String,
    /// The label of the ledger, if the service has more than one
    #[arg(long, default_value = "")]
    pub label: String,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum EndedKind {
    /// A requestState
    RequestState,
    /// A handle that is the key of a row
    Handle,
    /// A handle that holds its state
    HandleState,
    /// A session of any proposal
    Session,
}

#[derive(Args)]
pub struct KeyArgs {
    /// File of key texts, in place of SEALWAX_KEYS: the first seals, all of them open
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
}

/// The principal, the service and the time.
#[derive(Args)]
pub struct ViewArgs {
    #[command(flatten)]
    pub keys: KeyArgs,
    /// The service that the token is for
    #[arg(long)]
    pub audience: String,
    #[command(flatten)]
    pub principal: PrincipalArgs,
    /// The time in Unix seconds, in place of the clock's: for scripts and tests only, because it
    /// can revive an expired token
    #[arg(long, value_name = "UNIX")]
    pub now: Option<u64>,
}

#[derive(Args)]
#[group(required = true, multiple = true)]
pub struct PrincipalArgs {
    /// The authenticated user
    #[arg(long)]
    pub subject: Option<String>,
    /// The authenticated client
    #[arg(long)]
    pub client: Option<String>,
    /// The issuer of the credential; needs --subject or --client
    #[arg(long)]
    pub issuer: Option<String>,
    /// No principal: anyone who holds the token can use it
    #[arg(long, conflicts_with_all = ["subject", "client", "issuer"])]
    pub anonymous: bool,
}

/// The purpose of a sealed token and its bindings.
#[derive(Args)]
pub struct PurposeArgs {
    /// The kind of the token
    #[arg(long, value_parser = kinds())]
    pub kind: Kind,
    /// The session id that the token belongs to
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub session_id: Option<String>,
    /// The list method of a cursor, the type of a handle state, the name of a custom token
    #[arg(long)]
    pub label: Option<String>,
    /// The context of the request that it belongs to, as `sealwax context` prints it; or --method
    /// and --target
    #[arg(
        long,
        value_name = "HEX",
        value_parser = context,
        conflicts_with_all = ["method", "target", "arguments"]
    )]
    pub context: Option<[u8; 32]>,
    /// The method of the request that it belongs to
    #[arg(long, requires = "target")]
    pub method: Option<String>,
    /// Its name or uri
    #[arg(long, requires = "method")]
    pub target: Option<String>,
    /// Its arguments as JSON; by default none
    #[arg(
        long,
        value_name = "JSON",
        requires = "method",
        allow_hyphen_values = true,
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub arguments: Option<String>,
    /// The limit of a payload in bytes, as set at the server: 1,048,576 at most
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 4096,
        value_parser = clap::value_parser!(u32).range(..=1 << 20)
    )]
    pub payload_limit: u32,
}

#[derive(Args)]
pub struct RequestArgs {
    /// The method, such as tools/call
    #[arg(long)]
    pub method: String,
    /// The name of the tool or prompt, or the uri of the resource
    #[arg(long)]
    pub target: String,
    /// The arguments as JSON; by default none
    #[arg(
        long,
        value_name = "JSON",
        allow_hyphen_values = true,
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub arguments: Option<String>,
}

#[derive(Args)]
pub struct SealArgs {
    #[command(flatten)]
    pub view: ViewArgs,
    #[command(flatten)]
    pub purpose: PurposeArgs,
    /// The lifetime; by default that of the kind
    #[arg(long, value_name = "DURATION", value_parser = duration::ttl, conflicts_with = "no_expiry")]
    pub ttl: Option<u32>,
    /// The token never expires by itself
    #[arg(long)]
    pub no_expiry: bool,
    /// The time since its session began
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration::age)]
    pub age: u32,
    /// The number of renewals of its session
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub generation: u32,
}

/// The time limits when opening and verifying.
#[derive(Args)]
pub struct TimeArgs {
    /// The maximum age of it or its session; by default unlimited
    #[arg(long, value_name = "DURATION", value_parser = duration::any)]
    pub max_age: Option<u64>,
    /// The time by which the clock of the sealing server may be ahead: 5m at most
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration::skew)]
    pub skew: u64,
}

#[derive(Args)]
pub struct OpenArgs {
    #[command(flatten)]
    pub view: ViewArgs,
    #[command(flatten)]
    pub purpose: PurposeArgs,
    #[command(flatten)]
    pub time: TimeArgs,
    /// Print JSON: the payload as payload_base64, issued_at, expires_at (null for never) and started_at in Unix
    /// seconds, generation, token_id, needs_reseal
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Action {
    /// Make a new one
    New,
    /// Verify the one on stdin
    Verify,
}

#[derive(Args)]
pub struct SessionIdArgs {
    pub action: Action,
    #[command(flatten)]
    pub view: ViewArgs,
    #[command(flatten)]
    pub time: TimeArgs,
}

#[derive(Args)]
pub struct HandleArgs {
    pub action: Action,
    /// The type of handle, such as basket
    #[arg(long = "type", value_name = "TYPE")]
    pub handle_type: String,
    #[command(flatten)]
    pub view: ViewArgs,
    #[command(flatten)]
    pub time: TimeArgs,
}

#[derive(Args)]
pub struct InspectArgs {
    /// The text, in place of stdin: every process of the machine can read it, so pass a live token
    /// or a key on stdin
    pub text: Option<String>,
    #[command(flatten)]
    pub keys: KeyArgs,
    /// The time in Unix seconds, in place of the clock's
    #[arg(long, value_name = "UNIX")]
    pub now: Option<u64>,
    /// Print JSON: what (token, session-id, handle or key), length, and if there is exactly one
    /// kind, key_id, token_id, handle_type, created_at_ms; in_ring is null without keys
    #[arg(long)]
    pub json: bool,
}

/// Parses by name, so that a shell completes the names.
fn kinds() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::name)).try_map(|name| name.parse::<Kind>())
}

fn context(hex: &str) -> Result<[u8; 32], &'static str> {
    let bytes = base16ct::mixed::decode_vec(hex).ok();
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or("expected 64 hex digits, as `sealwax context` prints them")
}
