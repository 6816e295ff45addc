//! The scenarios: what is explored, what must break with a fault, and what LEDGER.md says cannot be had.

use sealwax_mcp::ledger::CEILING;

use crate::Fault::{self, *};
use crate::world::Kind::{Handle, Request, State, Transport};
use crate::{Bounds, Promise, Scenario, Settings};

const EVEN: [i64; 4] = [0; 4];
/// All differ by the clock tolerance at most, and each is ahead of some other one.
const APART: [[i64; 4]; 4] = [[5, 0, 5, 0], [0, 5, 5, 0], [0, 0, 5, 0], [5, 5, 0, 5]];
/// The store's clock is behind, by less and by more than a revocation bears.
const BEHIND: [[i64; 4]; 2] = [[-200, 0, 0, 0], [-400, 0, 0, 0]];
/// The second replica was stopped for a day.
const LATE: [i64; 4] = [0, 0, 0, -86_400];

const USUAL: Settings = Settings::USUAL;
const SHORT: Settings = Settings {
    ttl: Some(60),
    ..USUAL
};
const ENDLESS: Settings = Settings { ttl: None, ..USUAL };
const RELABELLED: Settings = Settings { label: 1, ..USUAL };

fn scenario(name: &'static str, kinds: &[crate::Kind], bounds: Bounds) -> Scenario {
    Scenario {
        name,
        kinds: kinds.to_vec(),
        clocks: vec![EVEN],
        ticks: vec![1, 6],
        steps: Vec::new(),
        settings: vec![USUAL],
        pairs: false,
        sweeps: true,
        bounds,
        fault: None,
        breaks: None,
    }
}

/// Each by its name: what is sealed, how often each thing may happen, and what is not as usual.
macro_rules! scenarios {
    ($($name:literal: [$($kind:ident)*] $($what:ident $often:expr),*; $($other:ident: $is:expr),*;)*) => {
        vec![$(Scenario {
            $($other: $is,)*
            ..scenario($name, &[$($kind),*], Bounds { $($what: $often,)* ..Bounds::default() })
        }),*]
    };
}

/// What holds: each scenario is explored to its end. Of two sizes.
#[must_use]
pub fn all(large: bool) -> Vec<Scenario> {
    let more = u8::from(large);
    let clocks: Vec<_> = [EVEN]
        .into_iter()
        .chain(APART)
        .take(if large { 5 } else { 2 })
        .collect();
    let long = Settings {
        max_age: 4 * CEILING.as_secs(),
        ttl: Some(1000),
        ..USUAL
    };
    let changes = [
        long,
        Settings {
            ttl: Some(60),
            ..long
        },
        Settings {
            tolerance: 30,
            ..long
        },
    ];
    let shortest = Settings {
        max_age: 60,
        ..long
    };
    scenarios! {
        "used, and fail-overs": [Request]
            seals 1, requests 2 + more, lost 1, ticks 1 + more, copies 1, fail_overs 2, restarts more; clocks: clocks.clone();
        "used, and restarts": [Request]
            seals 1, requests 2 + more, lost 1, ticks 1 + more, copies 1, restarts more, restores 1, losses 1;
            clocks: clocks.clone();
        "renewed": [Handle]
            seals 1, requests 2 + more, writes 2, lost more, ticks 1 + more, copies 1, fail_overs 1; clocks: clocks.clone();
        "written": [State] seals 1, requests 3, writes 2, ends more, lost 1 + more, ticks more;;
        "written and ended": [State] seals 1, requests 3, writes 2, ends 1, lost 1 + more, ticks more;;
        "written, and fail-overs": [State]
            seals 1, requests 2, writes 1 + more, ends 1, ticks more, copies 1, fail_overs 1 + more; clocks: clocks.clone();
        "ended, and losses": [State Transport Handle]
            seals 1, requests 2, writes 1, ends 1, lost more, ticks 1 + more, copies 1, fail_overs 1, restarts more, losses 1;
            clocks: clocks.clone(), ticks: if large { vec![1, 6] } else { vec![6] };
        "ended, and evictions": [State Transport Handle]
            seals 1, requests 2, writes 1, ends 1, ticks 1 + more, evictions 2 + more;;
        "used, and evictions": [Request]
            seals 1, requests 2 + more, lost 1, ticks 1 + more, copies 1, evictions 2 + more;;
        "revoked": [Request State Transport Handle]
            seals 1, requests 2, writes 1, revocations 1, lost more, ticks 1 + more, losses 1, evictions 1;
            clocks: if large { clocks } else { vec![EVEN, APART[2]] };
        "revoked, and evictions": [State Transport]
            seals 1, requests 3, writes 1, revocations 1, ticks 1 + more, evictions 1 + more;;
        "revoked, and a clock that is behind": [State Transport]
            seals 1, requests 2, writes more, revocations 1, ticks 1 + more, steps 1; clocks: BEHIND.to_vec(), steps: vec![200, 400];
        "ended, and settings": [State Transport]
            seals 1, requests 1 + more, writes more, ends 1, forced more, ticks 2 + more, settings 1 + more;
            ticks: vec![1, 301, 601, CEILING.as_secs()], clocks: vec![EVEN, LATE], settings: [&[shortest], &changes[..]].concat();
        "written, and settings": [State]
            seals 1, requests 3, writes 2, ticks 2, settings 1 + more; ticks: vec![601, 901], settings: changes.to_vec();
        "without an end": [State Transport Handle]
            seals 1, requests 2, writes more, ends 1, ticks 2 + more, settings more;
            ticks: vec![1, 350, CEILING.as_secs() + 200], clocks: vec![EVEN, LATE], settings: vec![ENDLESS, USUAL];
        "idle": [Transport]
            seals 1, requests 3 + more, ends 1, lost more, ticks 3, losses 1;
            ticks: vec![1, 31, 62], settings: vec![Settings { idle: Some(60), ..ENDLESS }];
        "clocks": [Request Transport]
            seals 1, requests 3, ends 1, ticks 1, restarts more, steps 2;
            sweeps: false, steps: vec![-301, -200, 200, 400], settings: vec![SHORT];
        "clocks, and nobody asks": [State Transport Handle]
            seals 1, requests 2, writes more, ends 1, ticks 1 + more, steps 2 + more;
            steps: vec![-200, 200], settings: vec![SHORT];
        "two tokens": [Request State]
            seals 2, requests 3, writes 2, ends 1, lost more, ticks more; pairs: true, ticks: vec![12];
        "another label": [Request Transport]
            seals 1 + more, requests 2, ends 1, revocations 1, ticks 1 + more, settings 1;
            settings: vec![USUAL, RELABELLED], ticks: vec![1, 12];
    }
}

