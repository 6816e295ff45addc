//! Two replicas with one store, and what they have sent.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use sealwax::{Codec, Inspected, KeyRing, SessionMetadata, View, inspect};
use sealwax_mcp::ledger::{Command, Memory, Reply};
use sealwax_mcp::{
    ClientValue, Failed, Guard, LedgerSettings, Predecessor, Required, SessionSettings,
    TransportSettings,
};

use super::input::{How, Sent, SessionsAre, Settings};
use crate::alter::altered;
use crate::world::{AUDIENCE, Ring, Still, Who, keys};

pub struct World {
    pub settings: Settings,
    pub clock: Still,
    pub codecs: [Codec; 2],
    pub guards: [Guard; 2],
    memory: Memory,
    replies: Vec<Vec<String>>,
    /// A store said `ok` to what it did not do: then nothing that it remembers can be promised.
    pub lied: bool,
    /// What left, to whomever.
    pub tokens: Vec<Token>,
    /// The ids of what was used up, or has ended.
    pub used: HashSet<String>,
    pub ended: HashSet<String>,
    /// When somebody was signed out.
    pub revoked: HashMap<Who, u64>,
    /// The token and the generation of the latest state of a session.
    pub latest: HashMap<String, (String, u32)>,
    /// Of handles that hold their state, as handlers keep them.
    pub predecessors: Vec<Predecessor>,
    payloads: usize,
}

/// A token that left.
#[derive(Clone, Debug)]
pub struct Token {
    pub text: String,
    pub what: What,
    pub who: Who,
    pub payload: String,
    pub started_at: u64,
    pub generation: u32,
}

