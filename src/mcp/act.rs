//! The actions of a handler on handles, which a language model carries.

use alloc::string::String;
use core::time::Duration;

use super::asking::{self, Ask, Asking, Times};
use super::context::{About, Context, Reason, until};
use super::input::Kept;
use super::session::json;
use super::{Before, Event, Item, Life, Made, Presented, Reply, RpcError, Sent, Step};
use crate::sessions::rfc3339;
use crate::{Error, Handle, Sealer, Token, View, kind};

/// An action of a handler on a handle of one type. Lifetimes are in whole seconds.
#[derive(Clone, Debug)]
pub struct Act<'a> {
    /// The type: a small letter, then up to 31 small letters or digits.
    pub handle_type: &'a str,
    /// The action.
    pub what: What<'a>,
}

/// The action on a handle. A model may pass anything, whatever the schema.
#[derive(Clone, Debug)]
pub enum What<'a> {
    /// Mint a handle that is the key of a row.
    Mint {
        /// Its lifetime; unlimited by default.
        max_age: Option<Duration>,
    },
    /// Check a handle that is the key of a row.
    Check {
        /// The value that the model passed.
        handle: Sent<'a>,
        /// Its lifetime, as when it was minted.
        max_age: Option<Duration>,
    },
    /// Seal a value, as JSON, into a handle that holds its state.
    Seal {
        /// The value.
        value: &'a str,
        /// Its lifetime: 24 hours by default.
        ttl: Option<Duration>,
        /// The handle that it replaces.
        before: Option<Before>,
        /// Whether this uses that handle up, which requires a ledger.
        once: bool,
    },
    /// Open a handle that holds its state.
    Open {
        /// The value that the model passed.
        handle: Sent<'a>,
        /// The maximum age since the first handle of its chain.
        max_age: Option<Duration>,
        /// Whether a used handle is refused.
        once: bool,
    },
    /// End a handle before its time.
    End {
        /// The value that the model passed.
        handle: Sent<'a>,
        /// Its lifetime, as when it was made.
        max_age: Option<Duration>,
        /// Whether it holds its state.
        held: bool,
    },
}

pub(super) struct Acting {
    handle_type: String,
    work: Work,
    /// The value that the model passed.
    handle: Kept,
    max_age: Option<Duration>,
    /// The pending checks, and the result once they pass.
    asking: Option<(Asking, Made)>,
}

enum Work {
    Mint,
    Check,
    Seal {
        value: String,
        ttl: Option<Duration>,
        before: Option<Before>,
        once: bool,
    },
    Open {
        once: bool,
    },
    End {
        held: bool,
    },
}

impl Acting {
    pub fn new(act: Act<'_>) -> Self {
        let (work, handle, max_age) = match act.what {
            What::Mint { max_age } => (Work::Mint, Sent::Absent, max_age),
            What::Check { handle, max_age } => (Work::Check, handle, max_age),
            What::Seal {
                value,
                ttl,
                before,
                once,
            } => {
                let work = Work::Seal {
                    value: value.into(),
                    ttl,
                    before,
                    once,
                };
                (work, Sent::Absent, None)
            }
            What::Open {
                handle,
                max_age,
                once,
            } => (Work::Open { once }, handle, max_age),
            What::End {
                handle,
                max_age,
                held,
            } => (Work::End { held }, handle, max_age),
        };
        Self {
            handle_type: act.handle_type.into(),
            work,
            handle: handle.owned(),
            max_age,
            asking: None,
        }
    }

    pub fn advance(&mut self, context: &mut Context) -> Step {
        let view = match context.view() {
            Ok(view) => view,
            Err(step) => return step,
        };
        match self.start(context, &view) {
            Ok((asking, made)) => {
                self.asking = Some((asking, made));
                self.asked(context)
            }
            Err(reason) => self.refuse(context, reason),
        }
    }

    pub fn take(&mut self, context: &mut Context, event: Event<'_>) -> Option<Step> {
        let (asking, _) = self.asking.as_mut()?;
        Some(match asking.take(context, event)? {
            Ok(Some(step)) => step,
            Ok(None) => self.done(),
            Err((_, reason)) => self.refuse(context, reason),
        })
    }

    /// Returns the value of the handle, before it is accepted.
    pub fn opened(&self) -> Option<&str> {
        let (_, made) = self.asking.as_ref()?;
        made.value.as_deref()
    }

    /// Returns the checks, and the result once they pass.
    fn start(&self, context: &Context, view: &View) -> Result<(Asking, Made), Reason> {
        let settings = context.guard.settings();
        let (made, token) = match &self.work {
            Work::Mint => (self.mint(view).map_err(Reason::Unsealed)?, None),
            Work::Seal { once: true, .. } | Work::Open { once: true }
                if settings.ledger.is_none() =>
            {
                return Err(Error::argument(
                    "single use: expected a guard with a ledger, which remembers what was used",
                )
                .into());
            }
            Work::Seal {
                value,
                ttl,
                before,
                once,
            } => {
                let before = before.as_ref();
                let made = self
                    .seal(view, value, *ttl, before)
                    .map_err(Reason::Unsealed)?;
                (made, before.filter(|_| *once).map(spent))
            }
            Work::End { .. } if !settings.remembers() => {
                return Err(Error::argument(
                    "end: expected a guard with a ledger or `accept`, which remembers what ended",
                )
                .into());
            }
            Work::Open { .. } | Work::End { held: true } => {
                let (made, token) = self.open(view)?;
                (made, Some(token))
            }
            Work::Check | Work::End { held: false } => {
                let (made, token) = self.check(view)?;
                (made, Some(token))
            }
        };
        // To end or renew a handle, the handler has had it accepted before.
        let asking = Asking::new(token.into_iter().collect());
        Ok(match self.work {
            Work::Check | Work::Open { .. } => (asking, made),
            _ => (asking.without_accept(), made),
        })
    }

