//! The guard's engine under random messages and events, good ones and bad ones, in and out of order.
#![cfg(feature = "std")]
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{AUDIENCE, ring};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use sealwax::ledger::{Command, Memory, Script};
use sealwax::mcp::{
    Carried, Event, Exchange, Failed, Guard, Head, LedgerSettings, Message, Outcome, Question,
    Required, Scope, Sent, SentSession, SessionSettings, Step, Verdict,
};
use sealwax::{
    Codec, Environment as _, Kind, Principal, RequestContext, SessionMetadata, System, View,
};

const METHODS: [&str; 9] = [
    "tools/call",
    "prompts/get",
    "resources/read",
    "tools/list",
    "ping",
    "sessions/create",
    "sessions/delete",
    "notifications/x",
    "demo/play",
];

/// What stands where a token is expected.
#[derive(Clone, Debug)]
enum Token {
    Absent,
    Other,
    Text(String),
    /// Made by alice or bob, for this method.
    Made {
        by: &'static str,
        method: &'static str,
    },
}

#[derive(Clone, Debug)]
struct Case {
    method: &'static str,
    notification: bool,
    modern: bool,
    header: bool,
    token: Token,
    /// Whose session, and whether its state came along.
    session: Option<(&'static str, bool)>,
    who: Option<&'static str>,
    asks: bool,
    has_ledger: bool,
    verdicts: Vec<u8>,
    has_sessions: bool,
    requires_all: bool,
    outcome: u8,
    left: Token,
    public: bool,
    writes: bool,
    /// At which step an event comes that does not follow.
    disorder: Option<usize>,
}

fn who() -> impl Strategy<Value = &'static str> {
    select(&["alice", "bob"][..])
}

