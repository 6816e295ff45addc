//! `sealwax inspect`: identifies a text. The commands of the other packages print the same words:
//! tests/inspect.json has them.

use sealwax::report::Report;
use sealwax::{Environment as _, Inspected, System, inspect};

use super::{Failure, ring, stdin_text};
use crate::args::InspectArgs;

pub fn run(args: &InspectArgs) -> Result<String, Failure> {
    let ring = match (&args.keys.key_file, std::env::var_os("SEALWAX_KEYS")) {
        (None, None) => None,
        _ => Some(ring(&args.keys)?),
    };
    let text = match &args.text {
        Some(text) => text.clone().into(),
        None => stdin_text("the text to inspect")?,
    };
    let report = Report::of(&text, ring.as_ref());
    let report = report.map_err(|error| Failure::from(error).without_tip())?;
    if args.json {
        return Ok(report.json());
    }
    let now = args.now.unwrap_or_else(|| System.now_ms() / 1000);
    let words = report.words(now);
    Ok(match inspect(&text)? {
        Inspected::Token { kind, .. } => {
            format!("{words}\nto open it: sealwax open --kind {kind}")
        }
        Inspected::SessionId { .. } => format!("{words}\nto verify it: sealwax session-id verify"),
        Inspected::Handle { handle_type, .. } => {
            format!("{words}\nto verify it: sealwax handle verify --type {handle_type}")
        }
        _ => words,
    })
}
