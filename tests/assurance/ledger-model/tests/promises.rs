//! Every history within small bounds; of larger ones, by so many seconds for each scenario as `LARGE` says (`make whole`).
#![allow(missing_docs, clippy::expect_used)]

use std::collections::BTreeSet;
use std::time::Duration;

use ledger_model::{Explored, Scenario, scenarios};

fn large() -> Option<u64> {
    let seconds = std::env::var("LARGE").ok()?;
    Some(seconds.parse().expect("seconds"))
}

fn explored(scenarios: Vec<Scenario>) -> Vec<Explored> {
    let limit = Duration::from_secs(large().unwrap_or(86_400));
    let explore = |scenario: Scenario| {
        let found = scenario.explore(limit);
        let (name, rest) = (
            scenario.name,
            if found.whole { "" } else { ", NOT TO THE END" },
        );
        println!(
            "{name}: {} states, depth {}{rest}",
            found.states, found.depth
        );
        assert!(scenario.is_as_expected(&found), "{scenario:?}\n{found:#?}");
        found
    };
    let found: Vec<_> = scenarios.into_iter().map(explore).collect();
    let states: usize = found.iter().map(|one| one.states).sum();
    let cut = found.iter().filter(|one| !one.whole).count();
    println!("figure: {} scenarios", found.len());
    println!("figure: {states} states");
    println!("figure: {cut} cut off");
    found
}

#[test]
fn the_promises_hold() {
    let found = explored(scenarios::all(large().is_some()));
    let verdicts: BTreeSet<_> = found.iter().flat_map(|one| one.verdicts.clone()).collect();
    // Where a verdict never occurs, a promise may hold for want of a case.
    assert_eq!(verdicts.len(), 8, "{verdicts:?}");
}

#[test]
fn with_a_fault_a_promise_breaks() {
    explored(scenarios::faults());
}

#[test]
fn what_cannot_be_had_cannot() {
    explored(scenarios::limits());
}
