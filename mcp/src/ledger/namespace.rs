//! The keys of a ledger.

use sha2::{Digest, Sha256};

use sealwax::Principal;

/// The prefix of all keys of one service's ledger. In a Redis Cluster they share one hash slot.
///
/// A [`Guard`](crate::Guard) makes the commands of requests; this type makes those of an
/// operator.
///
/// ```
/// use sealwax::Principal;
/// use sealwax_mcp::ledger::{Memory, Namespace};
///
/// let namespace = Namespace::new("https://mcp.example.com", "");
/// let mut memory = Memory::new(1 << 20, 1_800_000_000);
/// let revoke = namespace.revoke(&Principal::subject("alice"), None, 1_800_000_000)?;
/// assert_eq!(memory.run(&revoke, 1_800_000_000)[0], "ok");
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Namespace(String);

/// The kinds of tokens that have an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordKind {
    /// A `requestState`.
    RequestState,
    /// A handle that is the key of a row.
    Handle,
    /// A handle that holds its state.
    HandleState,
    /// A data-layer session.
    Session,
    /// A session of the transport.
    Transport,
    /// A cursor of a page that is not public.
    Cursor,
    /// A link.
    Link,
}

impl RecordKind {
    fn letter(self) -> char {
        match self {
            Self::RequestState => 'r',
            Self::Handle => 'h',
            Self::HandleState => 'k',
            Self::Session => 's',
            Self::Transport => 't',
            Self::Cursor => 'c',
            Self::Link => 'l',
        }
    }
}

impl Namespace {
    /// Returns the namespace of the service `audience`; `label` is empty unless one service has two
    /// ledgers.
    #[must_use]
    pub fn new(audience: &str, label: &str) -> Self {
        let digest = digest::<8>(&["ledger", audience, label]);
        Self(format!("swl1:{{{digest}}}"))
    }

    /// Returns the key of the start of the ledger's memory.
    #[must_use]
    pub fn began(&self) -> String {
        format!("{}:began", self.0)
    }

    /// Returns the key of the last time at which the ledger may have forgotten something.
    #[must_use]
    pub fn fence(&self) -> String {
        format!("{}:fence", self.0)
    }

    /// Returns the key of a principal's hash: all that began until the time that it holds is revoked. It
    /// does not depend on the key ring.
    pub(crate) fn principal_key(&self, principal: &Principal) -> String {
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

    /// Returns the key of a use.
    pub(crate) fn used(&self, kind: RecordKind, id: &str) -> String {
        self.key('u', kind, id)
    }

    /// Returns the key of an end.
    pub(crate) fn ended(&self, kind: RecordKind, id: &str) -> String {
        self.key('e', kind, id)
    }

    /// Returns the key of a session's latest state.
    pub(crate) fn latest(&self, id: &str) -> String {
        self.key('h', RecordKind::Session, id)
    }

    /// Returns the key of the time when it was last seen.
    pub(crate) fn seen(&self, kind: RecordKind, id: &str) -> String {
        self.key('i', kind, id)
    }

    fn key(&self, what: char, kind: RecordKind, id: &str) -> String {
        format!("{}:{what}:{}:{id}", self.0, kind.letter())
    }
}

/// Returns the first `N` bytes of a SHA-256 over the PAE of texts (SPEC.md), in hex.
fn digest<const N: usize>(pieces: &[&str]) -> String {
    let mut pieces: Vec<_> = pieces.iter().map(|piece| piece.as_bytes()).collect();
    pieces.insert(0, b"sealwax ledger 1");
    let mut hash = Sha256::new();
    hash.update((pieces.len() as u64).to_le_bytes());
    for piece in pieces {
        hash.update((piece.len() as u64).to_le_bytes());
        hash.update(piece);
    }
    base16ct::lower::encode_string(&hash.finalize()[..N])
}
