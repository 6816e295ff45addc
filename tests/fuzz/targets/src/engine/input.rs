//! What may happen: messages, answers of authors and stores, and what handlers do.

use arbitrary::Arbitrary;

use crate::alter::Change;
use crate::world::{Ring, Who};

#[derive(Arbitrary, Debug)]
pub struct Input<'a> {
    pub settings: Settings,
    pub happens: Vec<Happens<'a>>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Settings {
    pub events: bool,
    pub sessions: Option<SessionsAre>,
    pub ledger: Option<LedgerIs>,
    pub sep1359: bool,
    pub idle: Option<u8>,
    pub declares: bool,
    pub only: bool,
    pub ttl: Option<u8>,
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionsAre {
    Optional,
    Required,
    HeldByServer,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct LedgerIs {
    pub reusable: bool,
    pub far: bool,
}

#[derive(Arbitrary, Debug)]
pub enum Happens<'a> {
    /// It is delivered, or ends; then it waits for what follows.
    Message(Begun<'a>),
    Transport(Carried<'a>),
    /// The handler acts, and its result is sent.
    Finish {
        which: u8,
        acts: Vec<Act<'a>>,
        result: Result<'a>,
        how: Vec<How<'a>>,
    },
    Drop(u8),
    Revoke {
        replica: bool,
        who: Who,
        how: Vec<How<'a>>,
    },
    Rotate {
        replica: bool,
        ring: Ring,
    },
    Later(u16),
}

#[derive(Arbitrary, Debug)]
pub struct Begun<'a> {
    pub replica: bool,
    pub who: Who,
    pub method: Method,
    pub target: u8,
    pub arguments: u8,
    pub notification: bool,
    pub modern: bool,
    /// The caller is known already.
    pub given: bool,
    pub header: Option<Sent<'a>>,
    pub token: Sent<'a>,
    pub session: Option<(Sent<'a>, Sent<'a>)>,
    pub how: Vec<How<'a>>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Method {
    Call,
    Prompt,
    Read,
    Tools,
    Custom,
    Ping,
    Initialize,
    Create,
    Delete,
    Note,
    Empty,
}

impl Method {
    pub fn text(self) -> &'static str {
        match self {
            Self::Call => "tools/call",
            Self::Prompt => "prompts/get",
            Self::Read => "resources/read",
            Self::Tools => "tools/list",
            Self::Custom => "notes/search",
            Self::Ping => "ping",
            Self::Initialize => "initialize",
            Self::Create => "sessions/create",
            Self::Delete => "sessions/delete",
            Self::Note => "notifications/x",
            Self::Empty => "",
        }
    }
}

/// What a client, or a model, sends where a token is expected.
#[derive(Arbitrary, Clone, Debug)]
pub enum Sent<'a> {
    Absent,
    /// One that was sent to somebody, of the kind that is expected here.
    Fitting(u8),
    Any(u8),
    Altered(u8, Vec<Change<'a>>),
    Other,
    Text(&'a str),
}

/// A message around HTTP or stdio.
#[derive(Arbitrary, Debug)]
pub struct Carried<'a> {
    pub replica: bool,
    pub who: Who,
    pub http: Option<Http>,
    pub method: Option<Carries>,
    pub notification: bool,
    pub modern: bool,
    pub version: Option<bool>,
    pub header: Sent<'a>,
    pub message_session_id: Sent<'a>,
    pub params: u8,
    pub resumes: bool,
    pub how: Vec<How<'a>>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Http {
    Post,
    Get,
    Delete,
    Options,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Carries {
    Initialize,
    Call,
    Terminate,
    Discover,
}

/// How a question is answered.
#[derive(Arbitrary, Clone, Debug)]
pub enum How<'a> {
    Well,
    Fails,
    /// The store does it, and its answer is lost.
    Lost,
    /// The store says what it said before.
    Again(u8),
    Says(Vec<&'a str>),
    /// The store says the first of what it has to say.
    Cut(u8),
    Nobody,
    /// So many milliseconds pass first.
    Late(u16),
    /// The adapter reports something else first.
    Wrong,
}

/// What a handler does.
#[derive(Arbitrary, Debug)]
pub enum Act<'a> {
    Seal,
    Write,
    State,
    Fork,
    Mint {
        of: Type,
        max_age: Option<u8>,
        how: Vec<How<'a>>,
    },
    Check {
        of: Type,
        handle: Sent<'a>,
        max_age: Option<u8>,
        how: Vec<How<'a>>,
    },
    Make {
        of: Type,
        ttl: Option<u8>,
        before: Option<u8>,
        once: bool,
        how: Vec<How<'a>>,
    },
    Open {
        of: Type,
        handle: Sent<'a>,
        max_age: Option<u8>,
        once: bool,
        how: Vec<How<'a>>,
    },
    End {
        of: Type,
        handle: Sent<'a>,
        self_contained: bool,
        how: Vec<How<'a>>,
    },
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Basket,
    Cart,
    Reserved,
}

impl Type {
    pub fn text(self) -> &'static str {
        match self {
            Self::Basket => "basket",
            Self::Cart => "cart",
            Self::Reserved => "sess",
        }
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Result<'a> {
    pub outcome: Outcome,
    pub token: Left<'a>,
    pub public: Option<bool>,
    pub has_ttl: bool,
    pub no_meta: bool,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Outcome {
    Asks,
    Complete,
    Error,
}

/// What stands in the result where a token is sent.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Left<'a> {
    Plain,
    Absent,
    /// What the handler sealed.
    Sealed,
    Other,
    Text(&'a str),
}
