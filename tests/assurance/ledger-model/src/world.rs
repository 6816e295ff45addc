//! A state of everything: the store, the clocks, the tokens, the network, and what was answered.

use sealwax_mcp::ledger::Command;

use crate::{Bounds, Past, Settings, Store};

/// The clock tolerance up to which a codec accepts what is of the future.
const CLOCK_TOLERANCE: u64 = 60;

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `requestState`, used once.
    Request,
    /// The state of a data-layer session.
    State,
    /// A session of the transport.
    Transport,
    /// A handle with state that its renewal uses up.
    Handle,
}

impl Kind {
    pub(crate) fn letter(self) -> char {
        match self {
            Self::Request => 'r',
            Self::State => 's',
            Self::Transport => 't',
            Self::Handle => 'k',
        }
    }
}

/// A sealed token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    pub(crate) kind: Kind,
    /// The first token of its chain: the session.
    pub(crate) chain: u8,
    pub(crate) generation: u32,
    pub(crate) issued: u64,
    pub(crate) started: u64,
    pub(crate) end: Option<u64>,
    /// By a true clock: when its chain began, and when it was sealed.
    pub(crate) born: u64,
    pub(crate) sealed: u64,
    /// Whether a client was given it.
    pub(crate) given: bool,
}

/// What becomes of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is run, and its answer arrives.
    Comes,
    /// It is run, and its answer is lost.
    Lost,
    /// It is on its way still when the guard gives up.
    Late,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Action {
    /// A replica seals the first token of a chain.
    Seal {
        kind: Kind,
        replica: usize,
    },
    /// A client brings one token or two.
    Present {
        token: u8,
        with: Option<u8>,
        replica: usize,
        answer: Answer,
    },
    /// A handler writes the state that it was given, or renews the handle.
    Write {
        handler: usize,
        answer: Answer,
    },
    /// A client ends what the token is of.
    End {
        token: u8,
        replica: usize,
        answer: Answer,
    },
    /// An operator ends it.
    Force {
        token: u8,
        answer: Answer,
    },
    Revoke {
        answer: Answer,
    },
    /// The guard sends the command once more.
    Retry {
        answer: Answer,
    },
    /// A command arrives about whose answer nobody cares.
    Arrive {
        late: usize,
    },
    Tick(u64),
    /// The other server catches up.
    Copy,
    FailOver,
    /// The clients change to the other server, which nobody promoted.
    Split,
    /// The store's process is another one: with all records, or with those of the last copy.
    Restart {
        all: bool,
    },
    Lose,
    Evict {
        key: usize,
    },
    Reset,
    /// The store's clock is moved.
    Step(i64),
    Set {
        settings: usize,
    },
}

/// What a command is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum About {
    Present {
        tokens: Vec<u8>,
        replica: usize,
        attempt: u8,
    },
    Commit {
        seen: u8,
        token: u8,
    },
    Renew {
        seen: u8,
        replica: usize,
        attempt: u8,
    },
    End {
        key: String,
    },
    Revoke,
}

/// A state of everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub(crate) time: u64,
    pub(crate) servers: [Store; 2],
    /// The index of the server that the clients use.
    pub(crate) master: usize,
    pub(crate) clocks: [i64; 4],
    pub(crate) settings: usize,
    /// Whether the ledger of these settings was opened.
    pub(crate) opened: bool,
    pub(crate) tokens: Vec<Token>,
    /// Requests that were accepted and still run: the token and the replica.
    pub(crate) handlers: Vec<(u8, usize)>,
    /// The command that got no answer, which its guard may send again.
    pub(crate) asked: Option<(Sent, About)>,
    pub(crate) late: Vec<Sent>,
    pub(crate) attempts: u8,
    /// Processes and promotions so far.
    pub(crate) drawn: u8,
    pub(crate) left: Bounds,
    /// What the promises go by.
    pub past: Past,
}

/// A command that can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent(pub Command);

impl std::hash::Hash for Sent {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        (self.0.script, &self.0.keys, &self.0.args).hash(hasher);
    }
}
impl World {
    pub(crate) fn now(&self, clock: usize) -> u64 {
        self.time.saturating_add_signed(self.clocks[clock])
    }

    pub(crate) fn draw(&mut self) -> String {
        self.drawn += 1;
        format!("p{}", self.drawn)
    }

    pub(crate) fn sound(&self, token: &Token, now: u64, settings: &Settings) -> bool {
        token.issued <= now + CLOCK_TOLERANCE
            && token.end.is_none_or(|end| now < end)
            && now < token.started + settings.max_age
    }
    pub(crate) fn upset(&mut self) {
        self.past.unseen = true;
    }
}

/// The id under which a token is known to the ledger: a session's states have that of the session.
pub(crate) fn name(token: &Token, id: u8) -> String {
    match token.kind {
        Kind::State => token.chain.to_string(),
        _ => id.to_string(),
    }
}

/// A client is told of the latest state.
pub(crate) fn give(world: &mut World, token: &str) {
    if let Some(token) = token
        .parse()
        .ok()
        .and_then(|id: usize| world.tokens.get_mut(id))
    {
        token.given = true;
    }
}
