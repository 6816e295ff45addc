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

fn scenario(name: &'static str, kinds: &[crate::Kind], bounds: Bounds) -> Scenario {
    Scenario {
        name,
        kinds: kinds.to_vec(),
        clocks: vec![EVEN],
        ticks: vec![1, 6],
        steps: Vec::new(),
        settings: vec![Settings::USUAL],
        pairs: false,
        sweeps: true,
        bounds,
        fault: None,
        breaks: None,
    }
}

/// What holds: each scenario is explored to its end. Of two sizes.
#[must_use]
pub fn all(large: bool) -> Vec<Scenario> {
    let more = u8::from(large);
    let none = Bounds::default();
    let clocks: Vec<_> = [EVEN]
        .into_iter()
        .chain(APART)
        .take(if large { 5 } else { 2 })
        .collect();
    let long = Settings {
        max_age: 4 * CEILING.as_secs(),
        ttl: Some(1000),
        ..Settings::USUAL
    };
    let settings = vec![
        Settings {
            max_age: 60,
            ..long
        },
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
    let used = Bounds {
        seals: 1,
        requests: 2 + more,
        lost: 1,
        ticks: 1 + more,
        copies: 1,
        ..none
    };
    let state = Bounds {
        seals: 1,
        requests: 2,
        writes: 2,
        ticks: more,
        ..none
    };
    let ended = Bounds {
        seals: 1,
        requests: 2,
        ends: 1,
        ticks: 1 + more,
        ..none
    };
    let kinds = [State, Transport, Handle];
    vec![
        Scenario {
            clocks: clocks.clone(),
            ..scenario(
                "used, and fail-overs",
                &[Request],
                Bounds {
                    fail_overs: 2,
                    restarts: more,
                    ..used
                },
            )
        },
        Scenario {
            clocks: clocks.clone(),
            ..scenario(
                "used, and restarts",
                &[Request],
                Bounds {
                    restarts: more,
                    restores: 1,
                    losses: 1,
                    ..used
                },
            )
        },
        Scenario {
            clocks: clocks.clone(),
            ..scenario(
                "renewed",
                &[Handle],
                Bounds {
                    requests: 2 + more,
                    writes: 2,
                    fail_overs: 1,
                    lost: more,
                    ..used
                },
            )
        },
        scenario(
            "written",
            &[State],
            Bounds {
                lost: 1 + more,
                requests: 3,
                ends: more,
                ..state
            },
        ),
        scenario(
            "written and ended",
            &[State],
            Bounds {
                lost: 1 + more,
                requests: 3,
                ends: 1,
                ..state
            },
        ),
        Scenario {
            clocks: clocks.clone(),
            ..scenario(
                "written, and fail-overs",
                &[State],
                Bounds {
                    copies: 1,
                    fail_overs: 1 + more,
                    ends: 1,
                    writes: 1 + more,
                    ..state
                },
            )
        },
        Scenario {
            clocks: clocks.clone(),
            ticks: if large { vec![1, 6] } else { vec![6] },
            ..scenario(
                "ended, and losses",
                &kinds,
                Bounds {
                    losses: 1,
                    restarts: more,
                    copies: 1,
                    fail_overs: 1,
                    writes: 1,
                    lost: more,
                    ..ended
                },
            )
        },
        scenario(
            "ended, and evictions",
            &kinds,
            Bounds {
                evictions: 2 + more,
                writes: 1,
                ..ended
            },
        ),
        scenario(
            "used, and evictions",
            &[Request],
            Bounds {
                evictions: 2 + more,
                ..used
            },
        ),
        Scenario {
            clocks: if large { clocks } else { vec![EVEN, APART[2]] },
            ..scenario(
                "revoked",
                &[Request, State, Transport, Handle],
                Bounds {
                    revocations: 1,
                    writes: 1,
                    losses: 1,
                    evictions: 1,
                    lost: more,
                    ends: 0,
                    ..ended
                },
            )
        },
        scenario(
            "revoked, and evictions",
            &[State, Transport],
            Bounds {
                revocations: 1,
                writes: 1,
                evictions: 1 + more,
                ends: 0,
                requests: 3,
                ..ended
            },
        ),
        Scenario {
            clocks: BEHIND.to_vec(),
            steps: vec![200, 400],
            ..scenario(
                "revoked, and a clock that is behind",
                &[State, Transport],
                Bounds {
                    revocations: 1,
                    steps: 1,
                    writes: more,
                    ends: 0,
                    ..ended
                },
            )
        },
        Scenario {
            ticks: vec![1, 301, 601, CEILING.as_secs()],
            clocks: vec![EVEN, LATE],
            settings: settings.clone(),
            ..scenario(
                "ended, and settings",
                &[State, Transport],
                Bounds {
                    settings: 1 + more,
                    writes: more,
                    forced: more,
                    ticks: 2 + more,
                    requests: 1 + more,
                    ..ended
                },
            )
        },
        Scenario {
            ticks: vec![601, 901],
            settings: settings[1..].to_vec(),
            ..scenario(
                "written, and settings",
                &[State],
                Bounds {
                    settings: 1 + more,
                    ticks: 2,
                    requests: 3,
                    ..state
                },
            )
        },
        Scenario {
            ticks: vec![1, 350, CEILING.as_secs() + 200],
            clocks: vec![EVEN, LATE],
            settings: vec![
                Settings {
                    ttl: None,
                    ..Settings::USUAL
                },
                Settings::USUAL,
            ],
            ..scenario(
                "without an end",
                &kinds,
                Bounds {
                    settings: more,
                    writes: more,
                    ticks: 2 + more,
                    ..ended
                },
            )
        },
        Scenario {
            ticks: vec![1, 31, 62],
            settings: vec![Settings {
                idle: Some(60),
                ttl: None,
                ..Settings::USUAL
            }],
            ..scenario(
                "idle",
                &[Transport],
                Bounds {
                    requests: 3 + more,
                    ticks: 3,
                    losses: 1,
                    lost: more,
                    ..ended
                },
            )
        },
        Scenario {
            sweeps: false,
            steps: vec![-301, -200, 200, 400],
            settings: vec![Settings {
                ttl: Some(60),
                ..Settings::USUAL
            }],
            ..scenario(
                "clocks",
                &[Request, Transport],
                Bounds {
                    steps: 2,
                    restarts: more,
                    requests: 3,
                    ticks: 1,
                    ..ended
                },
            )
        },
        Scenario {
            steps: vec![-200, 200],
            settings: vec![Settings {
                ttl: Some(60),
                ..Settings::USUAL
            }],
            ..scenario(
                "clocks, and nobody asks",
                &kinds,
                Bounds {
                    steps: 2 + more,
                    writes: more,
                    ..ended
                },
            )
        },
        Scenario {
            pairs: true,
            ticks: vec![12],
            ..scenario(
                "two tokens",
                &[Request, State],
                Bounds {
                    seals: 2,
                    requests: 3,
                    ends: 1,
                    lost: more,
                    ..state
                },
            )
        },
        Scenario {
            settings: vec![
                Settings::USUAL,
                Settings {
                    label: 1,
                    ..Settings::USUAL
                },
            ],
            ticks: vec![1, 12],
            ..scenario(
                "another label",
                &[Request, Transport],
                Bounds {
                    settings: 1,
                    revocations: 1,
                    seals: 1 + more,
                    ..ended
                },
            )
        },
    ]
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
    let none = Bounds::default();
    let used = Bounds {
        seals: 1,
        requests: 2,
        ..none
    };
    let ended = Bounds {
        ends: 1,
        ticks: 1,
        ..used
    };
    let limit = |scenario: Scenario, breaks| Scenario {
        breaks: Some(breaks),
        ..scenario
    };
    let usual = Settings::USUAL;
    vec![
        limit(
            scenario(
                "two masters",
                &[Request],
                Bounds {
                    seals: 2,
                    requests: 3,
                    fail_overs: 1,
                    splits: 1,
                    ticks: 1,
                    ..none
                },
            ),
            Promise::SingleUse,
        ),
        limit(
            scenario(
                "evicted, and restarted",
                &[Transport],
                Bounds {
                    evictions: 1,
                    restarts: 1,
                    ..ended
                },
            ),
            Promise::Ended,
        ),
        limit(
            scenario(
                "evicted, and failed over",
                &[Transport],
                Bounds {
                    evictions: 1,
                    copies: 1,
                    fail_overs: 1,
                    ..ended
                },
            ),
            Promise::Ended,
        ),
        limit(
            scenario(
                "evicted, and reset",
                &[Transport],
                Bounds {
                    evictions: 1,
                    resets: 1,
                    ..ended
                },
            ),
            Promise::Ended,
        ),
        limit(
            Scenario {
                steps: vec![400, -400],
                settings: vec![Settings {
                    ttl: Some(60),
                    ..usual
                }],
                ..scenario(
                    "ahead, and nobody asks",
                    &[Transport],
                    Bounds { steps: 2, ..ended },
                )
            },
            Promise::Ended,
        ),
        limit(
            Scenario {
                settings: vec![usual, Settings { label: 1, ..usual }],
                ticks: vec![12],
                ..scenario(
                    "back to a former label",
                    &[Transport],
                    Bounds {
                        seals: 2,
                        settings: 2,
                        ticks: 2,
                        ..ended
                    },
                )
            },
            Promise::Ended,
        ),
        limit(
            Scenario {
                settings: vec![
                    usual,
                    Settings {
                        tolerance: 0,
                        ..usual
                    },
                ],
                clocks: vec![APART[0]],
                ticks: vec![6],
                ..scenario(
                    "a smaller tolerance",
                    &[Request],
                    Bounds {
                        requests: 3,
                        fail_overs: 1,
                        settings: 1,
                        ticks: 1,
                        ..used
                    },
                )
            },
            Promise::SingleUse,
        ),
    ]
}
