//! The `sealwax` command, for operators and for scripts. What it does is in the library; here are arguments, input and
//! output.

mod args;
mod files;
mod manual;
mod store;

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::ArgMatches;
use sealwax::{Environment as _, System};
use sealwax_cli::{Answer, Ask, Done, Request, Run, Step};
use zeroize::Zeroizing;

/// Longer input is cut here, and the reader refuses it for its length.
const MAX_INPUT: u64 = 4 << 20;

/// The variables of the environment that commands read.
const VARIABLES: [&str; 5] = [
    "SEALWAX_KEYS",
    "SEALWAX_KEYS_FILE",
    "SEALWAX_SECRET",
    "SEALWAX_SECRET_FALLBACKS",
    "SEALWAX_LEDGER",
];

fn main() -> ExitCode {
    let matches = manual::with_pages(args::commands()).get_matches();
    let done = match matches.subcommand() {
        Some(("completions", given)) => Ok(manual::completions(given)),
        Some(("man", given)) => manual::page(given),
        _ => run(&matches),
    };
    match done.and_then(|output| print(&output).map_err(|error| failed(&error))) {
        Ok(()) => ExitCode::SUCCESS,
        Err((status, told)) => {
            // If stderr cannot be written, the exit status still tells.
            let _ = writeln!(io::stderr(), "{told}");
            status.into()
        }
    }
}

/// The exit status, and what is said on stderr.
type Failed = (u8, String);

fn failed(error: &dyn std::fmt::Display) -> Failed {
    (2, format!("sealwax: {error}"))
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
fn run(matches: &ArgMatches) -> Result<Zeroizing<Vec<u8>>, Failed> {
    let (command, options) = args::given(matches);
    let variable = |name: &str| Some((name.to_owned(), std::env::var_os(name)?));
    let environment = VARIABLES.into_iter().filter_map(variable);
    let mut run = Run::new(Request {
        program: "sealwax".into(),
        command,
        options,
        environment: environment
            .map(|(name, value)| (name, value.to_string_lossy().into_owned()))
            .collect(),
        now_ms: System.now_ms(),
    });
    let mut stores = store::Stores::default();
    loop {
        let answer = match run.step(&System) {
            Step::Ask(Ask::Stdin { stdin }) => read_stdin(stdin),
            Step::Ask(Ask::File { file, replaced }) => files::read(&file, replaced),
            Step::Ask(Ask::Redis { redis, send }) => stores.redis(&redis, &send),
            Step::Ask(Ask::Query {
                sqlite,
                query,
                parameters,
            }) => stores.query(&sqlite, &query, &parameters),
            Step::Ask(Ask::Run { sqlite, run }) => store::run(&sqlite, &run),
            Step::Done(done) => return finish(done),
            Step::Failed { status, stderr } => return Err((status, stderr)),
        };
        run.answer(answer);
    }
}

fn finish(done: Done) -> Result<Zeroizing<Vec<u8>>, Failed> {
    if let Some(write) = done.write {
        files::replace(&write.path, &write.text)
            .map_err(|error| failed(&format!("{}: {error}", write.path)))?;
    }
    std::thread::sleep(Duration::from_secs(done.wait));
    Ok(done.stdout)
}

/// Reads stdin to the byte; on a terminal, says what to type.
fn read_stdin(what: &str) -> Answer {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        let _ = writeln!(io::stderr(), "sealwax: type {what}, then Ctrl-D");
    }
    let mut input = Zeroizing::new(Vec::new());
    match stdin.take(MAX_INPUT).read_to_end(&mut input) {
        Ok(_) => Answer::Bytes(input),
        Err(error) => unanswered(&error),
    }
}

/// Returns the answer for what failed.
fn unanswered(error: &dyn std::fmt::Display) -> Answer {
    Answer::Failed {
        why: error.to_string(),
        tip: None,
    }
}
