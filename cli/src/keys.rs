//! `keys`: the three steps of a rotation in a file of keys, and whether the last one is safe.

use sealwax::{Key, KeyId};
use serde_json::Value;

use crate::failure::Failure;
use crate::input::{Input, Stop, line};
use crate::key_file::KeyFile;
use crate::options::wrong;
use crate::step::{Answer, Ask, Done, Write};
use crate::tokens::utf8;

/// What Prometheus is asked: how many tokens of each key were opened in the last day. `increase` alone would not count the
/// first tokens of a series, such as that of a replica that was started meanwhile. docs/monitoring/grafana.json has the same.
const QUERY: &str = r#"sum by (sealwax_key_id) ((max_over_time(sealwax_tokens_total{sealwax_event="opened"}[1d]) unless sealwax_tokens_total{sealwax_event="opened"} offset 1d) or increase(sealwax_tokens_total{sealwax_event="opened"}[1d]))"#;

pub(crate) fn add(input: &Input<'_>) -> Result<Done, Stop> {
    let (path, program) = (path(input)?, input.program());
    let found = read(input, true)?;
    let is_new = found.is_none();
    let mut file = found.unwrap_or_else(KeyFile::new);
    let key = Key::generate_in(input.environment)?;
    file.add(&key);
    let id = key.id();
    let said = if is_new {
        format!(
            "made {path}: key {id} seals and opens\n\
             next: give the file to every replica, and its path in SEALWAX_KEYS_FILE"
        )
    } else {
        format!(
            "added {id} to {path}: it opens, and does not seal yet\n\
             next: roll the file out\n\
             then, once every replica has it: {program} keys promote {path} {id}"
        )
    };
    replaced(path, &file, said)
}

pub(crate) fn promote(input: &Input<'_>) -> Result<Done, Stop> {
    let (path, program) = (path(input)?, input.program());
    let mut file = existing(input)?;
    let ids = file.ids();
    let named = named(input, &ids)?;
    if ids.len() == 1 {
        let why = format!("expected a second key in {path}, found {} alone", ids[0]);
        return Err(wrong("key-id", &why)
            .tip("`sealwax keys add FILE` adds one")
            .into());
    }
    let Some(id) = named.or_else(|| file.added()) else {
        // The last one may be the old key: it would seal again, and the one that seals would be retired next.
        let why = format!(
            "required: no key of {path} was added and not yet promoted; it has {}",
            listed(&ids)
        );
        return Err(wrong("key-id", &why).into());
    };
    if id == ids[0] {
        return Ok(Done::line(format!("{id} seals already")));
    }
    file.promote(id);
    let said = format!(
        "promoted {id} in {path}: it seals, and {old} opens what it sealed before\n\
         next: roll the file out\n\
         then, when nothing lives any more that {old} sealed ({program} keys status {path} says how to see it): \
         {program} keys retire {path} {old}",
        old = ids[0],
    );
    replaced(path, &file, said)
}

pub(crate) fn retire(input: &Input<'_>) -> Result<Done, Stop> {
    let path = path(input)?;
    let mut file = existing(input)?;
    let ids = file.ids();
    let named = named(input, &ids)?;
    let id = named.unwrap_or(ids[ids.len() - 1]);
    if named.is_none() && file.added() == Some(id) {
        let why = format!(
            "required: {id} was added to {path} and not yet promoted; it has {}",
            listed(&ids)
        );
        return Err(wrong("key-id", &why).into());
    }
    if id == ids[0] {
        let why = match ids.len() {
            1 => "expected a second key, which goes on sealing, found one",
            _ => "expected a key that does not seal: promote another one first",
        };
        return Err(wrong("key-id", &format!("{why}; {id} seals")).into());
    }
    file.retire(id);
    let said = format!(
        "retired {id} from {path}: replicas that have the file refuse what it sealed\n\
         next: roll the file out, and keep no copy of the old one"
    );
    replaced(path, &file, said)
}

/// A file of a secret may end in one line ending, as stdin may.
pub(crate) fn derive(input: &Input<'_>) -> Result<Done, Stop> {
    let secret = match input.options().text("secret-file") {
        None => input.stdin("the secret")?,
        Some(path) => input.file(path, path)?,
    };
    let secret = utf8(line(secret))?;
    Ok(Done::line(Key::derive(secret)?.id().to_string()))
}

