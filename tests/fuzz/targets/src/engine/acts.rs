//! What handlers do with states, sessions and handles.

use std::time::Duration;

use sealwax::{Error, Kind};
use sealwax_mcp::{HandleOp, HandleOpKind, HandleResult, Step};

use super::input::{Act, How, SessionsAre, Type};
use super::over;
use super::requests::Waiting;
use super::run::Run;
use super::world::{Token, What, World, value};

impl Waiting {
    pub fn act(&mut self, world: &mut World, act: &Act<'_>) {
        let who = self.run.who;
        let seconds = |time: &Option<u8>| time.map(|time| Duration::from_secs(time.into()));
        let handle = |world: &World, of: Type, sent| {
            world.sent(sent, |what| {
                [What::Handle(of.text()), What::HandleState(of.text())].contains(what)
            })
        };
        match act {
            Act::Seal => {
                let payload = world.payload();
                if let Ok(text) = self.exchange.seal_state(&payload) {
                    let what = What::RequestState(self.request.context(world).expect("a context"));
                    let started_at = world.clock.now();
                    world.keep(Token::new(text.clone(), what, who, payload, started_at));
                    self.sealed.push(text);
                }
            }
            Act::Write => {
                let payload = world.payload();
                if self.exchange.write(&payload).is_ok() {
                    assert!(self.run.session.is_some());
                    self.run.value = payload;
                }
            }
            Act::State => {
                let fields = self.request.fields;
                let has_one = fields.is_some_and(|fields| fields.kind == Kind::RequestState);
                assert_eq!(self.exchange.state().is_ok(), has_one);
            }
            Act::Fork => {
                if let Ok(metadata) = self.exchange.fork() {
                    assert_ne!(world.settings.sessions, Some(SessionsAre::HeldByServer));
                    let value = self.run.value.clone();
                    world.keep_session(&metadata, who, &value);
                }
            }
            Act::Mint { of, max_age, how } => {
                let kind = HandleOpKind::Mint {
                    max_age: seconds(max_age),
                };
                if let Some(made) = self.operate(world, *of, kind, None, how) {
                    let (text, what) = (made.handle.unwrap(), What::Handle(of.text()));
                    let started_at = world.clock.now();
                    world.keep(Token::new(text, what, who, made.id, started_at));
                }
            }
            Act::Check {
                of,
                handle: sent,
                max_age,
                how,
            } => {
                let sent = handle(world, *of, sent);
                let kind = HandleOpKind::Check {
                    handle: value(&sent),
                    max_age: seconds(max_age),
                };
                if let Some(made) = self.operate(world, *of, kind, sent.as_ref(), how) {
                    let token = self.known(world, sent.as_ref(), &What::Handle(of.text()));
                    assert_eq!(
                        (&token.payload, Some(&token.text)),
                        (&made.id, made.handle.as_ref())
                    );
                    world.lives(&made.id, who, token.started_at);
                }
            }
            Act::Make {
                of,
                ttl,
                before,
                once,
                how,
            } => self.make(world, *of, seconds(ttl), *before, *once, how),
            Act::Open {
                of,
                handle: sent,
                max_age,
                once,
                how,
            } => {
                let sent = handle(world, *of, sent);
                let kind = HandleOpKind::Open {
                    handle: value(&sent),
                    max_age: seconds(max_age),
                    once: *once,
                };
                if let Some(made) = self.operate(world, *of, kind, sent.as_ref(), how) {
                    let token = self.known(world, sent.as_ref(), &What::HandleState(of.text()));
                    assert_eq!(Some(&token.payload), made.value.as_ref());
                    world.lives(&made.id, who, token.started_at);
                    let remembers = *once && world.remembers();
                    assert!(!remembers || !world.used.contains(&made.id), "used up");
                    world.predecessors.push(made.predecessor.unwrap());
                }
            }
            Act::End {
                of,
                handle: sent,
                self_contained,
                how,
            } => {
                let sent = handle(world, *of, sent);
                let kind = HandleOpKind::End {
                    handle: value(&sent),
                    max_age: None,
                    self_contained: *self_contained,
                };
                if let Some(made) = self.operate(world, *of, kind, sent.as_ref(), how) {
                    let what = if *self_contained {
                        What::HandleState(of.text())
                    } else {
                        What::Handle(of.text())
                    };
                    self.known(world, sent.as_ref(), &what);
                    world.end(made.id);
                }
            }
        }
    }

    fn make(
        &self,
        world: &mut World,
        of: Type,
        ttl: Option<Duration>,
        before: Option<u8>,
        once: bool,
        how: &[How<'_>],
    ) {
        let payload = world.payload();
        let before = before.and_then(|at| {
            let at = usize::from(at).checked_rem(world.predecessors.len())?;
            Some(world.predecessors[at].clone())
        });
        let (predecessor, spent) = (
            before.clone(),
            before
                .as_ref()
                .filter(|_| once)
                .map(|before| before.id.clone()),
        );
        let kind = HandleOpKind::Seal {
            value: &payload,
            ttl,
            predecessor,
            once,
        };
        let Some(made) = self.operate(world, of, kind, None, how) else {
            return;
        };
        if let Some(spent) = spent.filter(|_| !world.lied) {
            assert!(
                !world.ended.contains(&spent) && world.used.insert(spent),
                "twice"
            );
        }
        let (text, predecessor) = (made.handle.unwrap(), made.predecessor.unwrap());
        let view = world.knowing(self.run.who);
        let opened = match view.handle_state(of.text()).open(&text) {
            // The ledger took longer than the handle lives.
            Err(Error::Expired { .. }) if ttl.is_some() && once => return,
            opened => opened.unwrap(),
        };
        assert_eq!(opened.payload(), payload.as_bytes());
        assert_eq!(
            opened.generation(),
            before.map_or(0, |before| before.generation + 1)
        );
        assert_eq!(
            (opened.started_at(), opened.generation()),
            (predecessor.started_at, predecessor.generation)
        );
        let (what, who) = (What::HandleState(of.text()), self.run.who);
        let (started_at, generation) = (opened.started_at(), opened.generation());
        world.keep(Token {
            text,
            what,
            who,
            payload,
            started_at,
            generation,
        });
        world.predecessors.push(predecessor);
    }

    /// Returns what the handler gets, if it gets something.
    fn operate(
        &self,
        world: &mut World,
        of: Type,
        kind: HandleOpKind<'_>,
        sent: Option<&Option<String>>,
        how: &[How<'_>],
    ) -> Option<HandleResult> {
        let (mut exchange, step) = self.exchange.handle(HandleOp {
            handle_type: of.text(),
            kind,
        });
        let mut run = Run::new(self.run.who);
        run.sent = sent.cloned().flatten().into_iter().collect();
        let step = run.drive(world, &mut exchange, step, how);
        over(&mut exchange);
        match step {
            Step::Done(made) => Some(*made),
            Step::Reply(reply) => {
                assert!(reply.error.is_some());
                None
            }
            other => panic!("{other:?}"),
        }
    }

    /// Returns the token that we made, for this caller.
    fn known(&self, world: &World, sent: Option<&Option<String>>, what: &What) -> Token {
        let text = sent.and_then(Option::as_ref).expect("a text");
        let token = world
            .find(text, |known| known == what)
            .expect("we made it")
            .clone();
        assert_eq!(token.who, self.run.who, "another's");
        token
    }
}
