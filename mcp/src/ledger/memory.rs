//! A ledger in the memory of one process.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use super::{Command, Evaluation, Script, Write};

/// A ledger for one process. Other replicas do not see it, and a restart loses it.
///
/// Its size is limited, and it never forgets anything that is alive: without space, new records are
/// refused (`full`). Ends have a space of their own, so that a session can end however much was
/// used. In each space, one principal's records may take at most as much as stays free: half,
/// if it is alone. Revocations have space besides, a quarter as much, which no user can fill.
///
/// ```
/// use sealwax::Principal;
/// use sealwax_mcp::ledger::{Memory, Namespace};
///
/// let mut ledger = Memory::new(Memory::CAPACITY, 1_800_000_000); // the time in Unix seconds
/// // Sign out everywhere:
/// let namespace = Namespace::new("https://mcp.example.com", "");
/// let revoke = namespace.revoke(&Principal::subject("alice"), None, 1_800_000_000)?;
/// assert_eq!(ledger.run(&revoke, 1_800_000_060)[0], "ok");
/// # Ok::<(), sealwax::Error>(())
/// ```
pub struct Memory {
    records: HashMap<String, Record>,
    /// The keys to remove, by their time.
    ends: BTreeSet<(u64, String)>,
    /// By [`Space`].
    spaces: [Usage; 3],
    began: String,
    fence: String,
}

struct Record {
    value: String,
    until: Option<u64>,
    owner: String,
}

/// How much of a space is taken, in bytes.
#[derive(Debug)]
struct Usage {
    capacity: usize,
    taken: usize,
    by_owner: HashMap<String, usize>,
}

/// The approximate size of a record besides its key and value.
const OVERHEAD: usize = 160;

impl Memory {
    /// 64 MiB: about 250,000 used tokens.
    pub const CAPACITY: usize = 64 << 20;

    /// Returns a ledger of about this many bytes, which remembers from `now` on, in Unix seconds.
    ///
    /// Tokens made within that second count as known: an earlier process that ended in the same
    /// second goes unnoticed.
    #[must_use]
    pub fn new(capacity: usize, now: u64) -> Self {
        let now = now.saturating_sub(1);
        let usage = |part| Usage {
            capacity: capacity / part,
            taken: 0,
            by_owner: HashMap::new(),
        };
        Self {
            records: HashMap::new(),
            ends: BTreeSet::new(),
            spaces: [usage(2), usage(2), usage(4)],
            began: now.to_string(),
            fence: format!("{now} - {now}"),
        }
    }

    /// Runs a command at `now`, and returns the reply.
    pub fn run(&mut self, command: &Command, now: u64) -> Vec<String> {
        self.sweep(now);
        let keys = command.keys.iter();
        let values: Vec<_> = keys.map(|key| self.value(key)).collect();
        let Evaluation { reply, writes } = command.evaluate(now, &values);
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

    /// Returns the key of the principal, whose space the command uses.
    fn owner(&self, command: &Command) -> String {
        let of = match command.script {
            Script::Admit => 2,
            _ => 0,
        };
        let key = command.keys.get(of).cloned().unwrap_or_default();
        match self.records.get(&key) {
            Some(latest) if command.script == Script::Commit => latest.owner.clone(),
            _ => key,
        }
    }

    fn fits(&self, writes: &[Write], owner: &str) -> bool {
        [Space::Used, Space::Ended, Space::Marks]
            .into_iter()
            .all(|space| {
                let usage = &self.spaces[space as usize];
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
                let free = usage.capacity.saturating_sub(usage.taken);
                if space == Space::Marks {
                    return grows <= free + shrinks;
                }
                let own = usage.by_owner.get(owner).copied().unwrap_or_default();
                own + (grows - shrinks) * 2 <= free + shrinks
            })
    }

    fn write(&mut self, write: Write, owner: &str) {
        let Write { key, value, until } = write;
        self.forget(&key);
        let Some(value) = value else { return };
        let owner = owner.to_owned();
        let cost = cost(&key, &value);
        let usage = self.usage(&key);
        usage.taken += cost;
        *usage.by_owner.entry(owner.clone()).or_default() += cost;
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
        let usage = self.usage(key);
        usage.taken -= cost;
        if let Some(own) = usage.by_owner.get_mut(&record.owner) {
            *own -= cost;
            if *own == 0 {
                usage.by_owner.remove(&record.owner);
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

    fn usage(&mut self, key: &str) -> &mut Usage {
        &mut self.spaces[Space::of(key) as usize]
    }
}

/// The space of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    Used,
    Ended,
    /// The marks of revoked principals, which belong to the operator.
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

#[cfg(test)]
mod tests {
    use super::{Memory, OVERHEAD, Write, cost};

    #[test]
    fn what_is_replaced_may_grow_into_half_of_what_is_free_and_a_mark_into_all() {
        let mut memory = Memory::new(Memory::CAPACITY, 0);
        for (key, free, by, fits) in [
            ("swl1:{a}:u:k", 2, 1, true),
            ("swl1:{a}:u:k", 1, 1, false),
            ("swl1:{a}:u:k", 0, 0, true),
            ("swl1:{a}:u:k", 9, 5, false),
            ("swl1:{a}:p:k", 5, 5, true),
            ("swl1:{a}:p:k", 4, 5, false),
        ] {
            let write = |value: usize| Write {
                key: key.into(),
                value: Some("x".repeat(value)),
                until: None,
            };
            memory.write(write(1), "alice");
            let usage = memory.usage(key);
            usage.capacity = usage.taken + free;
            assert_eq!(memory.fits(&[write(1 + by)], "alice"), fits, "{key} {free}");
        }
        assert_eq!(cost("key", "value"), 2 * 3 + 5 + OVERHEAD);
    }
}
