//! A ledger in the memory of one process.

use alloc::borrow::ToOwned as _;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use super::{Command, Judgement, Script, Write};

/// A ledger for one process. Other replicas do not see it, and a restart loses it.
///
/// Its size is limited, and it never forgets anything that is alive: without space, new records are
/// refused (`full`). Ends have a space of their own, so that a session can end however much was
/// used. In each space, one principal's records may take at most as much as stays free: half,
/// if it is alone. Revocations have space besides, a quarter as much, which no user can fill.
///
/// ```
/// use sealwax::Principal;
/// use sealwax::ledger::{Memory, Namespace};
///
/// let mut ledger = Memory::new(Memory::ROOM, 1_800_000_000); // the time in Unix seconds
/// // Sign out everywhere:
/// let namespace = Namespace::new("https://mcp.example.com", "");
/// let revoke = namespace.revoke(&Principal::subject("alice"), None)?;
/// assert_eq!(ledger.run(&revoke, 1_800_000_060)[0], "ok");
/// # Ok::<(), sealwax::Error>(())
/// ```
pub struct Memory {
    records: BTreeMap<String, Record>,
    /// The keys to remove, by their time.
    ends: BTreeSet<(u64, String)>,
    used: Room,
    ended: Room,
    /// The marks of revoked principals, which belong to the operator.
    marks: Room,
    began: String,
    fence: String,
}

struct Record {
    value: String,
    until: Option<u64>,
    owner: String,
}

/// The records of one space, in bytes, by principal.
#[derive(Debug, Default)]
struct Room {
    size: usize,
    kept: usize,
    owners: BTreeMap<String, usize>,
}

/// The approximate size of a record besides its key and value.
const OVERHEAD: usize = 160;

impl Memory {
    /// 64 MiB: about 250,000 used tokens.
    pub const ROOM: usize = 64 << 20;

    /// Returns a ledger of about this many bytes, which remembers from `now` on, in Unix seconds.
    ///
    /// Tokens made within that second count as known: an earlier process that ended in the same
    /// second goes unnoticed.
    #[must_use]
    pub fn new(room: usize, now: u64) -> Self {
        let now = now.saturating_sub(1);
        let part = |size| Room {
            size,
            ..Room::default()
        };
        Self {
            records: BTreeMap::new(),
            ends: BTreeSet::new(),
            used: part(room / 2),
            ended: part(room / 2),
            marks: part(room / 4),
            began: now.to_string(),
            fence: alloc::format!("{now} - {now}"),
        }
    }

    /// Runs a command at `now`, and returns the reply.
    pub fn run(&mut self, command: &Command, now: u64) -> Vec<String> {
        self.sweep(now);
        let keys = command.keys.iter();
        let values: Vec<_> = keys.map(|key| self.value(key)).collect();
        let Judgement { reply, writes } = command.judge(now, &values);
        let owner = self.owner(command);
        let (own, writes): (Vec<_>, Vec<_>) = writes
            .into_iter()
            .partition(|write| is_fence(&write.key) || is_began(&write.key));
        for Write { key, value, .. } in own {
            let kept = if is_fence(&key) {
                &mut self.fence
            } else {
                &mut self.began
            };
            *kept = value.unwrap_or_default();
        }
        if !self.fits(&writes, &owner) {
            return vec!["full".into()];
        }
        for write in writes {
            self.write(write, &owner);
        }
        reply
    }

    fn value(&self, key: &str) -> Option<&str> {
        if is_fence(key) {
            return Some(&self.fence);
        }
        // The ledger remembers since it was made, not since its first command.
        if is_began(key) {
            return Some(&self.began);
        }
        Some(&self.records.get(key)?.value)
    }

    /// Returns the principal's mark, whose space the command uses.
    fn owner(&self, command: &Command) -> String {
        let of = match command.script {
            Script::Admit => 2,
            _ => 0,
        };
        let key = command.keys.get(of).cloned().unwrap_or_default();
        match self.records.get(&key) {
            Some(head) if command.script == Script::Commit => head.owner.clone(),
            _ => key,
        }
    }

    fn fits(&self, writes: &[Write], owner: &str) -> bool {
        let rooms = [
            (Space::Used, &self.used),
            (Space::Ended, &self.ended),
            (Space::Marks, &self.marks),
        ];
        rooms.into_iter().all(|(space, room)| {
            let mine = writes.iter().filter(|write| Space::of(&write.key) == space);
            let (mut grows, mut shrinks) = (0, 0);
            for write in mine {
                if let Some(value) = &write.value {
                    grows += cost(&write.key, value);
                }
                if let Some(record) = self.records.get(&write.key) {
                    shrinks += cost(&write.key, &record.value);
                }
            }
            if grows <= shrinks {
                return true;
            }
            let free = room.size.saturating_sub(room.kept);
            if space == Space::Marks {
                return grows <= free + shrinks;
            }
            let own = room.owners.get(owner).copied().unwrap_or_default();
            own + (grows - shrinks) * 2 <= free + shrinks
        })
    }

    fn write(&mut self, write: Write, owner: &str) {
        let Write { key, value, until } = write;
        self.forget(&key);
        let Some(value) = value else { return };
        let owner = owner.to_owned();
        let cost = cost(&key, &value);
        let room = self.room(&key);
        room.kept += cost;
        *room.owners.entry(owner.clone()).or_default() += cost;
        if let Some(until) = until {
            self.ends.insert((until, key.clone()));
        }
        let record = Record {
            value,
            until,
            owner,
        };
        self.records.insert(key, record);
    }

    fn forget(&mut self, key: &str) {
        let Some(record) = self.records.remove(key) else {
            return;
        };
        if let Some(until) = record.until {
            self.ends.remove(&(until, key.into()));
        }
        let cost = cost(key, &record.value);
        let room = self.room(key);
        room.kept -= cost;
        if let Some(own) = room.owners.get_mut(&record.owner) {
            *own -= cost;
            if *own == 0 {
                room.owners.remove(&record.owner);
            }
        }
    }

    fn sweep(&mut self, now: u64) {
        while let Some((until, key)) = self.ends.first()
            && *until <= now
        {
            let key = key.clone();
            self.forget(&key);
        }
    }

    fn room(&mut self, key: &str) -> &mut Room {
        match Space::of(key) {
            Space::Used => &mut self.used,
            Space::Ended => &mut self.ended,
            Space::Marks => &mut self.marks,
        }
    }
}

/// The space of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    Used,
    Ended,
    Marks,
}

impl Space {
    /// Recognizes ends, `swl1:{…}:e:…`, and marks, `swl1:{…}:p:…`.
    fn of(key: &str) -> Self {
        match key.split(':').nth(2) {
            Some("e") => Self::Ended,
            Some("p") => Self::Marks,
            _ => Self::Used,
        }
    }
}

fn is_began(key: &str) -> bool {
    key.ends_with(":began")
}

fn is_fence(key: &str) -> bool {
    key.ends_with(":fence")
}

fn cost(key: &str, value: &str) -> usize {
    // The key is stored twice: with its end as well.
    2 * key.len() + value.len() + OVERHEAD
}

/// Shows the number of records, never their contents.
impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("records", &self.records.len())
            .finish_non_exhaustive()
    }
}
