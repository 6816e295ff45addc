//! Handles that hold their state: the client keeps it, sealed, and the server keeps nothing.

use std::fmt;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sealwax::{Opened, Sealer, Token, kind};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::accept::over;
use crate::caller::Known;
use crate::handles::rfc3339;
use crate::refusal::{About, Reason};
use crate::sessions::json;
use crate::{Guard, Kind, Presented, Refused};

impl Guard {
    /// Handles of one type, such as `basket`, that hold their state.
    #[must_use]
    pub fn held_handles(&self, handle_type: impl Into<String>) -> HeldHandles {
        HeldHandles {
            guard: self.clone(),
            handle_type: handle_type.into(),
            ttl: None,
        }
    }
}

/// Seals state into handles of one type, and opens them.
///
/// Each change makes a new handle. The old one still opens, with the old state, until it expires or
/// is ended: nothing but a store can forbid that.
///
/// ```no_run
/// # use rmcp::{RoleServer, service::RequestContext};
/// # use sealwax_rmcp::{Guard, Refused};
/// # async fn tool(guard: Guard, context: RequestContext<RoleServer>, sent: String) -> Result<(), Refused> {
/// let baskets = guard.held_handles("basket");
///
/// let empty = baskets.seal(&context, &Vec::<String>::new())?; // tell the model empty.handle
/// let mut basket = baskets.open::<Vec<String>>(&context, &sent).await?;
/// basket.value.push("apple".into());
/// let next = baskets.renew(&context, &basket)?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct HeldHandles {
    guard: Guard,
    handle_type: String,
    ttl: Option<Duration>,
}

/// A handle fresh from sealing.
#[derive(Clone)]
#[non_exhaustive]
pub struct SealedHandle {
    /// What the model carries.
    pub handle: String,
    /// When it ends, for the model to see: `YYYY-MM-DDTHH:MM:SSZ`.
    pub expires_at: Option<String>,
}

/// What a handle held, every check passed.
#[non_exhaustive]
pub struct Held<T> {
    /// The state; change it and [`renew`](HeldHandles::renew).
    pub value: T,
    /// When the handle ends, for the model to see: `YYYY-MM-DDTHH:MM:SSZ`.
    pub expires_at: Option<String>,
    opened: Opened<kind::HandleState>,
}

impl HeldHandles {
    /// How long a handle lives, in whole seconds: 24 hours unless set.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// A new handle that holds the JSON of `value`.
    ///
    /// # Errors
    ///
    /// [`Refused`] where there is no principal, or `value` cannot be sealed.
    pub fn seal<T: Serialize + ?Sized>(
        &self,
        context: &RequestContext<RoleServer>,
        value: &T,
    ) -> Result<SealedHandle, Refused> {
        let known = self.guard.known(Kind::HandleState, context)?;
        let sealed = json(value).and_then(|payload| self.sealer(known).seal(&payload));
        self.finish(known, sealed)
    }

    /// What a handle that came back holds.
    ///
    /// # Errors
    ///
    /// [`Refused`] for one that is not good, for whatever reason, or holds no `T`.
    pub async fn open<T: DeserializeOwned>(
        &self,
        context: &RequestContext<RoleServer>,
        handle: &str,
    ) -> Result<Held<T>, Refused> {
        let known = self.guard.known(Kind::HandleState, context)?;
        let opened = self.verify(known, handle)?;
        // First of all, for what cannot be read must not count as used.
        let value = opened.json();
        let value = value.map_err(|error| self.refuse(known, &error.into(), handle))?;
        let accepted = self.guard.accept(&presented(known, &opened)).await;
        accepted.map_err(|reason| self.refuse(known, &reason, handle))?;
        Ok(Held {
            value,
            expires_at: opened.expires_at().and_then(rfc3339),
            opened,
        })
    }

    /// The next handle of a chain, which holds the value as it is now.
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal).
    pub fn renew<T: Serialize>(
        &self,
        context: &RequestContext<RoleServer>,
        held: &Held<T>,
    ) -> Result<SealedHandle, Refused> {
        let known = self.guard.known(Kind::HandleState, context)?;
        let sealed =
            json(&held.value).and_then(|payload| self.sealer(known).renew(&held.opened, &payload));
        self.finish(known, sealed)
    }

    /// Ends a handle before its time: [`Accept::ended`](crate::Accept::ended) is told.
    ///
    /// # Errors
    ///
    /// [`Refused`] for a handle that is not good, if the end could not be told, and without an
    /// `Accept`: nobody would remember, and the handle would open until it expires.
    pub async fn end(
        &self,
        context: &RequestContext<RoleServer>,
        handle: &str,
    ) -> Result<(), Refused> {
        let known = self.guard.known(Kind::HandleState, context)?;
        let opened = self.verify(known, handle)?;
        let ended = self.guard.end(&presented(known, &opened)).await;
        ended.map_err(|reason| self.refuse(known, &reason, handle))
    }

    fn sealer<'v>(&'v self, known: &'v Known) -> Sealer<'v, kind::HandleState> {
        let sealer = known.view.handle_state(&self.handle_type);
        match self.ttl {
            Some(ttl) => sealer.ttl(ttl),
            None => sealer,
        }
    }

    fn verify(&self, known: &Known, handle: &str) -> Result<Opened<kind::HandleState>, Refused> {
        let opened = self.sealer(known).open(handle);
        opened.map_err(|error| self.refuse(known, &error.into(), handle))
    }

    fn finish(
        &self,
        known: &Known,
        sealed: Result<Token<kind::HandleState>, sealwax::Error>,
    ) -> Result<SealedHandle, Refused> {
        let sealed = sealed.map(|token| SealedHandle {
            expires_at: token.expires_at().and_then(rfc3339),
            handle: token.into_string(),
        });
        sealed.map_err(|error| self.refuse(known, &Reason::NotSealed(error), ""))
    }

    fn refuse(&self, known: &Known, reason: &Reason, handle: &str) -> Refused {
        let about = About {
            principal: Some(&known.principal),
            token: Some(handle),
            token_id: None,
        };
        self.guard.refuse_handle(Kind::HandleState, reason, about)
    }
}

fn presented(known: &Known, opened: &Opened<kind::HandleState>) -> Presented {
    Presented {
        kind: Kind::HandleState,
        id: opened.token_id().to_string(),
        principal: known.principal.clone(),
        expires_at: opened.expires_at().map(over),
    }
}

/// A handle is worth what it holds, so logs get its end only.
impl fmt::Debug for SealedHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedHandle")
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Held<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held")
            .field("opened", &self.opened)
            .finish_non_exhaustive()
    }
}
