//! Changes to a message that leaves. What they do not concern keeps its bytes.

use std::ops::Range;

use super::spans::{is_json, sent, string};
use crate::message::json;
use crate::reply::set::{Set, SetValue};

/// A message of a server.
pub(crate) struct Leaving<'t> {
    pub text: &'t str,
    /// The id, if it is an answer.
    pub id: Option<&'t str>,
    pub is_answer: bool,
    /// The result, if it is an object.
    result: Option<Range<usize>>,
    pub is_error: bool,
}

impl<'t> Leaving<'t> {
    /// Reads a message; `None` for what is none.
    pub fn read(text: &'t str) -> Option<Self> {
        if !is_json(text) {
            return None;
        }
        let object = sent(text, &(0..text.len()), ["id", "method", "result", "error"])?;
        let [id, method, result, error] = object.members;
        let of = |place: Range<usize>| text.get(place).unwrap_or_default();
        let is_answer = method.is_none();
        let result = result.map(|member| member.value);
        Some(Self {
            text,
            id: id.map(|id| of(id.value)).filter(|_| is_answer),
            is_answer,
            result: result.filter(|place| of(place.clone()).starts_with('{')),
            is_error: error.is_some(),
        })
    }

    /// Returns its result, as JSON.
    pub fn result(&self) -> Option<&'t str> {
        self.text.get(self.result.clone()?)
    }

    /// Returns whether it answers the request with an id.
    pub fn answers(&self, id: Option<&str>) -> bool {
        let (Some(ours), Some(asked)) = (self.id, id) else {
            return false;
        };
        key(ours) == key(asked)
    }

    /// Returns it with changes to its result.
    pub fn changed(&self, changes: &[Set<'_>]) -> Option<String> {
        let start = self.result.clone()?.start;
        let mut text = self.text.to_owned();
        for Set(path, value) in changes {
            // It is read to its own end.
            let place = start..text.len();
            text = set(&text, &place, path, &written(value))?;
        }
        Some(text)
    }

    /// Returns it with the session that it belongs to, if there is one, and where it has a place for it.
    pub fn in_session(&self, session_id: Option<String>) -> String {
        let changed = session_id.and_then(|session_id| self.with_session(&session_id));
        changed.unwrap_or_else(|| self.text.into())
    }

    /// Returns it with the session of SEP-1359: inside a result, or beside the method.
    pub fn with_session(&self, session_id: &str) -> Option<String> {
        let place = match self.is_answer {
            true => self.result.clone()?,
            false => 0..self.text.len(),
        };
        let session_id = json::written(&session_id.into());
        set(self.text, &place, &["sessionId"], &session_id)
    }
}

/// Returns what two spellings of an id have in common.
pub(crate) fn key(id: &str) -> String {
    string(id).map_or_else(
        || id.to_owned(),
        |text| json::written(&text.as_ref().into()),
    )
}

fn written(value: &SetValue<'_>) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Sets a member of an object, and makes the objects on the way where there are none.
fn set(text: &str, at: &Range<usize>, path: &[&str], value: &str) -> Option<String> {
    let (name, inner) = path.split_first()?;
    let object = sent(text, at, [*name])?;
    let made = || {
        let closing = "}".repeat(inner.len());
        let opening = inner.iter().map(|name| format!("{{\"{name}\":"));
        opening
            .chain([value.to_owned(), closing])
            .collect::<String>()
    };
    let [member] = object.members;
    let (place, new) = match member {
        Some(member) => {
            if !inner.is_empty() && text.get(member.value.clone())?.starts_with('{') {
                return set(text, &member.value, inner, value);
            }
            (member.value, made())
        }
        None => {
            let comma = if object.is_empty { "" } else { "," };
            let first = format!("\"{name}\":{}{comma}", made());
            (object.open..object.open, first)
        }
    };
    let mut changed = text.to_owned();
    changed.replace_range(place, &new);
    Some(changed)
}