impl Token {
    /// One without a predecessor.
    pub fn new(text: String, what: What, who: Who, payload: String, started_at: u64) -> Self {
        Self {
            text,
            what,
            who,
            payload,
            started_at,
            generation: 0,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    RequestState([u8; 32]),
    Cursor {
        method: &'static str,
        public: bool,
    },
    SessionId,
    /// Of this session id.
    State(String),
    Transport,
    Handle(&'static str),
    HandleState(&'static str),
}

impl World {
    pub fn new(settings: Settings) -> Option<Self> {
        let clock = Still::new();
        let codec = || {
            let builder = Codec::builder(Ring::NewOld.ring(), AUDIENCE);
            builder
                .session_max_age(Duration::from_secs(100_000))
                .build_in(clock.clone())
                .unwrap()
        };
        let codecs = [codec(), codec()];
        let guards = codecs
            .each_ref()
            .map(|codec| guard(codec.clone(), settings));
        let [Some(one), Some(two)] = guards else {
            return None;
        };
        Some(Self {
            settings,
            memory: Memory::new(Memory::CAPACITY, clock.now() - 3600),
            guards: [one, two],
            codecs,
            clock,
            replies: Vec::new(),
            lied: false,
            tokens: Vec::new(),
            used: HashSet::new(),
            ended: HashSet::new(),
            revoked: HashMap::new(),
            latest: HashMap::new(),
            predecessors: Vec::new(),
            payloads: 0,
        })
    }

    pub fn has_ledger(&self) -> bool {
        self.settings.ledger.is_some()
    }

    /// Whether what was used, ended or revoked has to be known.
    pub fn remembers(&self) -> bool {
        self.has_ledger() && !self.lied
    }

    /// Checks that what is accepted has not ended, nor its user been signed out.
    pub fn lives(&self, id: &str, who: Who, started_at: u64) {
        if self.remembers() {
            assert!(!self.ended.contains(id), "ended");
            let revoked = self.revoked.get(&who);
            assert!(
                revoked.is_none_or(|revoked| started_at > *revoked),
                "signed out"
            );
        }
    }

    pub fn end(&mut self, id: String) {
        if self.remembers() {
            self.ended.insert(id);
        }
    }

    /// A value, as JSON, that occurs nowhere else.
    pub fn payload(&mut self) -> String {
        self.payloads += 1;
        format!("\"secret {} of somebody\"", self.payloads)
    }

    /// Returns the text that is sent; `None` for what is no text.
    pub fn sent(&self, sent: &Sent<'_>, fits: impl Fn(&What) -> bool) -> Option<Option<String>> {
        let nth = |at: u8, fits: &dyn Fn(&What) -> bool| {
            let fitting: Vec<_> = self
                .tokens
                .iter()
                .filter(|token| fits(&token.what))
                .collect();
            // The last ones first: what has just left.
            let at = usize::from(at).checked_rem(fitting.len())?;
            Some(fitting[fitting.len() - 1 - at].text.clone())
        };
        Some(match sent {
            Sent::Absent => None,
            Sent::Other => return None,
            Sent::Fitting(at) => nth(*at, &fits),
            Sent::Any(at) => nth(*at, &|_| true),
            Sent::Altered(at, changes) => {
                let (one, other) = (nth(*at, &fits)?, nth(at.wrapping_add(1), &fits)?);
                Some(altered(&one, &other, changes))
            }
            // The checks look for this word.
            Sent::Text(text) => Some(text.replace("secret", "")),
        })
    }

    pub fn find(&self, text: &str, fits: impl Fn(&What) -> bool) -> Option<&Token> {
        self.tokens
            .iter()
            .find(|token| token.text == text && fits(&token.what))
    }

    pub fn keep(&mut self, token: Token) {
        if self.find(&token.text, |what| *what == token.what).is_none() {
            self.tokens.push(token);
        }
    }

    /// Does a command, or not, and answers.
    pub fn run(&mut self, command: &Command, how: &How<'_>) -> Result<Vec<String>, Failed> {
        let now = self.clock.now();
        let failed = || Err(Failed::Wrong("the store is down".into()));
        let reply = match how {
            How::Fails => return failed(),
            How::Lost => {
                self.memory.run(command, now);
                return failed();
            }
            How::Says(texts) => texts
                .iter()
                .map(|text| text.replace("secret", ""))
                .collect(),
            How::Again(at) if !self.replies.is_empty() => {
                self.replies[usize::from(*at) % self.replies.len()].clone()
            }
            How::Cut(at) => {
                let mut reply = self.memory.run(command, now);
                reply.truncate((*at).into());
                reply
            }
            _ => {
                let reply = self.memory.run(command, now);
                self.replies.push(reply.clone());
                return Ok(reply);
            }
        };
        self.lied |= matches!(
            Reply::of(command.script, &reply),
            Reply::Done(_) | Reply::Refused { .. }
        );
        Ok(reply)
    }

    /// A view that knows every key: what left can be opened here, until it expires.
    pub fn knowing(&self, who: Who) -> View {
        let ring = KeyRing::new(keys().clone()).unwrap();
        let codec = Codec::builder(ring, AUDIENCE)
            .build_in(self.clock.clone())
            .unwrap();
        codec.view(&who.principal()).unwrap()
    }

    /// Keeps a state of a session, which must hold this.
    pub fn keep_state(&mut self, id: &str, state: &str, who: Who, payload: &str) -> (String, u32) {
        let metadata = SessionMetadata::new(id, Some(state.into()));
        let opened = self.knowing(who).sessions().open(&metadata).unwrap();
        assert_eq!(opened.payload(), payload.as_bytes());
        let sealed = opened.state();
        let is = (sealed.token_id().to_string(), sealed.generation());
        let (started_at, generation) = (sealed.started_at(), sealed.generation());
        let (text, what, payload) = (state.into(), What::State(id.into()), payload.into());
        self.keep(Token {
            text,
            what,
            who,
            payload,
            started_at,
            generation,
        });
        is
    }

    /// Keeps a new session.
    pub fn keep_session(&mut self, metadata: &SessionMetadata, who: Who, payload: &str) {
        let id = &metadata.session_id;
        let started_at = self
            .knowing(who)
            .verify_session_id(id, None)
            .unwrap()
            .created_at_ms()
            / 1000;
        let value = payload.to_owned();
        self.keep(Token::new(
            id.clone(),
            What::SessionId,
            who,
            value,
            started_at,
        ));
        if let Some(state) = &metadata.state {
            self.keep_state(id, state, who, payload);
        }
    }
}

pub fn token_id(text: &str) -> String {
    match inspect(text) {
        Ok(Inspected::Token { token_id, .. }) => token_id.to_string(),
        other => panic!("{other:?}"),
    }
}

pub fn value(sent: &Option<Option<String>>) -> ClientValue<'_> {
    sent.as_ref()
        .map_or(ClientValue::Other, |text| text.as_deref().into())
}

fn guard(codec: Codec, settings: Settings) -> Option<Guard> {
    let mut builder = Guard::builder(codec.clone()).events(settings.events);
    if let Some(ttl) = settings.ttl {
        builder = builder.request_state_ttl(Duration::from_secs(ttl.into()));
    }
    if settings.only {
        builder = builder.only("play", ["id"]);
    }
    if let Some(sessions) = settings.sessions {
        builder = builder.sessions(SessionSettings {
            held_by_server: sessions == SessionsAre::HeldByServer,
            required: Required {
                all: sessions == SessionsAre::Required,
                ..Required::default()
            },
            ..SessionSettings::default()
        });
    }
    if let Some(ledger) = settings.ledger {
        builder = builder.ledger(LedgerSettings {
            local: !ledger.far,
            reusable_request_state: ledger.reusable,
            ..LedgerSettings::default()
        });
    }
    let built = builder
        .transport(TransportSettings {
            idle: settings
                .idle
                .filter(|_| settings.ledger.is_some())
                .map(|idle| Duration::from_secs(idle.into())),
            sep1359: settings.sep1359,
            declares: settings.declares,
            ..TransportSettings::default()
        })
        .build();
    built.ok()
}