    fn asked(&mut self, context: &mut Context) -> Step {
        let Some((asking, _)) = &mut self.asking else {
            return Step::Drop;
        };
        match asking.step(context) {
            Ok(Some(step)) => step,
            Ok(None) => self.done(),
            Err((_, reason)) => self.refuse(context, reason),
        }
    }

    fn done(&mut self) -> Step {
        match self.asking.take() {
            Some((_, made)) => Step::Done(made.into()),
            None => Step::Drop,
        }
    }

    fn mint(&self, view: &View) -> Result<Made, Error> {
        Ok(self.facts(&view.mint_handle(&self.handle_type)?))
    }

    fn seal(
        &self,
        view: &View,
        value: &str,
        ttl: Option<Duration>,
        before: Option<&Before>,
    ) -> Result<Made, Error> {
        let value = json(value.as_bytes()).map_err(|_| Error::argument("value: expected JSON"))?;
        let sealer = view.handle_state(&self.handle_type);
        let sealer = match ttl {
            Some(ttl) => sealer.ttl(ttl),
            None => sealer,
        };
        let token: Token<_> = match before {
            Some(before) => {
                sealer.renew_from(before.started_at, before.generation, value.as_bytes())?
            }
            None => sealer.seal(value.as_bytes())?,
        };
        let issued_at = token.issued_at();
        let id = alloc::string::ToString::to_string(&token.id());
        Ok(Made {
            id: id.clone(),
            expires_at: token.expires_at().and_then(rfc3339),
            before: Some(Before {
                started_at: before.map_or(issued_at, |before| before.started_at),
                generation: before.map_or(0, |before| before.generation.saturating_add(1)),
                id: id.clone(),
                issued_at,
                until: until(token.expires_at()),
            }),
            life: Some(Life {
                issued_at,
                expires_at: token.expires_at(),
                needs_reseal: false,
                needs_renewal: false,
            }),
            handle: Some(token.into_string()),
            value: None,
        })
    }

    fn check(&self, view: &View) -> Result<(Made, asking::Token), Error> {
        let handle = view.verify_handle(&self.handle_type, self.text()?, self.max_age)?;
        let ends = self.max_age.map(|age| handle.ends_at_ms(age));
        let presented = Presented::ulid(Item::Handle, handle.ulid(), ends);
        let token = asking::Token::made(presented, handle.created_at_ms(), self.ask());
        Ok((self.facts(&handle), token))
    }

    fn open(&self, view: &View) -> Result<(Made, asking::Token), Error> {
        let sealer: Sealer<'_, kind::HandleState> = view.handle_state(&self.handle_type);
        let sealer = match self.max_age {
            Some(max_age) => sealer.max_age(max_age),
            None => sealer,
        };
        let opened = sealer.open(self.text()?)?;
        let token = asking::Token::new(Item::HandleState, Times::of(&opened), self.ask());
        let made = Made {
            handle: None,
            id: token.presented.id.clone(),
            expires_at: opened.expires_at().and_then(rfc3339),
            value: Some(json(opened.payload())?.into()),
            before: Some(Before {
                started_at: opened.started_at(),
                generation: opened.generation(),
                id: token.presented.id.clone(),
                issued_at: opened.issued_at(),
                until: token.presented.until,
            }),
            life: Some(Life {
                issued_at: opened.issued_at(),
                expires_at: opened.expires_at(),
                needs_reseal: opened.needs_reseal(),
                needs_renewal: opened.needs_renewal(),
            }),
        };
        Ok((made, token))
    }

    fn ask(&self) -> Ask {
        match self.work {
            Work::End { .. } => Ask::End,
            Work::Open { once: true } => Ask::Unused,
            _ => Ask::Live,
        }
    }

    fn facts(&self, handle: &Handle) -> Made {
        let ends = self.max_age.map(|age| handle.ends_at_ms(age) / 1000);
        Made {
            handle: Some(handle.as_str().into()),
            id: super::context::hex(handle.ulid()),
            expires_at: ends.and_then(rfc3339),
            ..Made::default()
        }
    }

    fn text(&self) -> Result<&str, Error> {
        let text = self.handle.sent().text();
        text.ok_or(Error::Malformed("a handle that is a text"))
    }

    fn item(&self) -> Item {
        match self.work {
            Work::Mint | Work::Check | Work::End { held: false } => Item::Handle,
            Work::Seal { .. } | Work::Open { .. } | Work::End { held: true } => Item::HandleState,
        }
    }

    pub fn refuse(&self, context: &mut Context, reason: Reason) -> Step {
        let about = About {
            token: self.handle.sent().text(),
            // A verified handle is known to be of this service, so its id is logged.
            id: self.asking.as_ref().map(|(_, made)| made.id.clone()),
            ..About::new(self.item())
        };
        let code = if reason.is_refusal() { -32602 } else { -32603 };
        let reply = Reply::from(context.refuse(reason, about));
        let error = reply.tool.as_ref().map(|tool| RpcError {
            code,
            message: tool.content[0].text,
            data: None,
        });
        Step::Reply(Reply { error, ..reply })
    }
}

/// Returns the handle that a renewal uses up.
fn spent(before: &Before) -> asking::Token {
    asking::Token {
        presented: Presented {
            item: Item::HandleState,
            id: before.id.clone(),
            until: before.until,
            public: false,
        },
        ask: Ask::Once,
        issued_at: before.issued_at,
        started_at: before.started_at,
        until: before.until,
    }
}
