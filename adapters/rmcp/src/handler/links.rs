//! Links: values that a handler seals, and that whoever has them opens elsewhere.

use std::fmt;
use std::time::Duration;

use sealwax::Principal;
use sealwax_mcp::{ClientValue, HandleOp, HandleOpKind, Profile, Step, token_id};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::handles::{HandleType, opened};
use crate::caller::Caller;
use crate::guard::Guard;
use crate::hooks::Timed;
use crate::refusal::{About, HandleRefused, LinkRefused};
use crate::value::json;
use crate::{Context, Kind};

impl Guard {
    /// Returns the links of one name, such as `report`: a small letter, then up to 31 small letters or digits.
    pub fn links(&self, name: impl Into<String>) -> Links {
        Links {
            links: HandleType::new(self, Kind::Link, name),
            ttl: None,
            once: false,
            by: None,
        }
    }
}

/// Links of one name: texts that are safe in a URL, sealed in a handler, and opened by whoever has them, at a route of any web
/// framework and at any replica.
///
/// ```no_run
/// # use std::time::Duration;
/// # use rmcp::{RoleServer, service::RequestContext};
/// # use sealwax_rmcp::{Guard, LinkRefused, HandleRefused};
/// # async fn tool(guard: Guard, context: RequestContext<RoleServer>) -> Result<String, HandleRefused> {
/// let reports = guard.links("report").ttl(Duration::from_secs(900)).once();
/// let link = reports.seal(&context, &7)?;
/// # Ok(format!("https://mcp.example.com/reports/{link}")) }
/// # async fn route(guard: Guard, sent: &str) -> Result<(), LinkRefused> {
/// # let reports = guard.links("report");
/// let report = reports.open::<u32>(sent).await?; // report.value is 7, report.principal whose it is
/// # Ok(()) }
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Links {
    links: HandleType,
    ttl: Option<Duration>,
    once: bool,
    by: Option<Principal>,
}

/// What a link opened to.
#[non_exhaustive]
pub struct OpenedLink<T> {
    /// The value.
    pub value: T,
    /// Whose it is: the caller for whom it was sealed, whoever opened it.
    pub principal: Principal,
    /// The id of its token, the same at every opening: 32 hex digits.
    pub id: String,
}

impl Links {
    /// Sets how long a link is valid, in whole seconds: 24 hours by default.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Makes each link good once, which needs a [ledger](crate::GuardBuilder::ledger).
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// Lets only this user open links: the one who is signed in, at a page of approvals.
    pub fn by(mut self, principal: Principal) -> Self {
        self.by = Some(principal);
        self
    }

    /// Seals the JSON of `value` for the caller, and returns the text.
    ///
    /// # Errors
    ///
    /// [`HandleRefused`] without a principal, and if `value` cannot be sealed.
    pub fn seal<T: Serialize + ?Sized>(
        &self,
        context: &Context,
        value: &T,
    ) -> Result<String, HandleRefused> {
        let value = json(value).map_err(|error| self.links.refuse(&error, context, None))?;
        let seal = HandleOpKind::SealLink {
            value: &value,
            ttl: self.ttl,
            once: self.once,
        };
        let sealed = self.links.begin(context, seal)?.now()?;
        Ok(sealed.handle.unwrap_or_default())
    }

    /// Opens what came. One that is good [`once`](Self::once) is used up.
    ///
    /// # Errors
    ///
    /// [`LinkRefused`] for a link that is not good, whatever the reason, and for one that holds no `T`.
    pub async fn open<T: DeserializeOwned>(
        &self,
        link: &str,
    ) -> Result<OpenedLink<T>, LinkRefused> {
        self.opened(link, false).await
    }

    /// Opens what came, and leaves it good: for a GET, since mail programs and chats fetch links to preview them.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn preview<T: DeserializeOwned>(
        &self,
        link: &str,
    ) -> Result<OpenedLink<T>, LinkRefused> {
        self.opened(link, true).await
    }

    async fn opened<T: DeserializeOwned>(
        &self,
        link: &str,
        keep: bool,
    ) -> Result<OpenedLink<T>, LinkRefused> {
        let guard = &self.links.guard;
        let kind = HandleOpKind::OpenLink {
            link: ClientValue::Text(link),
            keep,
            by: self.by.clone(),
        };
        let handle_type = &self.links.name;
        let since = guard.starts();
        let (exchange, mut step) = guard.0.engine.link(HandleOp { handle_type, kind });
        let mut exchange = Timed::new(exchange, since);
        let caller = Caller::nobody(guard);
        // A ledger that is not open yet is asked before the link is looked at.
        while let (Step::Ledger(command), None) = (&step, exchange.opened()) {
            step = caller.recorded(&mut exchange, command).await;
        }
        let value = opened(&exchange, &step).transpose().map_err(|error| {
            let about = About::new(Kind::Link, Profile::McpSessionId).id(token_id(link));
            LinkRefused::new(caller.refuse(&error, about).status)
        })?;
        let step = caller.drive(&mut exchange, step, None).await;
        match (step, value) {
            (Step::Done(done), Some(value)) => Ok(OpenedLink {
                value,
                principal: done.principal.ok_or(LinkRefused::new(None))?,
                id: done.id,
            }),
            (Step::Reply(reply), _) => Err(LinkRefused::new(reply.status)),
            _ => Err(LinkRefused::new(None)),
        }
    }
}

/// Logs must not contain the value.
impl<T> fmt::Debug for OpenedLink<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenedLink({})", self.id)
    }
}
