//! The steps from one state to the next.

use crate::world::{About, Kind, Sent, Token};
use crate::{Action, Fault, Process, Scenario, World, ask};

impl Scenario {
    pub(crate) fn step(&self, world: &mut World, action: Action) -> Option<()> {
        let settings = self.settings[world.settings];
        let master = world.master;
        match action {
            Action::Seal { kind, replica } => {
                world.left.seals -= 1;
                if !world.opened {
                    world.opened = true;
                    self.run(world, &ask::open(settings.label));
                }
                let now = world.now(2 + replica);
                let chain = u8::try_from(world.tokens.len()).ok()?;
                world.tokens.push(Token {
                    kind,
                    chain,
                    generation: 0,
                    issued: now,
                    started: now,
                    end: settings.ttl.map(|ttl| now + ttl),
                    born: world.time,
                    sealed: world.time,
                    given: true,
                });
            }
            Action::Present {
                token,
                with,
                replica,
                answer,
            } => {
                world.left.requests -= 1;
                world.attempts += 1;
                let attempt = world.attempts;
                let mut tokens: Vec<u8> = [token].into_iter().chain(with).collect();
                if self.is(Fault::OneByOne) && tokens.len() == 2 {
                    let first = self.subject(world, tokens[0], false);
                    let command = self.admit(world, attempt, vec![first]);
                    if self.run(world, &command)[0] != "ok" {
                        return None;
                    }
                    tokens.remove(0);
                }
                let subjects = tokens
                    .iter()
                    .map(|&id| self.subject(world, id, false))
                    .collect();
                let command = self.admit(world, attempt, subjects);
                let about = About::Present {
                    tokens,
                    replica,
                    attempt,
                };
                self.send(world, command, about, answer, false)?;
            }
            Action::Write { handler, answer } => {
                world.left.writes -= 1;
                let (seen, replica) = world.handlers.remove(handler);
                let before = world.tokens[usize::from(seen)].clone();
                if before.kind == Kind::Handle {
                    world.attempts += 1;
                    let attempt = world.attempts;
                    let command = self.admit(world, attempt, vec![self.subject(world, seen, true)]);
                    let about = About::Renew {
                        seen,
                        replica,
                        attempt,
                    };
                    return self.send(world, command, about, answer, false);
                }
                let now = world.now(2 + replica);
                let id = u8::try_from(world.tokens.len()).ok()?;
                let token = Token {
                    generation: before.generation + 1,
                    issued: now,
                    end: settings.ttl.map(|ttl| now + ttl),
                    sealed: world.time,
                    given: self.is(Fault::NoCommit),
                    ..before
                };
                let key = ask::key(settings.label, &format!("h:s:{}", before.chain));
                let head = world.servers[master]
                    .value(&key)
                    .and_then(|head| head.split(' ').next());
                let by = match head {
                    Some(head) if self.is(Fault::CommitBlindly) => head.to_owned(),
                    _ => seen.to_string(),
                };
                let until = self.until(&token);
                let by = (by, before.generation);
                let command = ask::commit(settings.label, before.chain, by, id.to_string(), until);
                world.tokens.push(token);
                if self.is(Fault::NoCommit) {
                    let latest = (before.generation + 1, id);
                    world.past.latest.insert(before.chain, latest);
                    return Some(());
                }
                let about = About::Commit { seen, token: id };
                self.send(world, command, about, answer, false)?;
            }
            Action::End { token, answer, .. } => {
                world.left.ends -= 1;
                let subject = self.ends(world, token, "end");
                self.end(world, subject, answer)?;
            }
            Action::Force { token, answer } => {
                world.left.forced -= 1;
                let subject = self.ends(world, token, "force");
                self.end(world, subject, answer)?;
            }
            Action::Revoke { answer } => {
                world.left.revocations -= 1;
                let now = match self.is(Fault::RevokedByStore) {
                    true => 0,
                    false => world.now(2),
                };
                let command = ask::revoke(settings.label, now);
                self.send(world, command, About::Revoke, answer, false)?;
            }
            Action::Retry { answer } => {
                let (Sent(mut command), about) = world.asked.clone()?;
                if self.is(Fault::RetryIsAnother) && command.args.len() > 5 {
                    command.args[0] = format!("again{}", world.attempts);
                }
                self.send(world, command, about, answer, true)?;
            }
            Action::Arrive { late } => {
                let Sent(command) = world.late.remove(late);
                self.run(world, &command);
            }
            Action::Tick(seconds) => {
                world.left.ticks -= 1;
                world.time += seconds;
                world.asked = None;
            }
            Action::Copy => {
                world.left.copies -= 1;
                world.servers[1 - master].records = world.servers[master].records.clone();
            }
            Action::FailOver => {
                world.left.fail_overs -= 1;
                world.master = 1 - master;
                world.servers[world.master].process.promotion = world.draw();
                world.excuse(settings.label);
                world.upset();
            }
            Action::Split => {
                world.left.splits -= 1;
                world.master = 1 - master;
                world.excuse(settings.label);
                world.upset();
            }
            Action::Restart { all } => {
                let drawn = world.draw();
                let process = Process {
                    run: drawn.clone(),
                    promotion: drawn,
                    evicted: 0,
                };
                if all {
                    world.left.restarts -= 1;
                } else {
                    world.left.restores -= 1;
                    world.servers[master].records = world.servers[1 - master].records.clone();
                    world.excuse(settings.label);
                }
                world.servers[master].process = process;
                world.upset();
            }
            Action::Lose => {
                world.left.losses -= 1;
                world.servers[master].records.clear();
                world.upset();
            }
            Action::Evict { key } => {
                world.left.evictions -= 1;
                let key = world.servers[master].records.keys().nth(key)?.clone();
                world.past.evicted.insert(key.clone());
                world.servers[master].records.remove(&key);
                world.servers[master].process.evicted += 1;
                world.upset();
            }
            Action::Reset => {
                world.left.resets -= 1;
                world.servers[master].process.evicted = 0;
                world.upset();
            }
            Action::Step(seconds) => {
                world.left.steps -= 1;
                world.clocks[master] += seconds;
                world.upset();
            }
            Action::Set { settings } => {
                world.left.settings -= 1;
                let other = self.settings[settings].label != self.settings[world.settings].label;
                world.settings = settings;
                if other {
                    world.opened = false;
                    world.upset();
                }
            }
        }
        if self.sweeps {
            let now = world.now(world.master);
            let records = &mut world.servers[world.master].records;
            records.retain(|_, (_, until)| until.is_none_or(|until| until > now));
        }
        Some(())
    }
}
