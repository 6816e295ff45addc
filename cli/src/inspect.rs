//! `inspect`: identifies texts.

use sealwax::report::Report;
use sealwax::{Inspected, inspect};

use crate::failure::Failure;
use crate::input::{Input, Stop};
use crate::step::Done;
use crate::texts::texts_in;
use crate::tokens::given_ring;

pub(crate) fn run(input: &Input<'_>) -> Result<Done, Stop> {
    let options = input.options();
    let now = input.now_ms()? / 1000;
    let ring = given_ring(input)?;
    let given = match options.text("text") {
        Some(text) => text.to_owned().into(),
        None => input.stdin_text("the text to inspect")?,
    };
    let found = texts_in(&given).map_err(|error| Failure::from(error).without_tip())?;
    let json = options.has("json");
    let mut told = String::new();
    for (at, one) in found.iter().enumerate() {
        // Both know what was found. `?` would make the WebAssembly module larger.
        let (Ok(report), Ok(seen)) = (Report::of(one.text, ring.as_ref()), inspect(one.text))
        else {
            continue;
        };
        let gap = if at > 0 { "\n" } else { "" };
        told.push_str(gap);
        if json {
            told.push_str(&report.json());
            continue;
        }
        if found.len() > 1 {
            told.push_str(&format!("{gap}{}. {}\n", at + 1, one.name));
        }
        told.push_str(&report.words(now));
        let program = input.program();
        let next = match &seen {
            Inspected::Token { kind, .. } => Some(("open it", "open --kind ", kind.name())),
            Inspected::SessionId { .. } => Some(("verify it", "session-id verify", "")),
            // A consent is verified with its request alone.
            Inspected::Handle { handle_type, .. } if handle_type != "yes" => {
                Some(("verify it", "handle verify --type ", handle_type.as_str()))
            }
            _ => None,
        };
        if let Some((what, command, value)) = next {
            told.push_str(&format!("\nto {what}: {program} {command}{value}"));
        }
        if let Some((kind, id)) = report.ledger_end() {
            told.push_str(&format!(
                "\nto end it: {program} ledger end --kind {kind} --id {id}"
            ));
        }
    }
    Ok(Done::line(told))
}
