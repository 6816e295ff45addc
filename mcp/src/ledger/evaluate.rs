//! The meaning of each command, for stores with transactions and for [`Memory`](super::Memory). The
//! Lua scripts do the same; `tests/vectors/ledger.json` and a model compare the two.

use serde::Serialize;

use super::command::{TOKEN, TOKENS};
use super::{CEILING, Command, LARGEST_CLOCK_TOLERANCE, Script};

/// The effect of a command on a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Evaluation {
    /// The reply: a verdict, and its details.
    pub reply: Vec<String>,
    /// The writes to do before replying, in the same transaction.
    pub writes: Vec<Write>,
}

/// A value to store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Write {
    /// The key.
    pub key: String,
    /// The value; `None` deletes it.
    pub value: Option<String>,
    /// The time of its removal, in Unix seconds; `None` for never.
    pub until: Option<u64>,
}

impl Command {
    /// Evaluates the command in a store's transaction: at `now`, the store's own clock in Unix
    /// seconds, and by the unexpired values of the [`keys`](Self::keys), in their order.
    #[must_use]
    pub fn evaluate<V: AsRef<str>>(&self, now: u64, values: &[Option<V>]) -> Evaluation {
        let mut case = Case {
            command: self,
            values: values
                .iter()
                .map(|value| value.as_ref().map(AsRef::as_ref))
                .collect(),
            now,
            writes: Vec::new(),
        };
        let verdict = match self.script {
            _ if !self.is_whole(values.len()) => Err(one("unsupported")),
            Script::Open => case.open(),
            Script::Admit => case.admit(),
            Script::Commit => case.commit(),
            Script::Revoke => case.revoke(),
        };
        let reply = verdict.unwrap_or_else(|refusal| refusal);
        let writes = case.writes;
        Evaluation { reply, writes }
    }

    fn is_whole(&self, values: usize) -> bool {
        let (keys, args) = (self.keys.len(), self.args.len());
        values == keys
            && match self.script {
                Script::Open => keys == 2,
                Script::Admit => {
                    keys >= 3 && keys % 2 == 1 && args == TOKENS + (keys - 3) / 2 * TOKEN
                }
                Script::Commit => (keys, args) == (2, 5),
                Script::Revoke => (keys, args) == (1, 2),
            }
    }
}

struct Case<'c> {
    command: &'c Command,
    values: Vec<Option<&'c str>>,
    now: u64,
    writes: Vec<Write>,
}

type Texts = Vec<String>;

/// The start of the ledger's memory, and the last time at which it may have forgotten something.
struct Fence {
    began: u64,
    since: u64,
    /// The latest time of the clock, by which records were deleted.
    last: u64,
}

/// The latest state of a session.
struct Latest<'c> {
    token: &'c str,
    generation: u64,
    until: u64,
    state: &'c str,
}

impl<'c> Case<'c> {
    fn open(&mut self) -> Result<Texts, Texts> {
        let Fence { began, since, .. } = self.fence()?;
        let now = self.now;
        Ok(vec![
            "ok".into(),
            began.to_string(),
            since.to_string(),
            now.to_string(),
            "0".into(),
        ])
    }

    fn admit(&mut self) -> Result<Texts, Texts> {
        let fence = self.fence()?;
        let revoked = self.number(2)?.unwrap_or_default();
        let before = self.writes.len();
        let count = (self.values.len().saturating_sub(3)) / 2;
        for at in 0..count {
            if let Err(refusal) = self.token(at, &fence, revoked) {
                // Nothing is used up unless all tokens pass.
                self.writes.truncate(before);
                return Err(refusal);
            }
        }
        Ok(ok())
    }

