//! Every history within small bounds (`make whole` has larger ones).
#![allow(missing_docs)]

use std::collections::BTreeSet;
use std::time::Duration;

use ledger_model::{Explored, Scenario, scenarios};

fn explored(scenarios: Vec<Scenario>) -> Vec<Explored> {
    let explore = |scenario: Scenario| {
        let found = scenario.explore(Duration::from_secs(86_400));
        assert!(scenario.is_as_expected(&found), "{scenario:?}\n{found:#?}");
        found
    };
    scenarios.into_iter().map(explore).collect()
}

#[test]
fn the_promises_hold() {
    let found = explored(scenarios::all(false));
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
