//! Whether a tool is one that its server marks as destructive: asks the server's own list.

use serde_json::Value;

use super::{Phase, Request};
use crate::confirm::Words;
use crate::confirm::destructive::{MOST, Tool};
use crate::message::context::{About, Context};
use crate::message::input::Failed;
use crate::message::json;
use crate::message::token_fields::TokenFields;
use crate::reply::reason::Reason;
use crate::reply::step::{Item, List, Step};
use sealwax::{Error, View};

/// How many pages a list may have.
const PAGES: usize = 64;

/// What is known of the list.
#[derive(Default)]
pub(super) struct Listing {
    tools: Vec<Tool>,
    pages: usize,
    /// Whether that is all.
    is_whole: bool,
    /// Whether there is none.
    failed: bool,
}

impl Listing {
    /// Adds a page. Returns the cursor of the next one, if there is one.
    #[inline(never)]
    fn add(&mut self, page: &str) -> Result<Option<String>, &'static str> {
        let page = json::read(page).unwrap_or_default();
        let tools = page.get("tools").and_then(Value::as_array);
        let tools = tools.ok_or("list_tools: expected a list of tools, found another answer")?;
        let more = match page.get("nextCursor") {
            None | Some(Value::Null) => None,
            Some(Value::String(cursor)) => Some(cursor.clone()),
            Some(_) => return Err("list_tools: expected a cursor that is a text"),
        };
        self.pages += 1;
        if self.tools.len() + tools.len() > MOST || (more.is_some() && self.pages == PAGES) {
            return Err("list_tools: expected at most 4,096 tools on 64 pages, found more");
        }
        self.tools.extend(tools.iter().filter_map(Tool::read));
        Ok(more)
    }
}

impl Request {
    /// Returns whether its user confirms it. What is in doubt is confirmed.
    #[inline(never)]
    pub(super) fn is_confirmed(
        &mut self,
        context: &mut Context,
        fields: TokenFields,
        view: &View,
    ) -> Result<bool, Step> {
        let Some(known) = &mut self.confirmation else {
            return Ok(false);
        };
        let Some(listing) = &mut known.listing else {
            return Ok(true);
        };
        let guard = context.guard.clone();
        let (Some(destructive), Some(principal)) =
            (&guard.settings().destructive, context.principal())
        else {
            return Ok(true);
        };
        let name = self.target.as_deref().unwrap_or_default();
        let now = guard.now_ms();
        let found = Tool::named(&listing.tools, name).cloned();
        let found = found.or_else(|| destructive.find(&principal, name, now));
        if found.is_none() && !listing.is_whole && !listing.failed {
            self.phase = Phase::Listing;
            return Err(Step::List(Box::default()));
        }
        let is_in_doubt = listing.failed;
        if listing.is_whole {
            destructive.keep(principal, std::mem::take(&mut listing.tools), now);
            if found.is_none() {
                context.refuse(
                    Reason::refused("unconfirmed", UNLISTED),
                    About::new(Item::RequestState),
                );
            }
        }
        let runs = !is_in_doubt && found.as_ref().is_some_and(|tool| !tool.is_destructive);
        // Another tool's name counts only with a consent.
        if runs && !known.by && self.opens(context, fields, view) {
            self.confirmation = None;
            return Ok(false);
        }
        let only = &guard.settings().only;
        let only = only.iter().find(|(target, _)| target == name);
        let words = Words::of_call(
            found.as_ref().ok_or(name).map(|tool| &*tool.title),
            self.arguments.as_deref(),
            only.map(|(_, names)| &**names),
        );
        let known = self.confirmation();
        known.words = Some(words);
        known.shape = found.map(|tool| tool.shape);
        known.listing = None;
        Ok(true)
    }

    /// Returns whether it brings no token that belongs to a confirmation: of a tool that was in doubt.
    #[inline(never)]
    fn opens(&self, context: &Context, fields: TokenFields, view: &View) -> bool {
        let Some(token) = self.token.borrowed().text() else {
            return true;
        };
        let opened = self
            .binding(context, fields)
            .map(|bound| view.request_state(&bound).open(token));
        !matches!(opened, Ok(Err(Error::Unauthentic)))
    }

    /// Takes a page of the list.
    #[inline(never)]
    pub(super) fn listed(&mut self, context: &mut Context, page: Result<&str, Failed>) -> Step {
        let listing = self.confirmation().listing.get_or_insert_default();
        let page = page.map_err(|failed| failed.says("list_tools"));
        match page.and_then(|page| listing.add(page).map_err(String::from)) {
            Ok(Some(cursor)) => {
                self.phase = Phase::Listing;
                return Step::List(Box::new(List {
                    cursor: Some(cursor),
                    ..List::default()
                }));
            }
            Ok(None) => listing.is_whole = true,
            Err(why) => {
                listing.failed = true;
                let reason = Reason::Unsealed(Error::argument(format!("{why}: its user is asked")));
                context.refuse(reason, About::new(Item::RequestState));
            }
        }
        self.phase = Phase::Entering;
        self.advance(context)
    }
}

const UNLISTED: &str =
    "list_tools: expected the tool in the server's list, found none: its user is asked";
