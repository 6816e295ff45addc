//! A store of Redis: its records, its process, and the fence of LEDGER.md. All else is the core's.

use std::collections::BTreeMap;

use sealwax_mcp::ledger::{Command, Script, Write};

use crate::Fault;

/// A record's value and its end, if it has one.
pub type Record = (String, Option<u64>);

/// What tells one store from another, as `INFO` has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// `run_id`: another one in each process.
    pub run: String,
    /// `master_replid`: another one at each promotion.
    pub promotion: String,
    /// `evicted_keys`: since the process started.
    pub evicted: u64,
}

impl Process {
    /// RUN of LEDGER.md.
    fn text(&self) -> String {
        format!("{}.{}.{}", self.run, self.promotion, self.evicted)
    }

    /// How many keys this process had evicted when it wrote `run`; another one none.
    fn evicted_before(&self, run: &str) -> u64 {
        let of_this = run.strip_prefix(&self.run);
        let evicted = of_this.and_then(|rest| rest.rsplit_once('.')?.1.parse().ok());
        evicted.unwrap_or(0)
    }
}

/// A store that runs commands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    /// What it remembers, by key.
    pub records: BTreeMap<String, Record>,
    /// Its process.
    pub process: Process,
}

impl Store {
    /// Runs a command at `now`, the store's clock, and returns the reply.
    pub fn run(&mut self, command: &Command, now: u64, fault: Option<Fault>) -> Vec<String> {
        self.records
            .retain(|_, (_, until)| until.is_none_or(|until| until > now));
        let values = command
            .keys
            .iter()
            .map(|key| self.value(key).map(str::to_owned));
        let mut values: Vec<_> = values.collect();
        if matches!(command.script, Script::Open | Script::Admit) {
            match self.fence(&command.keys, now, fault) {
                Err(broken) => return broken,
                Ok((began, since, last)) => {
                    values[0] = Some(began.to_string());
                    // A fence in which the core finds nothing to do.
                    values[1] = Some(format!("{since} - {last}"));
                }
            }
        }
        let evaluated = as_before(command, &values, fault).evaluate(now, &values);
        for Write {
            key, value, until, ..
        } in evaluated.writes
        {
            match value {
                Some(value) => self.records.insert(key, (value, until)),
                None => self.records.remove(&key),
            };
        }
        evaluated.reply
    }

    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        self.records.get(key).map(|(value, _)| value.as_str())
    }

    /// The beginning, SINCE and LAST, after what `fence.lua` does.
    fn fence(
        &mut self,
        keys: &[String],
        now: u64,
        fault: Option<Fault>,
    ) -> Result<(u64, u64, u64), Vec<String>> {
        let broken = |at: usize| vec!["broken".to_owned(), keys[at].clone()];
        let began = match self.value(&keys[0]) {
            None => None,
            Some(text) => Some(number(text).ok_or_else(|| broken(0))?),
        };
        let fence = match self.value(&keys[1]) {
            None => None,
            Some(text) => Some(parts(text).ok_or_else(|| broken(1))?),
        };
        let is = |one: Fault| fault == Some(one);
        let run = self.process.text();
        let far = now + 300;
        let mut lost = began.is_none() || (fence.is_none() && !is(Fault::FenceAlone));
        let mut other = false;
        if let Some((_, of, last)) = &fence {
            other = *of != run && !is(Fault::NoProcess);
            lost |= *last > far && !is(Fault::NoClock);
            lost |=
                self.process.evicted_before(of) != self.process.evicted && !is(Fault::NoEvictions);
        }
        let (since, last) = match &fence {
            Some((since, _, last)) if !lost && !other => (*since, Some(*last)),
            Some((since, _, last)) => {
                // The clock of another process may be behind.
                let least = if other { *last } else { 0 };
                ((*since).max(now).max(least), None)
            }
            None => (now, None),
        };
        let latest = match &fence {
            Some((.., last)) if !lost && !is(Fault::NoClock) && !is(Fault::LastGoesBack) => {
                now.max(*last)
            }
            _ => now,
        };
        let began = match began {
            Some(began) if !lost => began,
            None if is(Fault::NoBeginning) && !self.records.is_empty() => 0,
            began => began.unwrap_or(0).max(now),
        };
        self.records
            .insert(keys[0].clone(), (began.to_string(), None));
        if last.is_none_or(|last| last != latest) {
            self.records
                .insert(keys[1].clone(), (format!("{since} {run} {latest}"), None));
        }
        Ok((began, since, latest))
    }
}

/// The command, so that the core evaluates it as it did with the faults that this model found in it.
fn as_before(command: &Command, values: &[Option<String>], fault: Option<Fault>) -> Command {
    let mut command = command.clone();
    let known = match fault {
        Some(Fault::HeadIsKnown) => {
            let head = values
                .get(3)
                .and_then(Option::as_deref)
                .and_then(|head| head.split(' ').next());
            command.args.get(3).is_some_and(|mode| mode == "head")
                && head == command.args.get(7).map(String::as_str)
        }
        Some(Fault::KnownByIssue) => true,
        _ => false,
    };
    // What was issued since the time `accept` counts as known.
    if let (true, Script::Admit, Some(Ok(began))) = (
        known,
        command.script,
        values[0].as_ref().map(|began| began.parse::<u64>()),
    ) {
        let tolerance: u64 = command.args[1].parse().unwrap_or_default();
        let since = if fault == Some(Fault::HeadIsKnown) {
            1
        } else {
            began + tolerance + 1
        };
        command.args[2] = since.to_string();
    }
    command
}

/// SINCE, RUN and LAST.
fn parts(fence: &str) -> Option<(u64, String, u64)> {
    let parts: Vec<_> = fence.split(' ').collect();
    let [since, run, last] = parts[..] else {
        return None;
    };
    (!run.is_empty()).then_some((number(since)?, run.to_owned(), number(last)?))
}

fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}
