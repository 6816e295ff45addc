//! The model as `stateright` explores it.

use std::collections::BTreeMap;

use stateright::{Model, Property};

use crate::observer::APART;
use crate::{Action, Answer, Kind, Past, Process, Promise, Scenario, Store, World, ask};

/// When it begins, in Unix seconds.
const BEGIN: u64 = 1_000_000;

/// Properties: this promise never breaks.
macro_rules! never {
    ($($promise:ident)*) => {
        [$(Property::always(stringify!($promise), |_, world: &World| {
            world.past.broken != Some(Promise::$promise)
        })),*]
    };
}

/// Properties: this verdict is given sometimes.
macro_rules! seen {
    ($($verdict:literal)*) => {
        [$(Property::sometimes($verdict, |_, world: &World| world.past.verdict == $verdict)),*]
    };
}

impl Model for Scenario {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let world = |clocks: &[i64; 4]| {
            let process = |run: &str| Process {
                run: run.into(),
                promotion: run.into(),
                evicted: 0,
            };
            let store = |run| Store {
                records: BTreeMap::new(),
                process: process(run),
            };
            let mut world = World {
                time: BEGIN,
                servers: [store("a"), store("b")],
                master: 0,
                clocks: *clocks,
                settings: 0,
                opened: true,
                tokens: Vec::new(),
                handlers: Vec::new(),
                asked: None,
                late: Vec::new(),
                attempts: 0,
                drawn: 0,
                left: self.bounds,
                past: Past {
                    upset: BEGIN,
                    ..Past::default()
                },
            };
            self.run(&mut world, &ask::open(0));
            // `sealwax ledger begin` waits for so long.
            world.time += 2 * APART + 1;
            world.servers[1].records = world.servers[0].records.clone();
            world
        };
        self.clocks.iter().map(world).collect()
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if world.past.broken.is_some() {
            return;
        }
        let left = &world.left;
        let answers = if left.lost > 0 {
            &[Answer::Comes, Answer::Lost, Answer::Late][..]
        } else {
            &[Answer::Comes]
        };
        let settings = &self.settings[world.settings];
        // The clock of the second replica is another one, or there is no point in it.
        let replicas = if world.clocks[2] == world.clocks[3] {
            1
        } else {
            2
        };
        for replica in 0..replicas {
            let now = world.now(2 + replica);
            if left.seals > 0 {
                actions.extend(
                    self.kinds
                        .iter()
                        .map(|&kind| Action::Seal { kind, replica }),
                );
            }
            for (token, one) in (0..).zip(&world.tokens) {
                if !one.given || !world.sound(one, now, settings) {
                    continue;
                }
                let others = (0..).zip(&world.tokens).filter(|(_, other)| {
                    self.pairs
                        && one.kind == Kind::Request
                        && other.kind == Kind::State
                        && other.given
                });
                let with: Vec<_> = [None]
                    .into_iter()
                    .chain(others.map(|(id, _)| Some(id)))
                    .collect();
                for &answer in answers {
                    if left.requests > 0 {
                        let present = |&with: &Option<u8>| Action::Present {
                            token,
                            with,
                            replica,
                            answer,
                        };
                        actions.extend(with.iter().map(present));
                    }
                    if left.ends > 0 && one.kind != Kind::Request {
                        actions.push(Action::End {
                            token,
                            replica,
                            answer,
                        });
                    }
                }
            }
        }
        for &answer in answers {
            if left.forced > 0 {
                let tokens = (0..)
                    .zip(&world.tokens)
                    .filter(|(_, one)| one.generation == 0);
                actions.extend(tokens.map(|(token, _)| Action::Force { token, answer }));
            }
            if left.writes > 0 {
                actions.extend(
                    (0..world.handlers.len()).map(|handler| Action::Write { handler, answer }),
                );
            }
            if left.revocations > 0 {
                actions.push(Action::Revoke { answer });
            }
            if world.asked.is_some() {
                actions.push(Action::Retry { answer });
            }
        }
        actions.extend((0..world.late.len()).map(|late| Action::Arrive { late }));
        let mut may = |left: u8, action: Action| {
            if left > 0 {
                actions.push(action);
            }
        };
        self.ticks
            .iter()
            .for_each(|&seconds| may(left.ticks, Action::Tick(seconds)));
        self.steps
            .iter()
            .for_each(|&seconds| may(left.steps, Action::Step(seconds)));
        may(left.copies, Action::Copy);
        may(left.fail_overs, Action::FailOver);
        may(left.splits, Action::Split);
        may(left.restarts, Action::Restart { all: true });
        may(left.restores, Action::Restart { all: false });
        may(left.losses, Action::Lose);
        may(left.resets, Action::Reset);
        for key in 0..world.servers[world.master].records.len() {
            may(left.evictions, Action::Evict { key });
        }
        for settings in 0..self.settings.len() {
            if settings != world.settings {
                may(left.settings, Action::Set { settings });
            }
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        next.past.verdict = "";
        self.step(&mut next, action)?;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let never = never![SingleUse Ended Latest OneWriter Revoked Over Whole Again GoesOn];
        // Where a verdict never occurs, a promise may hold for want of a case.
        let seen = seen!["used" "ended" "stale" "revoked" "unknown" "expired" "ahead" "lost"];
        never.into_iter().chain(seen).collect()
    }
}
