//! The names of what a ledger remembers.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use sha2::{Digest, Sha256};

use super::command::{Command, Mode, Subject};
use crate::format::pae::pae;
use crate::{Error, Principal};

/// The ledger of one service: what stands before each key. In a Redis Cluster all of them lie together.
///
/// A [`Guard`](crate::mcp::Guard) makes the commands of requests. Those of an operator are made here.
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

/// The kinds of what has an id of its own.
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
    /// Of the service `audience`; `label` is empty unless it tells apart two ledgers of one service.
    #[must_use]
    pub fn new(audience: &str, label: &str) -> Self {
        let digest = digest::<8>(&["ledger", audience, label]);
        Self(format!("swl1:{{{digest}}}"))
    }

    /// What is asked first: the ledger begins to remember, if it is new.
    #[must_use]
    pub fn open(&self) -> Command {
        Command::open(self)
    }

    /// Signs a principal out everywhere: whatever began until now is refused. The ledger keeps that for as long
    /// as `lives`, which is the longest life of anything that the service gives out; `None` for ever.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a principal that is nobody.
    pub fn revoke(&self, principal: &Principal, lives: Option<Duration>) -> Result<Command, Error> {
        principal.check()?;
        Ok(Command::revoke(self.mark(principal), lives))
    }

    /// Ends what has this id, of each of these kinds. `until` is when nothing of it opens any longer, in Unix
    /// seconds; `None` for ever.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for what is no id: 32 hex digits in lower case, as a guard's log has them.
    pub fn end(&self, tags: &[Tag], id: &str, until: Option<u64>) -> Result<Command, Error> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if id.len() != 32 || !id.bytes().all(is_hex) {
            return Err(Error::argument(
                "id: expected 32 hex digits in lower case, as the log has them",
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
        // Nobody's mark and no attempt count for what ends in any case.
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

    /// The key of since when the ledger remembers.
    #[must_use]
    pub fn began(&self) -> String {
        format!("{}:began", self.0)
    }

    /// The key of up to when it may have forgotten something.
    #[must_use]
    pub fn fence(&self) -> String {
        format!("{}:fence", self.0)
    }

    /// Whatever of a principal began until this mark is revoked. It does not depend on the key ring.
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

    /// That it was used.
    pub(crate) fn used(&self, tag: Tag, id: &str) -> String {
        self.key('u', tag, id)
    }

    /// That it ended.
    pub(crate) fn ended(&self, tag: Tag, id: &str) -> String {
        self.key('e', tag, id)
    }

    /// The latest state of a session.
    pub(crate) fn head(&self, id: &str) -> String {
        self.key('h', Tag::Session, id)
    }

    /// When it was last seen.
    pub(crate) fn seen(&self, tag: Tag, id: &str) -> String {
        self.key('i', tag, id)
    }

    fn key(&self, what: char, tag: Tag, id: &str) -> String {
        format!("{}:{what}:{}:{id}", self.0, tag.letter())
    }
}

/// The first `N` bytes of a SHA-256 over texts, in hex.
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
