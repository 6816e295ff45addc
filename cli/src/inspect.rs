//! `inspect`: identifies a text.

use sealwax::report::Report;
use sealwax::{Inspected, inspect};

use crate::failure::Failure;
use crate::input::{Input, Stop};
use crate::step::Done;
use crate::tokens::given_ring;

pub(crate) fn run(input: &Input<'_>) -> Result<Done, Stop> {
    let options = input.options();
    let now = input.now_ms()? / 1000;
    let ring = given_ring(input)?;
    let text = match options.text("text") {
        Some(text) => text.to_owned().into(),
        None => input.stdin_text("the text to inspect")?,
    };
    let report = Report::of(&text, ring.as_ref());
    let report = report.map_err(|error| Failure::from(error).without_tip())?;
    if options.has("json") {
        return Ok(Done::line(report.json()));
    }
    let (mut words, program) = (report.words(now), input.program());
    match inspect(&text)? {
        Inspected::Token { kind, .. } => {
            words.push_str(&format!("\nto open it: {program} open --kind {kind}"));
        }
        Inspected::SessionId { .. } => {
            words.push_str(&format!("\nto verify it: {program} session-id verify"));
        }
        Inspected::Handle { handle_type, .. } => {
            words.push_str(&format!(
                "\nto verify it: {program} handle verify --type {handle_type}"
            ));
        }
        _ => {}
    }
    if let Some((kind, id)) = report.ledger_end() {
        words.push_str(&format!(
            "\nto end it: {program} ledger end --kind {kind} --id {id}"
        ));
    }
    Ok(Done::line(words))
}
