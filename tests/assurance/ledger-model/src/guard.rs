//! What a guard asks, and what it makes of the reply.

use sealwax_mcp::ledger::{Command, Script};

use crate::ask::{self, Subject};
use crate::world::{About, Sent, Token, give, name};
use crate::{Answer, Fault, Kind, Promise, Scenario, World};

/// Every verdict of LEDGER.md.
const VERDICTS: &str = "ok used ended stale revoked unknown expired ahead lost broken unsupported";

impl Scenario {
    pub(crate) fn is(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    pub(crate) fn attempt(&self, attempt: u8) -> String {
        let one = self.is(Fault::OneAttempt);
        format!("a{}", if one { 0 } else { attempt })
    }

    pub(crate) fn until(&self, token: &Token) -> u64 {
        if self.is(Fault::NoExpiry) {
            return u64::from(u32::MAX);
        }
        match token.end {
            Some(end) if self.is(Fault::NoMargin) => end,
            end => ask::until(end, token.started),
        }
    }

    pub(crate) fn subject(&self, world: &World, id: u8, renews: bool) -> Subject {
        let token = &world.tokens[usize::from(id)];
        let settings = &self.settings[world.settings];
        let (mode, details) = match (token.kind, settings.idle) {
            (Kind::Request, _) => ("once", <[String; 3]>::default()),
            (Kind::State, _) => {
                let text = match token.generation {
                    0 => String::new(),
                    _ => format!("S{id}"),
                };
                let generation = match self.is(Fault::NoHead) {
                    true => 99,
                    false => token.generation,
                };
                ("head", [id.to_string(), generation.to_string(), text])
            }
            (Kind::Transport, Some(idle)) => {
                ("idle", [idle.to_string(), String::new(), String::new()])
            }
            (Kind::Transport, None) => ("live", Default::default()),
            (Kind::Handle, _) if renews => ("once", Default::default()),
            (Kind::Handle, _) => ("unused", Default::default()),
        };
        let started = match self.is(Fault::RevokedByIssue) {
            true => token.issued,
            false => token.started,
        };
        Subject {
            kind: token.kind.letter(),
            id: name(token, id),
            mode,
            issued: token.issued,
            started,
            until: self.until(token),
            details,
        }
    }

    pub(crate) fn admit(&self, world: &World, attempt: u8, subjects: Vec<Subject>) -> Command {
        let settings = &self.settings[world.settings];
        let tolerance = match self.is(Fault::NoTolerance) {
            true => 0,
            false => settings.tolerance,
        };
        ask::admit(settings.label, tolerance, &self.attempt(attempt), subjects)
    }

    /// Runs a command at the store.
    pub(crate) fn run(&self, world: &mut World, command: &Command) -> Vec<String> {
        let now = world.now(world.master);
        let master = world.master;
        let reply = world.servers[master].run(command, now, self.fault);
        if world.past.unseen && matches!(command.script, Script::Open | Script::Admit) {
            world.past.upset = world.time;
            world.past.unseen = false;
        }
        reply
    }

    /// Sends a command, which may be lost.
    pub(crate) fn send(
        &self,
        world: &mut World,
        command: Command,
        about: About,
        answer: Answer,
        again: bool,
    ) -> Option<()> {
        if answer != Answer::Comes {
            world.left.lost = world.left.lost.checked_sub(1)?;
            let about = match &about {
                About::Present {
                    tokens, attempt, ..
                } => tokens.iter().map(|&token| (token, *attempt)).collect(),
                About::Renew { seen, attempt, .. } => vec![(*seen, *attempt)],
                About::Commit { seen, .. } => vec![(*seen, 0)],
                About::End { .. } | About::Revoke => (0..)
                    .zip(&world.tokens)
                    .map(|(token, _)| (token, 0))
                    .collect(),
            };
            world.past.unanswered.extend(about);
        }
        let was_asked = world.asked.take().is_some() && again;
        match answer {
            Answer::Comes => {
                let reply = self.run(world, &command);
                self.conclude(world, about, &reply, was_asked);
            }
            Answer::Lost | Answer::Late => {
                match answer {
                    Answer::Lost => _ = self.run(world, &command),
                    _ => world.late.push(Sent(command.clone())),
                }
                if self.is(Fault::FailsOpen) {
                    self.conclude(world, about, &["ok".into()], was_asked);
                } else if !was_asked {
                    world.asked = Some((Sent(command), about));
                }
            }
        }
        Some(())
    }

    /// What a guard makes of a reply, and what an observer says to it.
    pub(crate) fn conclude(&self, world: &mut World, about: About, reply: &[String], again: bool) {
        let verdict = VERDICTS.split(' ').find(|verdict| reply[0] == *verdict);
        world.past.verdict = verdict.unwrap_or("other");
        let ok = reply[0] == "ok";
        match about {
            About::Present {
                tokens,
                replica,
                attempt,
            } => {
                if ok {
                    for &token in &tokens {
                        self.accepted(world, token, attempt);
                        let kind = world.tokens[usize::from(token)].kind;
                        if matches!(kind, Kind::State | Kind::Handle) && world.left.writes > 0 {
                            world.handlers.push((token, replica));
                        }
                    }
                } else {
                    let tried = again.then_some(attempt);
                    self.refused(world, &tokens, replica, reply, tried);
                }
            }
            About::Commit { seen, token } if ok => {
                let Token {
                    chain, generation, ..
                } = world.tokens[usize::from(token)];
                let ended = ask::ended('s', &chain.to_string());
                if world.past.ended.contains_key(&ended) {
                    world.past.breaks(Promise::Ended);
                }
                let written = world.past.written.insert(seen, token);
                if written.is_some_and(|other| other != token) {
                    world.past.breaks(Promise::OneWriter);
                }
                world.past.latest.insert(chain, (generation, token));
                world.tokens[usize::from(token)].given = true;
            }
            // Else the new state does not leave. After a try without an answer a `stale` is no verdict.
            About::Commit { .. } => {
                if let ("stale", false) = (world.past.verdict, again) {
                    give(world, &reply[1]);
                }
            }
            About::Renew {
                seen,
                replica,
                attempt,
            } if ok => {
                self.accepted(world, seen, attempt);
                if *world.past.used.entry(seen).or_insert(attempt) != attempt {
                    world.past.breaks(Promise::SingleUse);
                }
                let used = format!("u:k:{seen}");
                let key = ask::key(self.settings[world.settings].label, &used);
                world.past.ended.insert(used, key);
                let now = world.now(2 + replica);
                let before = world.tokens[usize::from(seen)].clone();
                let end = self.settings[world.settings].ttl.map(|ttl| now + ttl);
                world.tokens.push(Token {
                    issued: now,
                    sealed: world.time,
                    end,
                    generation: before.generation + 1,
                    ..before
                });
            }
            About::End { key } if ok => {
                let whole = ask::key(self.settings[world.settings].label, &key);
                world.past.ended.insert(key, whole);
            }
            About::Revoke if ok => {
                let key = ask::key(self.settings[world.settings].label, "p:alice");
                world.past.revoked = Some((world.time, key));
            }
            About::Renew { .. } | About::End { .. } | About::Revoke => {}
        }
    }

    /// What ends a token's session, or the token.
    pub(crate) fn ends(&self, world: &World, id: u8, mode: &'static str) -> Subject {
        let token = &world.tokens[usize::from(id)];
        let settings = self.settings[world.settings];
        // A session's id is as old as the session, and has no end of its own.
        let (issued, end) = match token.kind {
            Kind::State => (token.started, None),
            _ => (token.issued, token.end),
        };
        let until = match end {
            Some(end) if self.is(Fault::NoMargin) => end,
            None if self.is(Fault::EndBySettings) => token.started + settings.max_age + ask::MARGIN,
            end => ask::until(end, token.started),
        };
        Subject {
            kind: token.kind.letter(),
            id: name(token, id),
            mode,
            issued,
            started: token.started,
            until,
            details: Default::default(),
        }
    }

    pub(crate) fn end(&self, world: &mut World, subject: Subject, answer: Answer) -> Option<()> {
        world.attempts += 1;
        let key = ask::ended(subject.kind, &subject.id);
        let command = self.admit(world, world.attempts, vec![subject]);
        self.send(world, command, About::End { key }, answer, false)
    }
}
