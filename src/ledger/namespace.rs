//! The keys of a ledger.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use sha2::{Digest, Sha256};

use super::command::{Command, Mode, Subject};
use crate::format::pae::pae;
use crate::{Error, Principal};

/// The prefix of all keys of one service's ledger. In a Redis Cluster they share one hash slot.
///
/// A [`Guard`](crate::mcp::Guard) makes the commands of requests; this type makes those of an
/// operator.
///
/// ```
/// use sealwax::Principal;
/// use sealwax::ledger::{Memory, Namespace};
///
/// let namespace = Namespace::new("https://mcp.example.com", "");
/// let mut memory = Memory::new(1 << 20, 1_800_000_000);
/// let revoke = namespace.revoke(&Principal::subject("alice"), None)?;
/// assert_eq!(memory.run(&revoke, 1_800_000_000)[0], "ok");
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Namespace(String);

/// The kinds of tokens that have an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tag {
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
}

impl Tag {
    fn letter(self) -> char {
        match self {
            Self::RequestState => 'r',
            Self::Handle => 'h',
            Self::HandleState => 'k',
            Self::Session => 's',
            Self::Transport => 't',
            Self::Cursor => 'c',
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

    /// Returns the first command to a store: a new ledger begins to remember.
    #[must_use]
    pub fn open(&self) -> Command {
        Command::open(self)
    }

    /// Signs a principal out everywhere: everything that began until now is refused. The ledger
    /// remembers it for [`CEILING`](super::CEILING), longer than anything lives. Shorter `lives`
    /// save space: the longest lifetime of anything that the service issues, now or later.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a principal without client and subject.
    pub fn revoke(&self, principal: &Principal, lives: Option<Duration>) -> Result<Command, Error> {
        principal.check()?;
        Ok(Command::revoke(self.mark(principal), lives))
    }

    /// Ends this id, as each of these kinds. `until` is the time from which it opens nowhere, in
    /// Unix seconds; `None` for ever.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] unless the id is 32 hex digits in lower case, as in a guard's
    /// log.
    pub fn end(&self, tags: &[Tag], id: &str, until: Option<u64>) -> Result<Command, Error> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if id.len() != 32 || !id.bytes().all(is_hex) {
            return Err(Error::argument(
                "id: expected 32 hex digits in lower case, as in the log",
            ));
        }
        let subject = |&tag| Subject {
            tag,
            id,
            mode: Mode::Force,
            issued_at: 0,
            started_at: 0,
            until,
        };
        let subjects: Vec<_> = tags.iter().map(subject).collect();
        // An unconditional end needs no principal's mark and no attempt.
        let mark = self.mark(&Principal::anonymous());
        Ok(Command::admit(
            self,
            &mark,
            "0000000000000000",
            Duration::ZERO,
            None,
            &subjects,
        ))
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

    /// Returns the key of a principal's mark: all that began until the mark's time is revoked. It
    /// does not depend on the key ring.
    pub(crate) fn mark(&self, principal: &Principal) -> String {
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
    pub(crate) fn used(&self, tag: Tag, id: &str) -> String {
        self.key('u', tag, id)
    }

    /// Returns the key of an end.
    pub(crate) fn ended(&self, tag: Tag, id: &str) -> String {
        self.key('e', tag, id)
    }

    /// Returns the key of a session's latest state.
    pub(crate) fn head(&self, id: &str) -> String {
        self.key('h', Tag::Session, id)
    }

    /// Returns the key of the time when it was last seen.
    pub(crate) fn seen(&self, tag: Tag, id: &str) -> String {
        self.key('i', tag, id)
    }

    fn key(&self, what: char, tag: Tag, id: &str) -> String {
        format!("{}:{what}:{}:{id}", self.0, tag.letter())
    }
}

/// Returns the first `N` bytes of a SHA-256 over texts, in hex.
fn digest<const N: usize>(pieces: &[&str]) -> String {
    let mut pieces: Vec<_> = pieces.iter().map(|piece| piece.as_bytes()).collect();
    pieces.insert(0, b"sealwax ledger 1");
    let mut hash = Sha256::new();
    pae(&pieces, |bytes| hash.update(bytes));
    data_encoding::HEXLOWER.encode(&hash.finalize()[..N])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Namespace, Tag};

    #[test]
    fn what_an_operator_ends_is_an_id_of_the_log() {
        let namespace = Namespace::new("https://mcp.example.com", "");
        let id = "0123456789abcdef0123456789abcdef";
        let end = namespace.end(&[Tag::Session, Tag::Transport], id, None);
        let keys = end.unwrap().keys;
        assert_eq!(keys.len(), 7, "{keys:?}");
        for wrong in ["", "0123", &id.to_uppercase(), &id.replace('f', "é")] {
            namespace.end(&[Tag::Session], wrong, None).unwrap_err();
        }
    }
}
