//! The operations of a handler on handles, which a language model carries, on links, and on cursors in its results.

use std::time::Duration;

use crate::exchange::admission::{Admission, RefusedAt};
use crate::ledger::Check;
use crate::message::context::{About, Context};
use crate::message::input::{
    ClientValue, Event, HandleOp, HandleOpKind, OwnedClientValue, Predecessor,
};
use crate::message::members::lifetime;
use crate::message::text::{hex, rfc3339, until};
use crate::message::token;
use crate::reply::answer::{Answer, Profile, RpcError};
use crate::reply::reason::Reason;
use crate::reply::step::{HandleResult, HandleTimes, Item, OUT_OF_ORDER, Reply, Step};
use crate::request::link::{self, Link};
use crate::request::page::Page;
use crate::request::session::json;
use sealwax::{Error, Handle, Principal, Sealer, Token, View, kind};

pub(crate) struct HandleFlow {
    handle_type: String,
    work: Work,
    /// The value that the model passed.
    handle: OwnedClientValue,
    max_age: Option<Duration>,
    /// The call's page, for its cursor.
    page: Option<Page>,
    /// The pending checks, and the result once they pass.
    admission: Option<(Admission, HandleResult)>,
}

enum Work {
    Mint,
    Check,
    MintShort {
        number: u32,
    },
    CheckShort,
    Seal {
        value: String,
        ttl: Option<Duration>,
        predecessor: Option<Predecessor>,
        once: bool,
    },
    Open {
        once: bool,
    },
    EndRow,
    EndState,
    SealLink {
        value: String,
        ttl: Option<Duration>,
        once: bool,
    },
    OpenLink {
        keep: bool,
        by: Option<Principal>,
    },
    Cursor {
        position: String,
        ttl: Option<Duration>,
        list: Option<String>,
    },
    Position {
        list: Option<String>,
    },
}

impl HandleFlow {
    #[inline(never)]
    pub fn new(op: HandleOp<'_>, page: Option<Page>) -> Self {
        let (work, handle, max_age) = match op.kind {
            HandleOpKind::Mint { max_age } => (Work::Mint, ClientValue::Absent, max_age),
            HandleOpKind::Check { handle, max_age } => (Work::Check, handle, max_age),
            HandleOpKind::MintShort { number } => {
                (Work::MintShort { number }, ClientValue::Absent, None)
            }
            HandleOpKind::CheckShort { handle } => (Work::CheckShort, handle, None),
            HandleOpKind::Seal {
                value,
                ttl,
                predecessor,
                once,
            } => {
                let work = Work::Seal {
                    value: value.into(),
                    ttl,
                    predecessor,
                    once,
                };
                (work, ClientValue::Absent, None)
            }
            HandleOpKind::Open {
                handle,
                max_age,
                once,
            } => (Work::Open { once }, handle, max_age),
            HandleOpKind::End {
                handle,
                max_age,
                self_contained,
            } => {
                let work = match self_contained {
                    true => Work::EndState,
                    false => Work::EndRow,
                };
                (work, handle, max_age)
            }
            HandleOpKind::SealLink { value, ttl, once } => {
                let value = value.into();
                (
                    Work::SealLink { value, ttl, once },
                    ClientValue::Absent,
                    None,
                )
            }
            HandleOpKind::OpenLink { link, keep, by } => (Work::OpenLink { keep, by }, link, None),
            HandleOpKind::Cursor {
                position,
                ttl,
                list,
            } => {
                let work = Work::Cursor {
                    position: position.into(),
                    ttl,
                    list: list.map(Into::into),
                };
                (work, ClientValue::Absent, None)
            }
            HandleOpKind::Position { list } => {
                let list = list.map(Into::into);
                (Work::Position { list }, ClientValue::Absent, None)
            }
        };
        Self {
            handle_type: op.handle_type.into(),
            work,
            handle: handle.owned(),
            max_age,
            page,
            admission: None,
        }
    }

    #[inline(never)]
    pub fn advance(&mut self, context: &mut Context) -> Step {
        let started = match &self.work {
            // Whose it is stands in it.
            Work::OpenLink { keep, by } => self.follow(context, *keep, by.as_ref()),
            _ => match context.view() {
                Ok(view) => self.start(context, &view),
                Err(step) => return step,
            },
        };
        match started {
            Ok((mut admission, result)) => {
                let admitted = admission.step(context);
                self.admission = Some((admission, result));
                self.admitted(context, admitted)
            }
            Err(reason) => self.refuse(context, reason),
        }
    }

