//! Random messages: good ones and bad ones.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

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

/// A value where a token is expected.
#[derive(Clone, Debug)]
pub enum Token {
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
pub struct Case {
    pub method: &'static str,
    pub notification: bool,
    pub modern: bool,
    pub header: bool,
    pub token: Token,
    /// The session's principal, and whether its state was sent.
    pub session: Option<(&'static str, bool)>,
    pub who: Option<&'static str>,
    /// Whether the ledger answers when it is opened.
    pub opens: bool,
    pub has_ledger: bool,
    pub verdicts: Vec<u8>,
    pub has_sessions: bool,
    pub requires_all: bool,
    pub outcome: u8,
    pub left: Token,
    pub public: bool,
    pub writes: bool,
    /// The step at which an event comes out of order.
    pub disorder: Option<usize>,
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

pub fn case() -> impl Strategy<Value = Case> {
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
                opens: settings[0],
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
