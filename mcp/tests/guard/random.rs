//! The guard's engine under random messages and events, good ones and bad ones, in and out of order.

mod case;
mod checks;

use proptest::prelude::*;
use sealwax::{Kind, Principal, SessionMetadata};
use sealwax_mcp::ledger::{Command, Memory, Script};
use sealwax_mcp::{
    ClientSession, ClientValue, Event, Failed, Guard, HandlerResult, LedgerSettings, Message,
    Outcome, Required, Scope, SessionSettings, Step, TokenFields,
};

use case::{Case, Token, case};
use checks::{check_delivered, check_left, codec, disturb, made, now, view};

struct Played<'c> {
    case: &'c Case,
    ledger: Memory,
    /// How often the ledger was asked.
    ledger_asked: usize,
    /// A reply of it made no sense.
    garbled: bool,
    delivered: bool,
}

impl Played<'_> {
    fn ledger(&mut self, command: &Command) -> Result<Vec<String>, Failed> {
        let verdict = self.case.verdicts[self.ledger_asked % self.case.verdicts.len()];
        self.ledger_asked += 1;
        match verdict {
            0 | 1 => Ok(self.ledger.run(command, now())),
            2 => {
                self.garbled = true;
                Ok(vec!["stale".into(), "99".into()])
            }
            _ => Err(Failed::Wrong("down".into())),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nothing_passes_that_should_not(case in case()) {
        let mut builder = Guard::builder(codec());
        if case.has_sessions {
            builder = builder.sessions(SessionSettings {
                required: Required { all: case.requires_all, ..Required::default() },
                ..SessionSettings::default()
            });
        }
        if case.has_ledger {
            // It is older than what is made here.
            builder = builder.ledger(LedgerSettings::default());
        }
        let guard = builder.build().unwrap();
        let text = |token: &Token| match token {
            Token::Made { by, method } => made(by, method),
            Token::Text(text) => text.clone(),
            Token::Absent | Token::Other => String::new(),
        };
        let sent_text = text(&case.token);
        fn sent<'a>(token: &Token, text: &'a str) -> ClientValue<'a> {
            match token {
                Token::Absent => ClientValue::Absent,
                Token::Other => ClientValue::Other,
                Token::Text(_) | Token::Made { .. } => ClientValue::Text(text),
            }
        }
        let metadata: Option<SessionMetadata> = case.session.map(|(by, _)| {
            view(by).sessions().create(format!("\"value of {by}\"").as_bytes()).unwrap()
        });
        let session = metadata.as_ref().zip(case.session).map(|(metadata, (_, with_state))| ClientSession {
            id: ClientValue::Text(&metadata.session_id),
            state: if with_state { metadata.state.as_deref().into() } else { ClientValue::Absent },
        });
        let (mut exchange, mut step) = guard.message(Message {
            method: case.method,
            target: Some("play"),
            arguments: None,
            notification: case.notification,
            modern: case.modern,
            header: case.header.then_some("sess_other"),
            token: sent(&case.token, &sent_text),
            session,
            principal: None,
            within: None,
        });
        let mut played = Played { case: &case, ledger: Memory::new(Memory::CAPACITY, now() - 60), ledger_asked: 0, garbled: false, delivered: false };
        let left_text = text(&case.left);
        let mut identified = false;
        for at in 0.. {
            prop_assert!(at < 12, "every exchange ends");
            if !matches!(step, Step::Deliver(_)) && !played.delivered {
                prop_assert!(exchange.session().is_none() && exchange.write("1").is_err());
            }
            if case.disorder == Some(at) {
                disturb(&mut exchange, &step);
            }
            let event = match &step {
                Step::Identify => {
                    prop_assert!(!std::mem::replace(&mut identified, true), "asked once");
                    match case.who {
                        Some(who) => Event::Principal(Ok(Some(Principal::subject(who)))),
                        None if case.public => Event::Principal(Ok(None)),
                        None => Event::Principal(Err(Failed::Wrong("it threw".into()))),
                    }
                }
                Step::Ledger(command) if command.script == Script::Open => {
                    prop_assert!(case.has_ledger);
                    let kind = TokenFields::for_method(case.method).map(|fields| fields.kind);
                    let leaves = played.delivered && kind == Some(Kind::Cursor) && !case.public;
                    prop_assert!(at < 2 || leaves, "it comes first, or before a cursor");
                    // Opening may fail: only later commands decide.
                    Event::Ledger(match case.opens {
                        true => Ok(played.ledger.run(command, now())),
                        false => Err(Failed::Wrong("no answer".into())),
                    })
                }
                Step::Ledger(command) => {
                    prop_assert!(case.has_ledger && identified && case.who.is_some());
                    Event::Ledger(played.ledger(command))
                }
                Step::Begin => Event::Begun(Ok("1")),
                Step::Deliver(deliver) => {
                    played.delivered = true;
                    check_delivered(&case, &played, &exchange, deliver)?;
                    if case.writes && exchange.session().is_some() && !case.notification {
                        exchange.write("\"written\"").unwrap();
                    }
                    if case.notification {
                        prop_assert!(exchange.write("1").is_err());
                        break;
                    }
                    Event::Result(HandlerResult {
                        outcome: [Outcome::Complete, Outcome::InputRequired, Outcome::Error][usize::from(case.outcome)],
                        token: sent(&case.left, &left_text),
                        scope: Some(if case.public { Scope::Public } else { Scope::Private }),
                        ..HandlerResult::default()
                    })
                }
                Step::Respond(leave) => {
                    prop_assert!(played.delivered);
                    check_left(&case, &left_text, leave)?;
                    break;
                }
                Step::Reply(reply) => {
                    prop_assert!(reply.error.is_some());
                    prop_assert!(!case.notification, "nothing answers a notification");
                    break;
                }
                Step::Drop => {
                    prop_assert!(case.notification);
                    break;
                }
                Step::Body | Step::Replay | Step::Replayed => unreachable!("nothing carries it"),
                Step::Done(_) | Step::Word(_) | Step::Elicit(_) | Step::List(_) => unreachable!("nobody acted, nothing is confirmed"),
            };
            step = exchange.on(event).unwrap();
        }
        if !case.notification || !played.delivered {
            prop_assert!(exchange.on(Event::Begun(Ok("1"))).is_err(), "it is over");
            prop_assert!(exchange.session().is_none() && exchange.write("1").is_err());
            prop_assert!(exchange.state().is_err() && exchange.fork().is_err());
            prop_assert!(exchange.seal_state("1").is_err());
        }
        for refused in exchange.refused() {
            prop_assert!(!refused.message.contains("secret"), "{}", refused.message);
        }
    }
}