    #[inline(never)]
    pub fn take(&mut self, context: &mut Context, event: Event<'_>) -> Option<Step> {
        let (admission, _) = self.admission.as_mut()?;
        let admitted = admission.take(context, event)?;
        Some(self.admitted(context, admitted))
    }

    /// Returns the value of the handle, before it is accepted.
    pub fn opened(&self) -> Option<&str> {
        let (_, result) = self.admission.as_ref()?;
        result.value.as_deref()
    }

    /// Returns the checks, and the result once they pass.
    #[inline(never)]
    fn start(&self, context: &Context, view: &View) -> Result<(Admission, HandleResult), Reason> {
        let settings = context.guard.settings();
        let (result, token) = match &self.work {
            Work::Mint => (self.mint(view).map_err(Reason::Unsealed)?, None),
            Work::MintShort { .. } | Work::CheckShort => (self.short(context, view)?, None),
            Work::Seal { once: true, .. }
            | Work::Open { once: true }
            | Work::SealLink { once: true, .. }
                if settings.ledger.is_none() =>
            {
                return Err(NO_MEMORY.into());
            }
            Work::Seal {
                value,
                ttl,
                predecessor,
                once,
            } => {
                let predecessor = predecessor.as_ref();
                let result = self
                    .seal(view, value, *ttl, predecessor)
                    .map_err(Reason::Unsealed)?;
                (result, predecessor.filter(|_| *once).map(spent))
            }
            Work::EndRow | Work::EndState if settings.ledger.is_none() => {
                return Err(Error::argument(
                    "end: expected a guard with a ledger, which remembers what ended",
                )
                .into());
            }
            Work::Open { .. } | Work::EndState => {
                let (result, token) = self.open(view)?;
                (result, Some(token))
            }
            Work::Check | Work::EndRow => {
                let (result, token) = self.check(view)?;
                (result, Some(token))
            }
            Work::SealLink { value, ttl, once } => {
                let sealed = self.seal_link(context, value, *ttl, *once);
                (sealed.map_err(Reason::Unsealed)?, None)
            }
            Work::Cursor {
                position,
                ttl,
                list,
            } => {
                let value = json(position.as_bytes());
                let value = value.map_err(|_| Error::argument("cursor: expected JSON"))?;
                let sealed = self.page()?.seal(view, value, *ttl, list.as_deref())?;
                (made(sealed), None)
            }
            Work::Position { list } => self.position(context, view, list.as_deref())?,
            Work::OpenLink { .. } => return Err(OUT_OF_ORDER.into()),
        };
        Ok((Admission::new(token.into_iter().collect()), result))
    }

    fn admitted(
        &mut self,
        context: &mut Context,
        admitted: Result<Option<Step>, RefusedAt>,
    ) -> Step {
        match admitted {
            Ok(Some(step)) => step,
            Ok(None) => match self.admission.take() {
                Some((_, result)) => {
                    if let (
                        Work::Mint
                        | Work::Seal { .. }
                        | Work::SealLink { .. }
                        | Work::Cursor { .. },
                        Some(handle),
                    ) = (&self.work, &result.handle)
                    {
                        context.sealed(self.item(), handle, Some(result.id.clone()));
                    }
                    Step::Done(result.into())
                }
                None => Step::Drop,
            },
            Err((_, reason)) => self.refuse(context, reason),
        }
    }

    fn mint(&self, view: &View) -> Result<HandleResult, Error> {
        Ok(self.facts(&view.mint_handle(&self.handle_type)?))
    }

    #[inline(never)]
    fn short(&self, context: &Context, view: &View) -> Result<HandleResult, Reason> {
        if context.is_anonymous() {
            return Err(NOBODYS.into());
        }
        let mut result = HandleResult::default();
        if let Work::MintShort { number } = &self.work {
            let handle = view.mint_short_handle(&self.handle_type, *number);
            result.handle = Some(handle.map_err(Reason::Unsealed)?);
        } else {
            let number = view.verify_short_handle(&self.handle_type, self.text()?)?;
            result.value = Some(number.to_string());
        }
        Ok(result)
    }

