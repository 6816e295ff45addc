//! One exchange, until its message is delivered, or it ends.

use sealwax_mcp::ledger::{Reply, Script};
use sealwax_mcp::{Event, Exchange, Failed, Step};

use super::input::How;
use super::world::World;
use crate::leaks;
use crate::world::Who;

pub struct Run {
    pub who: Who,
    /// What the ledger said last of its tokens.
    admitted: Option<bool>,
    /// The id of its session, and the value that it has for its handler.
    pub session: Option<String>,
    pub value: String,
    /// What a client or a model sent.
    pub sent: Vec<String>,
    identified: bool,
}

impl Run {
    pub fn new(who: Who) -> Self {
        Self {
            who,
            admitted: None,
            session: None,
            value: String::new(),
            sent: Vec::new(),
            identified: false,
        }
    }

    /// Answers each question, until there is none.
    pub fn drive(
        &mut self,
        world: &mut World,
        exchange: &mut Exchange,
        mut step: Step,
        how: &[How<'_>],
    ) -> Step {
        let mut how = how.iter();
        for asked in 0.. {
            assert!(asked < 20, "it ends");
            self.logged(exchange, world);
            if matches!(
                step,
                Step::Deliver(_)
                    | Step::Respond(_)
                    | Step::Reply(_)
                    | Step::Done(_)
                    | Step::Drop
                    | Step::Replay
            ) {
                break;
            }
            let how = how.next().unwrap_or(&How::Well);
            step = self.answer(world, exchange, &step, how);
        }
        if let Step::Deliver(_) | Step::Done(_) = &step {
            assert_ne!(self.admitted, Some(false), "what the ledger refused");
        }
        if let Step::Reply(reply) = &step {
            let said = serde_json::to_string(reply).unwrap();
            assert!(!said.contains("secret"), "{said}");
        }
        step
    }

    fn answer(
        &mut self,
        world: &mut World,
        exchange: &mut Exchange,
        step: &Step,
        how: &How<'_>,
    ) -> Step {
        match how {
            How::Late(milliseconds) => world.clock.pass((*milliseconds).into()),
            How::Wrong => disturb(exchange, step),
            _ => {}
        }
        let failed = || Failed::Wrong("it failed".into());
        let fails = matches!(how, How::Fails | How::Lost);
        let event = match step {
            Step::Identify => {
                assert!(!std::mem::replace(&mut self.identified, true), "asked once");
                match how {
                    How::Nobody => Event::Principal(Ok(None)),
                    _ if fails => Event::Principal(Err(failed())),
                    _ => Event::Principal(Ok(Some(self.who.principal()))),
                }
            }
            Step::Ledger(command) => {
                assert!(!command.within.is_zero() && world.has_ledger());
                if let (Script::Commit, Some(id)) = (command.script, &self.session) {
                    world.keep_state(id, &command.args[4], self.who, &self.value);
                }
                let replied = world.run(command, how);
                if command.script == Script::Admit {
                    let reply = replied
                        .as_deref()
                        .map(|texts| Reply::of(command.script, texts));
                    self.admitted = Some(matches!(reply, Ok(Reply::Done(_))));
                }
                Event::Ledger(replied)
            }
            Step::Begin => {
                self.value = world.payload();
                Event::Begun(if fails {
                    Err(failed())
                } else {
                    Ok(&self.value)
                })
            }
            other => panic!("{other:?}"),
        };
        exchange.on(event).unwrap()
    }

    /// Checks the log and the events.
    fn logged(&self, exchange: &mut Exchange, world: &World) {
        let mut lines: Vec<String> = exchange
            .refused()
            .into_iter()
            .map(|refused| refused.line + &refused.message)
            .collect();
        lines.extend(exchange.events().iter().map(|event| format!("{event:?}")));
        lines.push(format!("{exchange:?}"));
        for line in lines {
            assert!(!line.contains("secret"), "{line}");
            for text in self
                .sent
                .iter()
                .filter(|text| world.tokens.iter().any(|token| token.text == **text))
            {
                let body = text
                    .split_once(['.', '_'])
                    .map_or(&**text, |(_, body)| body);
                leaks::assert_none(&line, body);
            }
        }
    }
}

/// An event out of order is the adapter's mistake, and changes nothing.
fn disturb(exchange: &mut Exchange, step: &Step) {
    let wrong = match step {
        Step::Begin => Event::Ledger(Ok(Vec::new())),
        _ => Event::Begun(Ok("1")),
    };
    assert!(exchange.on(wrong).is_err());
    assert!(exchange.on(Event::Replayed(Ok("{}"))).is_err());
    if !matches!(step, Step::Identify) {
        assert!(exchange.on(Event::Principal(Ok(None))).is_err());
    }
    assert!(exchange.state().is_err() && exchange.session().is_none());
}