fn named(name: &str) -> Scenario {
    let found = all(false)
        .into_iter()
        .find(|scenario| scenario.name == name);
    found.unwrap_or_else(|| panic!("expected a scenario, found {name}"))
}

/// Deliberate faults: with each, this promise breaks in this scenario.
#[must_use]
pub fn faults() -> Vec<Scenario> {
    let each: [(&str, Fault, Promise); 22] = [
        ("used, and fail-overs", NoProcess, Promise::SingleUse),
        ("used, and fail-overs", NoTolerance, Promise::SingleUse),
        ("used, and fail-overs", OneAttempt, Promise::SingleUse),
        ("used, and fail-overs", RetryIsAnother, Promise::Again),
        ("used, and fail-overs", FailsOpen, Promise::SingleUse),
        ("ended, and evictions", NoEvictions, Promise::Ended),
        ("ended, and evictions", FenceAlone, Promise::Ended),
        ("ended, and evictions", NoBeginning, Promise::Ended),
        ("revoked", RevokedByIssue, Promise::Revoked),
        ("revoked", NoTolerance, Promise::Revoked),
        (
            "revoked, and a clock that is behind",
            RevokedByStore,
            Promise::Revoked,
        ),
        ("revoked, and evictions", HeadIsKnown, Promise::Revoked),
        ("revoked, and evictions", KnownByIssue, Promise::Revoked),
        ("clocks", NoClock, Promise::Ended),
        ("clocks", LastGoesBack, Promise::Ended),
        ("clocks, and nobody asks", NoMargin, Promise::Ended),
        ("ended, and settings", EndBySettings, Promise::Ended),
        ("ended, and settings", NoExpiry, Promise::Over),
        ("written", CommitBlindly, Promise::OneWriter),
        ("written", NoHead, Promise::Latest),
        ("written", NoCommit, Promise::Latest),
        ("two tokens", OneByOne, Promise::Whole),
    ];
    each.iter()
        .map(|&(name, fault, breaks)| named(name).with(fault, breaks))
        .collect()
}

/// What LEDGER.md says cannot be had: here the promise breaks, without a fault.
#[must_use]
pub fn limits() -> Vec<Scenario> {
    scenarios! {
        "two masters": [Request]
            seals 2, requests 3, fail_overs 1, splits 1, ticks 1; breaks: Some(Promise::SingleUse);
        "evicted, and restarted": [Transport]
            seals 1, requests 2, ends 1, ticks 1, evictions 1, restarts 1; breaks: Some(Promise::Ended);
        "evicted, and failed over": [Transport]
            seals 1, requests 2, ends 1, ticks 1, evictions 1, copies 1, fail_overs 1; breaks: Some(Promise::Ended);
        "evicted, and reset": [Transport]
            seals 1, requests 2, ends 1, ticks 1, evictions 1, resets 1; breaks: Some(Promise::Ended);
        "ahead, and nobody asks": [Transport]
            seals 1, requests 2, ends 1, ticks 1, steps 2;
            steps: vec![400, -400], settings: vec![SHORT], breaks: Some(Promise::Ended);
        "back to a former label": [Transport]
            seals 2, requests 2, ends 1, ticks 2, settings 2;
            settings: vec![USUAL, RELABELLED], ticks: vec![12], breaks: Some(Promise::Ended);
        "a smaller tolerance": [Request]
            seals 1, requests 3, fail_overs 1, settings 1, ticks 1;
            settings: vec![USUAL, Settings { tolerance: 0, ..USUAL }], clocks: vec![APART[0]], ticks: vec![6],
            breaks: Some(Promise::SingleUse);
    }
}
