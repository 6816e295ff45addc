//! altered COUNT [SEED [SECONDS]]: opens so many altered tokens, within so many seconds; `altered print COUNT [SEED]`
//! prints them, a line of JSON each, for other programs that open.

use std::io::Write as _;
use std::time::Instant;

use altered::cases::{Shares, block};
use altered::tally::Tally;
use altered::world::{AUDIENCE, CONTEXT, HANDLE_TYPE, MAX_AGE, NOW_MS, SESSION, SUBJECT, World};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let prints = given.first().is_some_and(|first| first == "print");
    let mut numbers = given
        .iter()
        .skip(usize::from(prints))
        .map(|text| text.parse::<u64>());
    let mut number = |default| numbers.next().unwrap_or(Ok(default));
    let (count, seed, seconds) = (number(100_000)?, number(1)?, number(u64::MAX)?);
    if prints {
        print(count, seed)
    } else {
        run(count, seed, seconds)
    }
}

fn run(count: u64, seed: u64, seconds: u64) -> Result<(), Box<dyn std::error::Error>> {
    const REPORT: u64 = 10_000_000;
    let (world, shares, begin) = (World::new()?, Shares::new(), Instant::now());
    let (mut tally, mut next) = (Tally::default(), REPORT);
    let rate = |tally: &Tally| {
        let seconds = begin.elapsed().as_secs_f64();
        format!(
            "{} in {seconds:.0} s, {:.0} a second",
            tally.altered,
            tally.altered as f64 / seconds
        )
    };
    for number in 0.. {
        if tally.altered >= count || number % 1024 == 0 && begin.elapsed().as_secs() >= seconds {
            break;
        }
        tally.block(&world, &shares, seed, number)?;
        if tally.altered >= next {
            next += REPORT;
            eprintln!("{}", rate(&tally));
        }
    }
    println!("{tally}\nseed {seed}: {}", rate(&tally));
    Ok(())
}

fn print(count: u64, seed: u64) -> Result<(), Box<dyn std::error::Error>> {
    let (world, shares) = (World::new()?, Shares::new());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let settings = serde_json::json!({
        "keys": world.ring, "audience": AUDIENCE, "subject": SUBJECT, "nowMs": NOW_MS, "maxAge": MAX_AGE,
        "sessionId": SESSION, "context": CONTEXT, "handleType": HANDLE_TYPE,
    });
    writeln!(out, "{settings}")?;
    let (mut printed, mut number) = (0, 0);
    while printed < count {
        block(&world, &shares, seed, number, |case| {
            let altered = case.change.is_some();
            printed += u64::from(altered);
            let expected = case
                .expected
                .map_or_else(str::to_owned, |payload| BASE64_STANDARD.encode(payload));
            let line = serde_json::json!([case.opener.name(), altered, expected, case.text]);
            writeln!(out, "{line}").map_err(|error| error.to_string())
        })?;
        number += 1;
    }
    Ok(())
}