fn token() -> impl Strategy<Value = Token> {
    prop_oneof![
        Just(Token::Absent),
        Just(Token::Other),
        ".{0,8}".prop_map(Token::Text),
        "sw1\\.[A-Za-z0-9_-]{80,90}".prop_map(Token::Text),
        (who(), select(&METHODS[..])).prop_map(|(by, method)| Token::Made { by, method }),
        (who(), select(&METHODS[..])).prop_map(|(by, method)| Token::Made { by, method }),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let message = (
        select(&METHODS[..]),
        any::<[bool; 3]>(),
        token(),
        proptest::option::of((who(), any::<bool>())),
        proptest::option::weighted(0.9, who()),
    );
    let rest = (
        any::<[bool; 6]>(),
        vec(0..4_u8, 4),
        0..3_u8,
        token(),
        proptest::option::weighted(0.2, 0..4_usize),
    );
    (message, rest).prop_map(
        |((method, flags, token, session, who), (settings, verdicts, outcome, left, disorder))| {
            Case {
                method,
                notification: flags[0] || method.starts_with("notifications/"),
                modern: flags[1],
                header: flags[2],
                token,
                session,
                who,
                asks: settings[0],
                has_sessions: settings[1],
                requires_all: settings[2],
                public: settings[3],
                writes: settings[4],
                has_ledger: settings[5],
                verdicts,
                outcome,
                left,
                disorder,
            }
        },
    )
}

fn now() -> u64 {
    System.now_ms() / 1000
}

fn codec() -> Codec {
    Codec::new(ring(), AUDIENCE).unwrap()
}

fn view(who: &str) -> View {
    codec().view(&Principal::subject(who)).unwrap()
}

fn context(method: &str) -> RequestContext {
    RequestContext::new(method, "play", None).unwrap()
}

/// The plaintext tells who made it and for what.
fn made(by: &str, method: &str) -> String {
    let payload = format!("secret of {by} for {method}");
    let view = view(by);
    let is_state = Carried::by(method).is_some_and(|it| it.kind == Kind::RequestState);
    if is_state {
        view.request_state(&context(method))
            .seal(payload.as_bytes())
            .unwrap()
            .into_string()
    } else {
        view.cursor(method)
            .seal(payload.as_bytes())
            .unwrap()
            .into_string()
    }
}

struct Played<'c> {
    case: &'c Case,
    asked: usize,
    ledger: Memory,
    /// How often the ledger was asked.
    ledger_asked: usize,
    /// It said what makes no sense.
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
            _ => Err(Failed("down".into())),
        }
    }

    fn verdict(&mut self) -> Verdict {
        let verdict = self.case.verdicts[self.asked % self.case.verdicts.len()];
        self.asked += 1;
        match verdict {
            0 | 1 => Verdict::Yes,
            2 => Verdict::No(0),
            _ => Verdict::Unavailable(Failed("down".into())),
        }
    }

    fn all_said_yes(&self) -> bool {
        self.case
            .verdicts
            .iter()
            .cycle()
            .take(self.asked)
            .all(|verdict| *verdict < 2)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nothing_passes_that_should_not(case in case()) {
        let mut builder = Guard::builder(codec()).asks(case.asks);
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
        fn sent<'a>(token: &Token, text: &'a str) -> Sent<'a> {
            match token {
                Token::Absent => Sent::Absent,
                Token::Other => Sent::Other,
                Token::Text(_) | Token::Made { .. } => Sent::Text(text),
            }
        }
        let metadata: Option<SessionMetadata> = case.session.map(|(by, _)| {
            view(by).sessions().create(format!("\"value of {by}\"").as_bytes()).unwrap()
        });
        let session = metadata.as_ref().zip(case.session).map(|(metadata, (_, with_state))| SentSession {
            id: Sent::Text(&metadata.session_id),
            state: if with_state { metadata.state.as_deref().into() } else { Sent::Absent },
        });
        let (mut exchange, mut step) = guard.message(Message {
            method: case.method,
            target: Some("play"),
            arguments: None,
            notification: case.notification,
            modern: case.modern,
            header: case.header.then_some("sess_other"),
            carried: sent(&case.token, &sent_text),
            session,
            principal: None,
        });
        let mut played = Played { case: &case, asked: 0, ledger: Memory::new(Memory::ROOM, now() - 60), ledger_asked: 0, garbled: false, delivered: false };
        let left_text = text(&case.left);
        let mut identified = false;
        for at in 0.. {
            prop_assert!(at < 12, "every exchange ends");
            if case.disorder == Some(at) {
                disturb(&mut exchange, &step);
            }
            let event = match &step {
                Step::Identify => {
                    prop_assert!(!std::mem::replace(&mut identified, true), "asked once");
                    Event::Principal(match case.who {
                        Some(who) => Ok(Principal::subject(who)),
                        None => Err(Failed("nobody".into())),
                    })
                }
                Step::Ask(question) => {
                    prop_assert!(case.asks && identified && case.who.is_some());
                    if let Question::Accept(tokens) = question {
                        prop_assert!(!tokens.is_empty());
                    }
                    Event::Answer(played.verdict())
                }
                Step::Ledger(command) if command.script == Script::Open => {
                    prop_assert!(case.has_ledger && at == 0, "nothing comes before it");
                    // Whether it opens or not: what is asked of it decides.
                    Event::Ledger(match case.asks {
                        true => Ok(played.ledger.run(command, now())),
                        false => Err(Failed("no answer".into())),
                    })
                }
                Step::Ledger(command) => {
                    prop_assert!(case.has_ledger && identified && case.who.is_some());
                    Event::Ledger(played.ledger(command))
                }
                Step::Update(_) => unreachable!("nobody else writes"),
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
                    Event::Left(Head {
                        outcome: [Outcome::Complete, Outcome::InputRequired, Outcome::Error][usize::from(case.outcome)],
                        token: sent(&case.left, &left_text),
                        scope: Some(if case.public { Scope::Public } else { Scope::Private }),
                        ..Head::default()
                    })
                }
                Step::Leave(leave) => {
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
                Step::Done(_) => unreachable!("nobody acted"),
            };
            step = exchange.on(event).unwrap();
        }
        if !case.notification || !played.delivered {
            prop_assert!(exchange.on(Event::Answer(Verdict::Yes)).is_err(), "it is over");
            prop_assert!(exchange.session().is_none() && exchange.write("1").is_err());
            prop_assert!(exchange.state().is_err() && exchange.fork().is_err());
        }
        for refused in exchange.refused() {
            prop_assert!(!refused.message.contains("secret"), "{}", refused.message);
        }
    }
}