    #[inline(never)]
    fn seal(
        &self,
        view: &View,
        value: &str,
        ttl: Option<Duration>,
        predecessor: Option<&Predecessor>,
    ) -> Result<HandleResult, Error> {
        let value = json(value.as_bytes()).map_err(|_| Error::argument("value: expected JSON"))?;
        let sealer = view.handle_state(&self.handle_type);
        let sealer = sealer.with_ttl(lifetime(ttl));
        let token: Token<_> = match predecessor {
            Some(predecessor) => sealer.renew_from(
                predecessor.started_at,
                predecessor.generation,
                value.as_bytes(),
            )?,
            None => sealer.seal(value.as_bytes())?,
        };
        let issued_at = token.issued_at();
        let id = token.id().to_string();
        Ok(HandleResult {
            id: id.clone(),
            expires_at: token.expires_at().and_then(rfc3339),
            predecessor: Some(Predecessor {
                started_at: predecessor.map_or(issued_at, |predecessor| predecessor.started_at),
                generation: predecessor
                    .map_or(0, |predecessor| predecessor.generation.saturating_add(1)),
                id: id.clone(),
                issued_at,
                until: until(token.expires_at()),
            }),
            times: Some(HandleTimes {
                issued_at,
                expires_at: token.expires_at(),
                needs_reseal: false,
                needs_renewal: false,
            }),
            handle: Some(token.into_string()),
            ..HandleResult::default()
        })
    }

    #[inline(never)]
    fn seal_link(
        &self,
        context: &Context,
        value: &str,
        ttl: Option<Duration>,
        once: bool,
    ) -> Result<HandleResult, Error> {
        let value = json(value.as_bytes()).map_err(|_| Error::argument("value: expected JSON"))?;
        let owner = context.principal().ok_or(OUT_OF_ORDER)?;
        let anyone = context.guard.public()?;
        link::seal(&anyone, &self.handle_type, &owner, value, ttl, once).map(made)
    }

    /// Opens a link, whose owner is the caller from here on.
    #[inline(never)]
    fn follow(
        &self,
        context: &mut Context,
        keep: bool,
        by: Option<&Principal>,
    ) -> Result<(Admission, HandleResult), Reason> {
        let anyone = context.guard.public()?;
        let link = Link::open(&anyone, &self.handle_type, self.text()?, by)?;
        if link.is_single_use() && context.guard.settings().ledger.is_none() {
            return Err(NO_MEMORY.into());
        }
        context.identify(Ok(Some(link.owner.clone())))?;
        let token = link.token(keep);
        let result = HandleResult {
            id: token.id.clone(),
            expires_at: link.opened.expires_at().and_then(rfc3339),
            value: Some(link.value),
            principal: Some(link.owner),
            ..HandleResult::default()
        };
        Ok((Admission::new(vec![token]), result))
    }

    fn page(&self) -> Result<&Page, Error> {
        let page = self.page.as_ref();
        page.ok_or(Error::argument(
            "cursor: expected a call of a tool, in its handler",
        ))
    }

    /// Opens the cursor that the call brought.
    #[inline(never)]
    fn position(
        &self,
        context: &Context,
        view: &View,
        list: Option<&str>,
    ) -> Result<(HandleResult, Option<token::Token>), Reason> {
        let page = self.page()?;
        let Some(cursor) = page.cursor() else {
            return Ok((HandleResult::default(), None));
        };
        let (opened, position) = page.open(view, cursor, list)?;
        // What an anonymous caller has belongs to nobody.
        let check = (!context.is_anonymous()).then_some(Check::Live);
        let token = token::Token::new(Item::Cursor, &opened, check);
        let result = HandleResult {
            id: token.id.clone(),
            expires_at: opened.expires_at().and_then(rfc3339),
            value: Some(position),
            ..HandleResult::default()
        };
        Ok((result, Some(token)))
    }

    fn check(&self, view: &View) -> Result<(HandleResult, token::Token), Error> {
        let handle = view.verify_handle(&self.handle_type, self.text()?, self.max_age)?;
        let token = token::Token::made(
            Item::Handle,
            handle.ulid(),
            handle.created_at_ms(),
            self.token_check(),
        );
        Ok((self.facts(&handle), token))
    }

