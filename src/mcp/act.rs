//! What a handler does with handles that a language model carries.

use alloc::string::String;
use alloc::vec;
use core::time::Duration;

use super::context::{About, Context, Reason};
use super::input::Kept;
use super::session::json;
use super::{Before, Event, Item, Life, Made, Presented, Question, Reply, RpcError, Sent, Step};
use crate::sessions::rfc3339;
use crate::{Error, Handle, Sealer, Token, View, kind};

/// An act of a handler, with a handle of a type. Lifetimes are in whole seconds.
#[derive(Clone, Debug)]
pub struct Act<'a> {
    /// The type: a small letter, then up to 31 small letters or digits.
    pub handle_type: &'a str,
    /// What to do.
    pub what: What<'a>,
}

/// What to do with a handle. What a model passes may be anything, whatever a schema says.
#[derive(Clone, Debug)]
pub enum What<'a> {
    /// Mint one that is the key of a row.
    Mint {
        /// How long it is good; for ever unless set.
        max_age: Option<Duration>,
    },
    /// Check one that is the key of a row.
    Check {
        /// What came.
        handle: Sent<'a>,
        /// How long it is good, as when it was minted.
        max_age: Option<Duration>,
    },
    /// Seal a value, as JSON, into one that holds its state.
    Seal {
        /// The value.
        value: &'a str,
        /// How long it is good: 24 hours unless set.
        ttl: Option<Duration>,
        /// What it is made in place of.
        before: Option<Before>,
    },
    /// Open one that holds its state.
    Open {
        /// What came.
        handle: Sent<'a>,
        /// How old the first of its chain may be.
        max_age: Option<Duration>,
    },
    /// End one before its time.
    End {
        /// What came.
        handle: Sent<'a>,
        /// How long it is good, as when it was made.
        max_age: Option<Duration>,
        /// Whether it holds its state.
        held: bool,
    },
}

pub(super) struct Acting {
    handle_type: String,
    work: Work,
    /// What came.
    handle: Kept,
    max_age: Option<Duration>,
    /// What is given once it is accepted, or the end remembered.
    made: Option<Made>,
}

enum Work {
    Mint,
    Check,
    Seal(String, Option<Duration>, Option<Before>),
    Open,
    End { held: bool },
}

impl Acting {
    pub fn new(act: Act<'_>) -> Self {
        let (work, handle, max_age) = match act.what {
            What::Mint { max_age } => (Work::Mint, Sent::Absent, max_age),
            What::Check { handle, max_age } => (Work::Check, handle, max_age),
            What::Seal { value, ttl, before } => {
                (Work::Seal(value.into(), ttl, before), Sent::Absent, None)
            }
            What::Open { handle, max_age } => (Work::Open, handle, max_age),
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
            made: None,
        }
    }

    pub fn advance(&mut self, context: &mut Context) -> Step {
        let view = match context.view() {
            Ok(view) => view,
            Err(step) => return step,
        };
        let acted = match &self.work {
            Work::Mint => self.mint(&view).map_err(Reason::Unsealed),
            Work::Seal(value, ttl, before) => self
                .seal(&view, value, *ttl, *before)
                .map_err(Reason::Unsealed),
            _ => {
                let asks = context.guard.settings().asks;
                return match self.present(&view, asks) {
                    Ok(step) => step,
                    Err(error) => self.refuse(context, error),
                };
            }
        };
        match acted {
            Ok(made) => Step::Done(made.into()),
            Err(reason) => self.refuse(context, reason),
        }
    }

    pub fn take(&mut self, context: &mut Context, event: Event<'_>) -> Option<Step> {
        let Event::Answer(verdict) = event else {
            return None;
        };
        Some(match verdict.judged() {
            Ok(()) => Step::Done(self.made.take()?.into()),
            Err((_, reason)) => self.refuse(context, reason),
        })
    }

    pub fn fail(&self, context: &mut Context, error: Error) -> Step {
        self.refuse(context, error)
    }

    fn mint(&self, view: &View) -> Result<Made, Error> {
        Ok(self.told(&view.mint_handle(&self.handle_type)?))
    }

    fn seal(
        &self,
        view: &View,
        value: &str,
        ttl: Option<Duration>,
        before: Option<Before>,
    ) -> Result<Made, Error> {
        let value = json(value.as_bytes()).map_err(|_| Error::argument("value: expected JSON"))?;
        let sealer = view.handle_state(&self.handle_type);
        let sealer = match ttl {
            Some(ttl) => sealer.ttl(ttl),
            None => sealer,
        };
        let token: Token<_> = match before {
            Some(Before {
                started_at,
                generation,
            }) => sealer.renew_from(started_at, generation, value.as_bytes())?,
            None => sealer.seal(value.as_bytes())?,
        };
        let issued_at = token.issued_at();
        Ok(Made {
            id: alloc::string::ToString::to_string(&token.id()),
            expires_at: token.expires_at().and_then(rfc3339),
            before: Some(Before {
                started_at: before.map_or(issued_at, |before| before.started_at),
                generation: before.map_or(0, |before| before.generation.saturating_add(1)),
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

    /// Opens what came, and gives it once it is accepted.
    fn present(&mut self, view: &View, asks: bool) -> Result<Step, Error> {
        let ends = matches!(self.work, Work::End { .. });
        if ends && !asks {
            return Err(Error::argument(
                "end: expected a guard with `accept`, which remembers what ended",
            ));
        }
        let (made, presented) = match self.item() {
            Item::HandleState => self.open(view)?,
            _ => self.check(view)?,
        };
        if !asks {
            return Ok(Step::Done(made.into()));
        }
        self.made = Some(made);
        Ok(Step::Ask(if ends {
            Question::End(presented)
        } else {
            Question::Accept(vec![presented])
        }))
    }

    fn check(&self, view: &View) -> Result<(Made, Presented), Error> {
        let handle = view.verify_handle(&self.handle_type, self.text()?, self.max_age)?;
        let ends = self.max_age.map(|age| handle.ends_at_ms(age));
        let presented = Presented::ulid(Item::Handle, handle.ulid(), ends);
        Ok((self.told(&handle), presented))
    }

    fn open(&self, view: &View) -> Result<(Made, Presented), Error> {
        let sealer: Sealer<'_, kind::HandleState> = view.handle_state(&self.handle_type);
        let sealer = match self.max_age {
            Some(max_age) => sealer.max_age(max_age),
            None => sealer,
        };
        let opened = sealer.open(self.text()?)?;
        let presented = Presented::token(Item::HandleState, &opened);
        let made = Made {
            handle: None,
            id: presented.id.clone(),
            expires_at: opened.expires_at().and_then(rfc3339),
            value: Some(json(opened.payload())?.into()),
            before: Some(Before {
                started_at: opened.started_at(),
                generation: opened.generation(),
            }),
            life: Some(Life {
                issued_at: opened.issued_at(),
                expires_at: opened.expires_at(),
                needs_reseal: opened.needs_reseal(),
                needs_renewal: opened.needs_renewal(),
            }),
        };
        Ok((made, presented))
    }

    fn told(&self, handle: &Handle) -> Made {
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
            Work::Seal(..) | Work::Open | Work::End { held: true } => Item::HandleState,
        }
    }

    fn refuse(&self, context: &mut Context, reason: impl Into<Reason>) -> Step {
        let about = About {
            token: self.handle.sent().text(),
            // What was verified has an id that is known to be ours.
            id: self.made.as_ref().map(|made| made.id.clone()),
            ..About::new(self.item())
        };
        let reason = reason.into();
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
