//! Whether what was answered keeps the promises. The observer has a true clock, and loses nothing.

use std::collections::BTreeMap;

use sealwax_mcp::ledger::CEILING;

use crate::world::{Token, give, name};
use crate::{Kind, Promise, Scenario, World, ask};

/// The clocks of a scenario without steps differ by so much at most.
pub(crate) const APART: u64 = 5;

impl World {
    fn has_ended(&self, token: &Token, id: u8) -> bool {
        let key = ask::ended(token.kind.letter(), &name(token, id));
        self.past.ended.contains_key(&key)
    }

    /// Whether it began before a revocation, or so much later.
    fn is_revoked(&self, token: &Token, later: u64) -> bool {
        let revoked = self.past.revoked.as_ref();
        revoked.is_some_and(|(at, _)| token.born <= at + later)
    }

    /// After the store lost its last writes: what it lost, it may not know.
    pub(crate) fn excuse(&mut self, label: u8) {
        let records = &self.servers[self.master].records;
        let evicted = &self.past.evicted;
        let known = |key: &String| records.contains_key(key) || evicted.contains(key);
        self.past.ended.retain(|_, key| known(key));
        if self
            .past
            .revoked
            .as_ref()
            .is_some_and(|(_, key)| !records.contains_key(key))
        {
            self.past.revoked = None;
        }
        let mut latest = BTreeMap::new();
        for (&chain, &(generation, token)) in &self.past.latest {
            let head = records.get(&ask::key(label, &format!("h:s:{chain}")));
            let kept = head.and_then(|(value, _)| {
                let mut parts = value.split(' ');
                Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
            });
            match kept {
                Some((_, kept)) if kept >= generation => {
                    _ = latest.insert(chain, (generation, token));
                }
                Some((token, kept)) => {
                    latest.insert(chain, (kept, token));
                }
                None => {}
            }
        }
        if latest != self.past.latest {
            self.past.written.clear();
        }
        self.past.latest = latest;
    }
}

impl Scenario {
    pub(crate) fn accepted(&self, world: &mut World, id: u8, attempt: u8) {
        let settings = self.settings[world.settings];
        let apart = world.clocks[world.master].unsigned_abs().max(APART);
        let token = world.tokens[usize::from(id)].clone();
        let first = match token.kind {
            Kind::Request => *world.past.used.entry(id).or_insert(attempt) == attempt,
            _ => !world.past.ended.contains_key(&format!("u:k:{id}")),
        };
        if !first {
            world.past.breaks(Promise::SingleUse);
        }
        if world.has_ended(&token, id) {
            world.past.breaks(Promise::Ended);
        }
        if world.is_revoked(&token, 0) {
            world.past.breaks(Promise::Revoked);
        }
        let over = token.end.map_or(u64::MAX, |end| end + ask::MARGIN);
        if world.time
            >= over.min(token.born + CEILING.as_secs() + ask::MARGIN)
                + 2 * apart.max(settings.tolerance)
        {
            world.past.breaks(Promise::Over);
        }
        if token.kind == Kind::State {
            let latest = world
                .past
                .latest
                .entry(token.chain)
                .or_insert((token.generation, id));
            if latest.1 != id && latest.0 >= token.generation {
                world.past.breaks(Promise::Latest);
            }
            *world.past.latest.entry(token.chain).or_default() = (token.generation, id);
        }
    }

    pub(crate) fn refused(
        &self,
        world: &mut World,
        tokens: &[u8],
        replica: usize,
        reply: &[String],
        tried: Option<u8>,
    ) {
        if world.past.verdict == "stale" {
            give(world, &reply[2]);
        }
        let by_another = |id: &u8| {
            let mut others = world.past.unanswered.iter();
            world.past.used.contains_key(id)
                || others.any(|(token, by)| token == id && Some(*by) != tried)
        };
        if tried.is_some() && world.past.verdict == "used" && !tokens.iter().any(by_another) {
            world.past.breaks(Promise::Again);
        }
        // One that asks for what nobody used or ended, and nothing happened for a while.
        let honest = |id: u8| {
            let token = &world.tokens[usize::from(id)];
            let near = |clock: usize| world.clocks[clock].unsigned_abs() <= APART;
            let tolerances = self.settings.iter().map(|settings| settings.tolerance);
            let tolerance = tolerances.max().unwrap_or_default();
            let quiet = token.born > world.past.upset + 2 * tolerance && !world.past.unseen;
            let quiet = quiet && token.issued.abs_diff(token.sealed) <= APART;
            let gone = world.has_ended(token, id)
                || world.is_revoked(token, 3 * tolerance)
                || world.past.used.contains_key(&id)
                || world.past.unanswered.iter().any(|(token, _)| *token == id);
            let over = world.time + APART >= token.started + CEILING.as_secs();
            let latest = world.past.latest.get(&token.chain);
            let latest = latest.is_none_or(|latest| latest.1 == id);
            let answered = world.past.unanswered.is_empty() || token.kind != Kind::State;
            quiet && !gone && !over && latest && answered && near(world.master) && near(2 + replica)
        };
        let idle = self.settings.iter().any(|settings| settings.idle.is_some());
        if tokens.iter().all(|&id| honest(id)) && !idle && world.left.forced == self.bounds.forced
            // A revocation that got no answer may be done, now or later.
            && (world.past.revoked.is_some() || world.left.revocations == self.bounds.revocations)
        {
            let promise = if tokens.len() == 1 && self.pairs {
                Promise::Whole
            } else {
                Promise::GoesOn
            };
            world.past.breaks(promise);
        }
    }
}