    fn token(&mut self, at: usize, fence: &Fence, revoked: u64) -> Result<(), Texts> {
        let (state, ended) = (3 + 2 * at, 4 + 2 * at);
        let arg = TOKENS + TOKEN * at;
        let attempt = self.arg(0);
        let clock_tolerance = self.seconds(1)?;
        let accept_issued_since = self.seconds(2)?;
        let mode = self.arg(arg);
        let [issued, started, until] = [1, 2, 3].map(|place| self.seconds(arg + place));
        let (issued, started, until) = (issued?, started?, until?);
        let (now, refuse) = (self.now, |verdict: &str| {
            vec![verdict.to_owned(), at.to_string()]
        });
        let until = match until {
            0 => None,
            until if until <= fence.last => return Err(refuse("expired")),
            until => Some(until),
        };
        if mode == "force" {
            self.end(state, ended, until);
            return Ok(());
        }
        if started.saturating_add(CEILING.as_secs()) <= self.now {
            return Err(refuse("expired"));
        }
        if let Some(by) = self.values[ended]
            && !(mode == "end" && by == attempt)
        {
            return Err(refuse("ended"));
        }
        if revoked != 0 && started <= revoked.saturating_add(clock_tolerance) {
            return Err(refuse("revoked"));
        }
        if issued > self.now.saturating_add(clock_tolerance) {
            return Err(refuse("ahead"));
        }
        // Says for how long the ledger has known, so that the log shows a ledger that has just begun.
        let unknown = |known: u64| {
            let mut reply = refuse("unknown");
            reply.push(now.saturating_sub(known).to_string());
            reply
        };
        // By the start: what was renewed since may have ended or been revoked before.
        let forgotten = started <= fence.began.saturating_add(clock_tolerance)
            && !(accept_issued_since != 0 && issued >= accept_issued_since);
        match mode {
            "once" => match self.values[state] {
                Some(by) if by == attempt => {}
                Some(_) => return Err(refuse("used")),
                None if issued <= fence.since.saturating_add(clock_tolerance) => {
                    return Err(unknown(fence.since));
                }
                None => self.write(state, attempt.to_owned(), until),
            },
            "unused" if self.values[state].is_some() => return Err(refuse("used")),
            "unused" | "live" | "end" | "idle" if forgotten => return Err(unknown(fence.began)),
            "unused" | "live" => {}
            "end" => self.end(state, ended, until),
            "idle" => {
                let idle = self.seconds(arg + 4)?;
                let seen = self.number(state)?.unwrap_or(issued).max(issued);
                if self.now > seen.saturating_add(idle) {
                    return Err(refuse("ended"));
                }
                let unseen = self.values[state].is_none();
                // Written at intervals, not at every request.
                if unseen || self.now >= seen.saturating_add(idle.div_ceil(10)) {
                    let until = self.now.saturating_add(idle).saturating_add(1);
                    self.write(state, self.now.to_string(), Some(until));
                }
            }
            "head" => {
                let (token, generation) = (self.arg(arg + 4), self.seconds(arg + 5)?);
                let sent = Latest {
                    token,
                    generation,
                    until: until.unwrap_or_default(),
                    state: self.arg(arg + 6),
                };
                match self.latest(state)? {
                    // It may be the latest one, and its principal's revocation is lost.
                    _ if forgotten => return Err(unknown(fence.began)),
                    Some(latest) if latest.token == token => {}
                    Some(latest) if generation <= latest.generation => {
                        let mut reply = refuse("stale");
                        reply.extend(latest.texts());
                        return Err(reply);
                    }
                    latest => self.put_latest(state, &sent, latest.as_ref()),
                }
            }
            _ => return Err(one("unsupported")),
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<Texts, Texts> {
        if self.values[1].is_some() {
            return Ok(one("ended"));
        }
        let (seen, generation, token) = (self.arg(0), self.seconds(1)?, self.arg(2));
        let until = self.seconds(3)?;
        if until != 0 && until <= self.now {
            return Ok(one("expired"));
        }
        let state = self.arg(4);
        match self.latest(0)? {
            // An earlier try has written this state.
            Some(latest) if latest.token == token => {}
            Some(latest) if latest.token == seen => {
                let next = Latest {
                    token,
                    generation: generation.saturating_add(1),
                    until,
                    state,
                };
                self.put_latest(0, &next, Some(&latest));
            }
            Some(latest) if latest.generation >= generation => {
                let mut reply = one("stale");
                reply.extend(latest.texts());
                return Ok(reply);
            }
            // The admitted state is gone: the store has forgotten.
            _ => return Ok(one("lost")),
        }
        Ok(ok())
    }

    fn revoke(&mut self) -> Result<Texts, Texts> {
        let (revoked, asked) = (self.number(0)?.unwrap_or_default(), self.seconds(1)?);
        // By the time of a store that is behind, what began since would not be revoked.
        if asked > self.now.saturating_add(LARGEST_CLOCK_TOLERANCE) {
            return Err(one("ahead"));
        }
        let revoked = revoked.max(self.now).max(asked);
        let until = match self.seconds(0)? {
            0 => None,
            retain_for => Some(revoked.saturating_add(retain_for)),
        };
        self.write(0, revoked.to_string(), until);
        Ok(ok())
    }

    /// Reads the start of the ledger's memory. In these stores only the clock shows that something
    /// was forgotten: a clock that was ahead dropped records too early. What had an end by then is
    /// refused; if the clock went back beyond the margin, everything before is.
    fn fence(&mut self) -> Result<Fence, Texts> {
        let began = self.number(0)?;
        let kept = match self.values[1] {
            Some(fence) => {
                let parts: Vec<_> = fence.split(' ').collect();
                let [since, run, last] = parts[..] else {
                    return Err(self.broken(1));
                };
                let kept = number(since).zip(number(last));
                let kept = kept.filter(|_| !run.is_empty() && is_word(run));
                Some(kept.ok_or_else(|| self.broken(1))?)
            }
            None => None,
        };
        let now = self.now;
        let far = now.saturating_add(LARGEST_CLOCK_TOLERANCE);
        // Both are written at once: where one is missing, others may be.
        let lost = began.is_none() || kept.is_none_or(|(_, last)| last > far);
        let (since, last) = match kept {
            Some((since, last)) if !lost => (since, last),
            // Neither time ever goes back: a loss is permanent.
            kept => (kept.map_or(now, |(since, _)| since.max(now)), 0),
        };
        let began = match began {
            Some(began) if !lost => began,
            began => {
                let began = began.map_or(now, |began| began.max(now));
                self.write(0, began.to_string(), None);
                began
            }
        };
        if now > last {
            self.write(1, format!("{since} - {now}"), None);
        }
        let last = last.max(now);
        Ok(Fence { began, since, last })
    }

    fn latest(&self, at: usize) -> Result<Option<Latest<'c>>, Texts> {
        let Some(value) = self.values[at] else {
            return Ok(None);
        };
        let parts: Vec<_> = value.split(' ').collect();
        if let [token, generation, until, state] = parts[..]
            && let (Some(generation), Some(until)) = (number(generation), number(until))
            && is_word(token)
            && is_word(state)
        {
            return Ok(Some(Latest {
                token,
                generation,
                until,
                state,
            }));
        }
        Err(self.broken(at))
    }

    /// Writes the latest state; it lives until the latest end of all states it ever had.
    fn put_latest(&mut self, at: usize, latest: &Latest<'_>, before: Option<&Latest<'_>>) {
        let until = match before.map_or(latest.until, |before| before.until) {
            0 => 0,
            _ if latest.until == 0 => 0,
            before => before.max(latest.until),
        };
        let Latest {
            token,
            generation,
            state,
            ..
        } = latest;
        let value = format!("{token} {generation} {until} {state}");
        self.write(at, value, (until != 0).then_some(until));
    }

    fn end(&mut self, state: usize, ended: usize, until: Option<u64>) {
        self.write(ended, self.arg(0).to_owned(), until);
        if self.command.keys[state] != self.command.keys[ended] {
            let key = self.command.keys[state].clone();
            let (value, until) = (None, None);
            self.writes.push(Write { key, value, until });
        }
    }

    fn write(&mut self, at: usize, value: String, until: Option<u64>) {
        self.writes.push(Write {
            key: self.command.keys[at].clone(),
            value: Some(value),
            until,
        });
    }

    fn arg(&self, at: usize) -> &'c str {
        self.command.args.get(at).map_or("", String::as_str)
    }

    fn seconds(&self, at: usize) -> Result<u64, Texts> {
        number(self.arg(at)).ok_or_else(|| one("unsupported"))
    }

    fn number(&self, at: usize) -> Result<Option<u64>, Texts> {
        match self.values[at].map(number) {
            None => Ok(None),
            Some(Some(number)) => Ok(Some(number)),
            Some(None) => Err(self.broken(at)),
        }
    }

    /// Refuses: the value under this key has another form than the ledger's.
    fn broken(&self, at: usize) -> Texts {
        vec!["broken".into(), self.command.keys[at].clone()]
    }
}

impl Latest<'_> {
    fn texts(&self) -> [String; 3] {
        [self.token, &self.generation.to_string(), self.state].map(Into::into)
    }
}

/// Replies that no replica has to confirm the command.
fn ok() -> Texts {
    vec!["ok".into(), "0".into()]
}

fn one(verdict: &str) -> Texts {
    vec![verdict.into()]
}

/// Returns whether a part of a value has none of what Lua's `%s` matches.
fn is_word(text: &str) -> bool {
    !text
        .bytes()
        .any(|byte| matches!(byte, b' ' | b'\t'..=b'\r'))
}

/// Reads decimal digits only, as the ledger writes them.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}