/// An event that does not follow is the adapter's mistake, and changes nothing.
fn disturb(exchange: &mut Exchange, step: &Step) {
    let wrong = match step {
        Step::Begin => Event::Answer(Verdict::Yes),
        _ => Event::Begun(Ok("1")),
    };
    assert!(exchange.on(wrong).is_err());
    if !matches!(step, Step::Identify) {
        assert!(
            exchange
                .on(Event::Principal(Ok(Principal::anonymous())))
                .is_err()
        );
    }
}

fn check_delivered(
    case: &Case,
    played: &Played<'_>,
    exchange: &Exchange,
    deliver: &sealwax::mcp::Deliver,
) -> Result<(), TestCaseError> {
    prop_assert!(
        played.all_said_yes(),
        "what accept refused is not delivered"
    );
    prop_assert!(!played.garbled, "the ledger said nothing that is known");
    if let Some(text) = &deliver.carried {
        let who = case.who.unwrap();
        prop_assert_eq!(text, &format!("secret of {who} for {}", case.method));
    }
    let carries = Carried::by(case.method).filter(|_| !case.notification);
    if carries.is_some() && !matches!(case.token, Token::Absent) {
        prop_assert!(
            deliver.carried.is_some(),
            "what came was opened, or it was refused"
        );
    }
    if carries.is_some_and(|it| it.kind == Kind::RequestState) {
        prop_assert!(case.who.is_some());
        prop_assert_eq!(exchange.state().unwrap(), deliver.carried.as_deref());
    } else {
        prop_assert!(exchange.state().is_err());
    }
    if !case.has_sessions {
        prop_assert!(exchange.session().is_none());
        return Ok(());
    }
    match (case.session, exchange.session()) {
        (Some((by, with_state)), found) => {
            prop_assert_eq!(Some(by), case.who);
            prop_assert!(!case.modern || !case.header);
            if case.method == "sessions/delete" {
                return Ok(());
            }
            prop_assert!(with_state);
            let is_list = case.method.ends_with("/list");
            prop_assert_eq!(found.is_none(), is_list);
            if let Some(found) = found {
                prop_assert_eq!(found.value().unwrap(), format!("\"value of {by}\""));
            }
        }
        (None, found) => {
            prop_assert!(found.is_none());
            let free = ["ping", "sessions/create", "tools/list"].contains(&case.method);
            prop_assert!(free || !case.requires_all || case.notification);
        }
    }
    Ok(())
}

fn check_left(case: &Case, left: &str, leave: &sealwax::mcp::Leave) -> Result<(), TestCaseError> {
    let errs = case.outcome == 2;
    let carries = Carried::by(case.method);
    let needs_seal = carries.is_some_and(|it| it.kind == Kind::Cursor || case.outcome == 1)
        && !errs
        && !matches!(case.left, Token::Absent);
    match &leave.token {
        Some(token) => {
            prop_assert!(needs_seal);
            prop_assert!(token.starts_with("sw1.") && token != left);
            let alice = case.who.map(view);
            let method = case.method;
            let opened = match carries.unwrap().kind {
                Kind::RequestState => alice
                    .unwrap()
                    .request_state(&context(method))
                    .open(token)
                    .unwrap()
                    .into_payload(),
                _ => {
                    let has_session = case.has_sessions && case.session.is_some();
                    let public = case.public && !has_session;
                    let anybody = codec().view(&Principal::anonymous()).unwrap();
                    let view = if public { anybody } else { alice.unwrap() };
                    view.cursor(method).open(token).unwrap().into_payload()
                }
            };
            prop_assert_eq!(opened, left.as_bytes());
        }
        None => prop_assert!(!needs_seal, "what must leave sealed"),
    }
    let has_session =
        case.has_sessions && case.session.is_some() && case.method != "sessions/delete";
    prop_assert_eq!(leave.metadata.is_some(), has_session && !errs);
    if has_session && !errs {
        prop_assert!(leave.private);
    }
    Ok(())
}