pub(crate) fn status(input: &Input<'_>) -> Result<Done, Stop> {
    let (path, program) = (path(input)?, input.program());
    let Some(file) = read(input, false)? else {
        return Err(Failure::unread(path, &Answer::Absent).into());
    };
    let opened = match input.options().text("metrics") {
        Some(metrics) => Some(Opened::of(input, metrics)?),
        None => None,
    };
    let mut said = String::new();
    for (at, id) in file.ids().into_iter().enumerate() {
        let role = if at == 0 { "seals" } else { "opens" };
        said.push_str(&format!("{id}  {role}"));
        if let Some(opened) = &opened {
            said.push_str(&opened.told(id, at == 0));
        }
        said.push('\n');
    }
    said.push_str(&match opened {
        Some(_) => "\nA key whose tokens are used less often than daily looks unused: wait for the longest lifetime \
             that you give."
            .into(),
        None => format!(
            "\nWhich keys are in use, the guards' metrics tell. Give it the answer of Prometheus:\n  \
             curl -sG http://prometheus:9090/api/v1/query --data-urlencode 'query={QUERY}' |\n    \
             {program} keys status {path} --metrics -"
        ),
    });
    Ok(Done::line(said))
}

/// How many tokens were opened in the last day.
struct Opened {
    /// By the id of their key.
    by_key: Vec<(String, f64)>,
    /// Those that name no key: handles that are the key of a row.
    nameless: f64,
}

impl Opened {
    /// Asks for an answer of Prometheus, and reads it.
    fn of(input: &Input<'_>, metrics: &str) -> Result<Self, Stop> {
        let text = if metrics == "-" {
            input.stdin("the answer of Prometheus")?
        } else {
            input.file(metrics, &format!("--metrics {metrics}"))?
        };
        let expected = || {
            let why = "expected the JSON answer of Prometheus to the query that this command prints without it";
            wrong("metrics", why)
        };
        let answer: Value = serde_json::from_slice(text).map_err(|_| expected())?;
        let results = answer["data"]["result"].as_array().ok_or_else(expected)?;
        let mut opened = Self {
            by_key: Vec::new(),
            nameless: 0.0,
        };
        for result in results {
            let count = result["value"][1]
                .as_str()
                .and_then(|count| count.parse().ok());
            let count = count.filter(|count: &f64| count.is_finite());
            let count = count.ok_or_else(expected)?;
            match result["metric"]["sealwax_key_id"].as_str() {
                Some(key) => opened.by_key.push((key.to_owned(), count)),
                None => opened.nameless += count,
            }
        }
        Ok(opened)
    }

    /// Says how many tokens of a key were opened, and whether it can be retired.
    fn told(&self, id: KeyId, seals: bool) -> String {
        let id = id.to_string();
        let of = |(key, count): &(String, f64)| if *key == id { *count } else { 0.0 };
        // It is estimated between two scrapes, and may be less than one.
        let count = self.by_key.iter().map(of).sum::<f64>().ceil();
        let advice = if seals {
            ""
        } else if count > 0.0 {
            ": in use, do not retire it yet"
        } else if self.by_key.iter().all(|(_, count)| *count <= 0.0) {
            ", as of every key: not known to be safe, for the metrics may be missing"
        } else if self.nameless > 0.0 {
            ": safe to retire, but for handles that are the key of a row, which name no key"
        } else {
            ": safe to retire"
        };
        format!("  opened in the last day: {count:.0}{advice}")
    }
}

fn path<'a>(input: &Input<'a>) -> Result<&'a str, Failure> {
    input.options().required("file")
}

fn read(input: &Input<'_>, replaced: bool) -> Result<Option<KeyFile>, Stop> {
    let path = path(input)?;
    let ask = Ask::File {
        file: path.into(),
        replaced,
    };
    match input.ask(ask)? {
        Answer::Bytes(bytes) => {
            let file = utf8(bytes).and_then(|text| Ok(KeyFile::parse(text)?));
            Ok(Some(file.map_err(|failure| failure.found_in(path))?))
        }
        Answer::Absent => Ok(None),
        other => Err(Failure::unread(path, other).into()),
    }
}

fn existing(input: &Input<'_>) -> Result<KeyFile, Stop> {
    match read(input, true)? {
        Some(file) => Ok(file),
        None => {
            let failure = Failure::unread(path(input)?, &Answer::Absent);
            Err(failure.tip("`sealwax keys add FILE` makes one").into())
        }
    }
}

/// Returns the key that the user named.
fn named(input: &Input<'_>, ids: &[KeyId]) -> Result<Option<KeyId>, Failure> {
    let Some(named) = input.options().text("key-id") else {
        return Ok(None);
    };
    let found = ids.iter().copied().find(|id| id.to_string() == named);
    found.map(Some).ok_or_else(|| {
        let why = format!("expected one of {}, found {named:?}", listed(ids));
        wrong("key-id", &why)
    })
}

fn listed(ids: &[KeyId]) -> String {
    let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
    ids.join(", ")
}

/// Returns the file to write.
fn replaced(path: &str, file: &KeyFile, said: String) -> Result<Done, Stop> {
    let text = file.to_text()?;
    Ok(Done {
        write: Some(Write {
            path: path.into(),
            text,
        }),
        ..Done::line(said)
    })
}
