//! Handles that hold their state: the client keeps it, sealed, and the server keeps nothing.

use std::fmt;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sealwax::Profile;
use sealwax::mcp::{Before, Made, Sent, What};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Kind;
use crate::acting::Acting;
use crate::caller::Caller;
use crate::guard::Guard;
use crate::refusal::About;
use crate::refused::Refused;
use crate::session::json;

impl Guard {
    /// Handles of one type, such as `basket`, that hold their state.
    #[must_use]
    pub fn held_handles(&self, handle_type: impl Into<String>) -> HeldHandles {
        HeldHandles {
            guard: self.clone(),
            handle_type: handle_type.into(),
            ttl: None,
            single_use: false,
        }
    }
}

/// Seals state into handles of one type, and opens them.
///
/// Each change makes a new handle. The old one still opens, with the old state, until it expires or
/// is ended: nothing but a ledger can forbid that, see [`single_use`](Self::single_use).
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
/// let next = baskets.renew(&context, &basket).await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct HeldHandles {
    guard: Guard,
    handle_type: String,
    ttl: Option<Duration>,
    single_use: bool,
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
    /// How many handles of its chain came before it.
    pub generation: u32,
    before: Option<Before>,
}

impl HeldHandles {
    /// How long a handle lives, in whole seconds: 24 hours unless set.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// A renewal ends the handle before: of all that were made from one, the first is good. It takes a
    /// [ledger](crate::GuardBuilder::ledger).
    ///
    /// Opening alone uses nothing up, so that a tool that fails loses nothing: do what is to be done once
    /// after [`renew`](Self::renew).
    #[must_use]
    pub fn single_use(mut self) -> Self {
        self.single_use = true;
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
        self.sealing(context, value, None)?.now().map(sealed)
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
        let open = What::Open {
            handle: Sent::Text(handle),
            max_age: None,
            once: self.single_use,
        };
        let acting = Acting::begin(&self.guard, &self.handle_type, context, open)?;
        let (value, made) = acting.open(handle).await?;
        Ok(Held {
            value,
            expires_at: made.expires_at,
            generation: made.before.as_ref().map_or(0, |it| it.generation),
            before: made.before,
        })
    }

    /// The next handle of a chain, which holds the value as it is now.
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal); with [`single_use`](Self::single_use) also where the handle before was renewed
    /// already.
    pub async fn renew<T: Serialize>(
        &self,
        context: &RequestContext<RoleServer>,
        held: &Held<T>,
    ) -> Result<SealedHandle, Refused> {
        let sealing = self.sealing(context, &held.value, held.before.clone())?;
        sealing.done().await.map(sealed)
    }

    /// Ends a handle before its time: the [ledger](crate::GuardBuilder::ledger) and
    /// [`Accept::ended`](crate::Accept::ended) are told.
    ///
    /// # Errors
    ///
    /// [`Refused`] for a handle that is not good, if the end could not be told, and with neither
    /// a ledger nor an `Accept`: nobody would remember, and the handle would open until it expires.
    pub async fn end(
        &self,
        context: &RequestContext<RoleServer>,
        handle: &str,
    ) -> Result<(), Refused> {
        let end = What::End {
            handle: Sent::Text(handle),
            max_age: None,
            held: true,
        };
        let acting = Acting::begin(&self.guard, &self.handle_type, context, end)?;
        acting.done().await.map(drop)
    }

    fn sealing<'a, T: Serialize + ?Sized>(
        &self,
        context: &'a RequestContext<RoleServer>,
        value: &T,
        before: Option<Before>,
    ) -> Result<Acting<'a>, Refused> {
        let value = json(value).map_err(|error| {
            let principal = Caller::of(context)
                .ok()
                .and_then(|caller| caller.principal());
            let about = About::new(Kind::HandleState, Profile::Handle, principal);
            Refused::new(self.guard.refuse(&error, about))
        })?;
        let seal = What::Seal {
            value: &value,
            ttl: self.ttl,
            once: self.single_use && before.is_some(),
            before,
        };
        Acting::begin(&self.guard, &self.handle_type, context, seal)
    }
}

fn sealed(made: Made) -> SealedHandle {
    SealedHandle {
        handle: made.handle.unwrap_or_default(),
        expires_at: made.expires_at,
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
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}
