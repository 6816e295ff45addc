//! The tools that a server marks as destructive, as its own lists say.

use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::confirm::LONGEST_TITLE;
use sealwax::Principal;

/// Confirms each tool that its server marks as destructive.
#[derive(Debug)]
pub(crate) struct Destructive {
    /// As [`Confirm::preview`](crate::Confirm::preview).
    pub preview: bool,
    /// The lists of the most recent callers: what one may see says nothing of what another may.
    known: Mutex<Vec<Known>>,
}

#[derive(Debug)]
struct Known {
    principal: Arc<Principal>,
    /// The end of its time, in Unix milliseconds.
    until: u64,
    tools: Vec<Tool>,
}

/// How long a list counts, in milliseconds.
const AGE: u64 = 60_000;

/// How many tools a list may have, and how many are kept of all callers together.
pub(crate) const MOST: usize = 4_096;

/// A tool of a list.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    name: String,
    /// What a user reads.
    pub title: String,
    pub is_destructive: bool,
    pub shape: Shape,
}

/// What else a list says of a tool that is confirmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// It has a page of its own, which a client shows in place of the card.
    pub has_page: bool,
    /// It has an output schema: a client refuses a result without what that says, unless the result is an error.
    pub has_schema: bool,
}

impl Shape {
    #[inline(never)]
    pub fn of(tool: &Value) -> Self {
        let meta = tool.get("_meta");
        let ui = meta.and_then(|meta| meta.get("ui"));
        let page = ui.and_then(|ui| ui.get("resourceUri"));
        // The name of earlier versions.
        let former = meta.and_then(|meta| meta.get("ui/resourceUri"));
        Self {
            has_page: page.or(former).is_some(),
            has_schema: tool.get("outputSchema").is_some_and(Value::is_object),
        }
    }
}

impl Tool {
    /// Reads a tool of a list, unless it has no name.
    #[inline(never)]
    pub fn read(tool: &Value) -> Option<Self> {
        let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).map(String::from);
        let name = text(tool, "name")?;
        // One that is long says less than the name.
        let title = text(tool, "title").filter(|title| title.chars().nth(LONGEST_TITLE).is_none());
        Some(Self {
            title: title.unwrap_or_else(|| name.clone()),
            name,
            is_destructive: is_destructive(tool),
            shape: Shape::of(tool),
        })
    }

    /// Returns the tool of a name. If there are two, one that is destructive makes both so.
    pub fn named<'a>(tools: &'a [Self], name: &str) -> Option<&'a Self> {
        let mut all = tools.iter().filter(|tool| tool.name == name);
        let first = all.next()?;
        Some(all.find(|tool| tool.is_destructive).unwrap_or(first))
    }
}

/// Returns whether a tool of a list is marked as destructive: by the specification, what is not marked is.
pub(crate) fn is_destructive(tool: &Value) -> bool {
    let hint = |name: &str| {
        let annotations = tool.get("annotations");
        annotations
            .and_then(|hints| hints.get(name))
            .and_then(Value::as_bool)
    };
    hint("readOnlyHint") != Some(true) && hint("destructiveHint") != Some(false)
}

impl Destructive {
    pub fn new(preview: bool) -> Self {
        Self {
            preview,
            known: Mutex::default(),
        }
    }

    /// Returns a tool of the list that a caller has, if it is known.
    #[inline(never)]
    pub fn find(&self, principal: &Principal, name: &str, now_ms: u64) -> Option<Tool> {
        let known = self.known.lock().ok()?;
        let mut known = known.iter().filter(|known| known.until > now_ms);
        let known = known.find(|known| *known.principal == *principal)?;
        Tool::named(&known.tools, name).cloned()
    }

    /// Keeps the list that a caller has.
    #[inline(never)]
    pub fn keep(&self, principal: Arc<Principal>, tools: Vec<Tool>, now_ms: u64) {
        let Ok(mut known) = self.known.lock() else {
            return;
        };
        known.retain(|one| one.until > now_ms && one.principal != principal);
        let count: usize = known.iter().map(|one| one.tools.len() + 1).sum();
        if count + tools.len() >= MOST {
            known.clear();
        }
        known.push(Known {
            principal,
            until: now_ms.saturating_add(AGE),
            tools,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::{Destructive, MOST, Tool};
    use sealwax::Principal;

    fn tools(of: &Value) -> Vec<Tool> {
        of.as_array()
            .unwrap()
            .iter()
            .filter_map(Tool::read)
            .collect()
    }

    /// The rest is in the transcripts.
    #[test]
    fn a_tool_is_read_by_its_name() {
        let long = "a".repeat(101);
        let safe = json!({"readOnlyHint": true});
        let all = tools(&json!([
            {"title": "No name"}, 7, {"name": 7},
            {"name": "a", "title": "The first"}, {"name": "long", "title": long}, {"name": "b", "annotations": safe},
            {"name": "two", "annotations": safe}, {"name": "two"},
            {"name": "text", "annotations": {"readOnlyHint": "true", "destructiveHint": 0}},
            {"name": "list", "annotations": []},
        ]));
        for (name, expected) in [
            ("a", Some(("The first", true))),
            ("long", Some(("long", true))),
            ("b", Some(("b", false))),
            ("two", Some(("two", true))),
            ("text", Some(("text", true))),
            ("list", Some(("list", true))),
            ("c", None),
        ] {
            let tool = Tool::named(&all, name);
            let found = tool.map(|tool| (&*tool.title, tool.is_destructive));
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn the_lists_of_all_callers_have_so_much_room() {
        let [alice, bob, carol] =
            ["alice", "bob", "carol"].map(|one| Arc::new(Principal::subject(one)));
        let destructive = Destructive::new(false);
        let has = |who: &Principal, name: &str| destructive.find(who, name, 2_000).is_some();
        destructive.keep(alice.clone(), tools(&json!([{"name": "a"}])), 1_000);
        destructive.keep(alice.clone(), tools(&json!([{"name": "b"}])), 2_000);
        assert!(!has(&alice, "a"), "a list replaces the one before");

        let many: Vec<_> = (0..MOST / 2)
            .map(|at| json!({"name": at.to_string()}))
            .collect();
        destructive.keep(bob.clone(), tools(&json!(many)), 2_000);
        assert!(has(&alice, "b") && has(&bob, "7"));
        destructive.keep(carol.clone(), tools(&json!(many)), 2_000);
        assert!(has(&carol, "7") && !has(&alice, "b") && !has(&bob, "7"));
        // A caller without tools takes room too.
        for at in 0..MOST / 2 {
            let one = Principal::subject(at.to_string());
            destructive.keep(Arc::new(one), Vec::new(), 2_000);
        }
        assert!(!has(&carol, "7"));
    }
}
