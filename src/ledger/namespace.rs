//! The names of what a ledger remembers.

use alloc::format;
use alloc::string::String;

use sha2::{Digest, Sha256};

use crate::Principal;
use crate::format::pae::pae;

/// The ledger of one service: what stands before each key. In a Redis Cluster all of them lie together.
#[derive(Clone, Debug)]
pub(crate) struct Namespace(String);

/// The kinds of what has an id of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    RequestState,
    Handle,
    HandleState,
    /// A data-layer session.
    Session,
    /// A session of the transport.
    Transport,
}

impl Tag {
    fn letter(self) -> char {
        match self {
            Self::RequestState => 'r',
            Self::Handle => 'h',
            Self::HandleState => 'k',
            Self::Session => 's',
            Self::Transport => 't',
        }
    }
}

impl Namespace {
    pub fn new(audience: &str, label: &str) -> Self {
        let digest = digest::<8>(&["ledger", audience, label]);
        Self(format!("swl1:{{{digest}}}"))
    }

    /// Since when the ledger remembers.
    pub fn began(&self) -> String {
        format!("{}:began", self.0)
    }

    /// Up to when it may have forgotten something.
    pub fn fence(&self) -> String {
        format!("{}:fence", self.0)
    }

    /// Whatever of a principal began until this mark is revoked. It does not depend on the key ring.
    pub fn mark(&self, principal: &Principal) -> String {
        let digest = match principal.parts() {
            None => digest::<16>(&["anonymous"]),
            Some(parts) => {
                let [issuer, client, subject] =
                    [parts.issuer, parts.client, parts.subject].map(Option::unwrap_or_default);
                digest::<16>(&["principal", issuer, client, subject])
            }
        };
        format!("{}:p:{digest}", self.0)
    }

    /// That it was used.
    pub fn used(&self, tag: Tag, id: &str) -> String {
        self.key('u', tag, id)
    }

    /// That it ended.
    pub fn ended(&self, tag: Tag, id: &str) -> String {
        self.key('e', tag, id)
    }

    /// The latest state of a session.
    pub fn head(&self, id: &str) -> String {
        self.key('h', Tag::Session, id)
    }

    /// When it was last seen.
    pub fn seen(&self, tag: Tag, id: &str) -> String {
        self.key('i', tag, id)
    }

    fn key(&self, what: char, tag: Tag, id: &str) -> String {
        format!("{}:{what}:{}:{id}", self.0, tag.letter())
    }
}

/// The first `N` bytes of a SHA-256 over texts, in hex.
fn digest<const N: usize>(pieces: &[&str]) -> String {
    let mut pieces: alloc::vec::Vec<_> = pieces.iter().map(|piece| piece.as_bytes()).collect();
    pieces.insert(0, b"sealwax ledger 1");
    let mut hash = Sha256::new();
    pae(&pieces, |bytes| hash.update(bytes));
    data_encoding::HEXLOWER.encode(&hash.finalize()[..N])
}