    #[inline(never)]
    fn open(&self, view: &View) -> Result<(HandleResult, token::Token), Error> {
        let sealer: Sealer<'_, kind::HandleState> = view.handle_state(&self.handle_type);
        let sealer = match self.max_age {
            Some(max_age) => sealer.max_age(max_age),
            None => sealer,
        };
        let opened = sealer.open(self.text()?)?;
        let token = token::Token::new(Item::HandleState, &opened, Some(self.token_check()));
        let result = HandleResult {
            id: token.id.clone(),
            expires_at: opened.expires_at().and_then(rfc3339),
            value: Some(json(opened.payload())?.into()),
            predecessor: Some(Predecessor {
                started_at: opened.started_at(),
                generation: opened.generation(),
                id: token.id.clone(),
                issued_at: opened.issued_at(),
                until: token.until,
            }),
            times: Some(HandleTimes {
                issued_at: opened.issued_at(),
                expires_at: opened.expires_at(),
                needs_reseal: opened.needs_reseal(),
                needs_renewal: opened.needs_renewal(),
            }),
            ..HandleResult::default()
        };
        Ok((result, token))
    }

    fn token_check(&self) -> Check {
        match self.work {
            Work::EndRow | Work::EndState => Check::End,
            Work::Open { once: true } => Check::Unused,
            _ => Check::Live,
        }
    }

    fn facts(&self, handle: &Handle) -> HandleResult {
        let ends = self.max_age.map(|age| handle.ends_at_ms(age) / 1000);
        HandleResult {
            handle: Some(handle.as_str().into()),
            id: hex(handle.ulid()),
            expires_at: ends.and_then(rfc3339),
            ..HandleResult::default()
        }
    }

    fn text(&self) -> Result<&str, Error> {
        let text = self.handle.borrowed().text();
        text.ok_or(Error::Malformed("a handle or a link that is a text"))
    }

    fn item(&self) -> Item {
        match self.work {
            Work::Mint | Work::Check | Work::MintShort { .. } | Work::CheckShort | Work::EndRow => {
                Item::Handle
            }
            Work::Seal { .. } | Work::Open { .. } | Work::EndState => Item::HandleState,
            Work::SealLink { .. } | Work::OpenLink { .. } => Item::Link,
            Work::Cursor { .. } | Work::Position { .. } => Item::Cursor,
        }
    }

    /// Returns what a model hears of a failure that has to do with no handle.
    fn failed(&self, reason: &Reason) -> Option<Answer> {
        match self.work {
            Work::SealLink { .. } | Work::Cursor { .. } | Work::Position { .. } => {
                (!reason.is_refusal()).then(Answer::failed)
            }
            _ => None,
        }
    }

    #[inline(never)]
    pub fn refuse(&self, context: &mut Context, reason: Reason) -> Step {
        let cursor = self.page.as_ref().and_then(Page::cursor);
        let item = self.item();
        let about = About {
            token: self.handle.borrowed().text().or(cursor),
            // In a handler the model hears of it.
            profile: match self.work {
                Work::OpenLink { .. } => Profile::McpSessionId,
                _ => Profile::Handle,
            },
            // A verified handle is known to be of this service, so its id is logged.
            id: self.admission.as_ref().map(|(_, result)| result.id.clone()),
            ..About::new(item)
        };
        let code = if reason.is_refusal() { -32602 } else { -32603 };
        let told = self.page.as_ref().and_then(|page| page.refusal(&reason));
        let told = told.or_else(|| self.failed(&reason));
        let answer = context.refuse(reason, about);
        let reply = Reply::from(told.unwrap_or(answer));
        let told = reply.tool.as_ref().and_then(|tool| tool.content.first());
        let error = told.map(|told| RpcError::new(code, told.text.clone()));
        Step::Reply(Reply { error, ..reply })
    }
}

const NO_MEMORY: Error = Error::InvalidArgument(std::borrow::Cow::Borrowed(
    "single use: expected a guard with a ledger, which remembers what was used",
));

const NOBODYS: Error = Error::InvalidArgument(std::borrow::Cow::Borrowed(
    "short handle: expected a caller who is somebody, whose number it is",
));

/// Returns the facts of a link or a cursor that was made.
fn made(token: Token<kind::Custom>) -> HandleResult {
    HandleResult {
        id: token.id().to_string(),
        expires_at: token.expires_at().and_then(rfc3339),
        handle: Some(token.into_string()),
        ..HandleResult::default()
    }
}

/// Returns the handle that a renewal uses up.
fn spent(predecessor: &Predecessor) -> token::Token {
    token::Token {
        item: Item::HandleState,
        id: predecessor.id.clone(),
        key_id: None,
        check: Some(Check::Once),
        issued_at: predecessor.issued_at,
        started_at: predecessor.started_at,
        until: predecessor.until,
    }
}
