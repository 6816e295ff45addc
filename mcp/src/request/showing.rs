//! What a guard shows of confirmations: in a list of tools, and by its pages.

use std::sync::atomic::Ordering;

use serde_json::Value;

use super::Request;
use crate::confirm::card::{Listed, keep, missing, page};
use crate::guard::Guard;
use crate::message::context::{About, Context};
use crate::message::input::{Client, HandlerResult, Scope};
use crate::message::json;
use crate::reply::reason::Reason;
use crate::reply::step::{Item, Reply, Respond, Step};
use sealwax::Error;

/// What it shows.
pub(super) enum Shown {
    /// In a list of tools: what, and the whole result, as JSON, once it is there.
    List(Listed, String),
    /// A page: the result.
    Page(Value),
}

impl Shown {
    /// Returns what a request shows.
    pub fn new(request: &Request, guard: &Guard, client: Option<&Client<'_>>) -> Option<Self> {
        match &*request.method {
            "tools/list" => Some(Self::List(
                Listed::new(guard.settings(), client),
                String::new(),
            )),
            "resources/read" => {
                let uri = request.target.as_deref()?;
                page(guard.settings(), uri, request.modern).map(Self::Page)
            }
            _ => None,
        }
    }

    /// Takes the result of the handler.
    #[cold]
    pub fn take(&mut self, result: &HandlerResult<'_>) {
        if let (Self::List(_, whole), Some(result)) = (self, result.whole) {
            *whole = result.into();
        }
    }

    /// Returns the answer of a page.
    #[cold]
    pub fn page(&mut self) -> Option<Step> {
        let Self::Page(result) = self else {
            return None;
        };
        Some(Step::Reply(Reply {
            result: Some(Box::new(result.take())),
            ..Reply::default()
        }))
    }

    /// Changes a list of tools. It is the first page, and the last one too, if it is whole.
    #[cold]
    pub fn list(
        &self,
        context: &mut Context,
        is_first: bool,
        is_whole: bool,
        respond: &mut Respond,
    ) {
        let Self::List(listed, whole) = self else {
            return;
        };
        let guard = context.guard.clone();
        let settings = guard.settings();
        let mut whole = json::read(whole).unwrap_or_default();
        if is_whole
            && let Some(tool) = missing(&settings.confirm, &whole)
            && settings.misspelt.swap(false, Ordering::Relaxed)
        {
            let why = format!(
                "confirm: expected the name of a tool, found {tool}, which this list has not: what is misspelt protects nothing"
            );
            let reason = Reason::Unsealed(Error::argument(why));
            context.refuse(reason, About::new(Item::RequestState));
        }
        keep(settings, &whole);
        let tools = listed.tools(settings, &mut whole, is_first);
        respond.tools = tools.map(Box::new);
        // Others see another list.
        respond.cache_scope = Some(Scope::Private);
    }
}
