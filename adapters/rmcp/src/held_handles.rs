//! Handles that hold their state: the client keeps it sealed, and the server keeps nothing.

use std::fmt;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sealwax_mcp::Profile;
use sealwax_mcp::{ClientValue, HandleOpKind, HandleResult, Predecessor};
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
    /// Returns the handles of one type, such as `basket`, that hold their state.
    #[must_use]
    pub fn held_handles(&self, handle_type: impl Into<String>) -> HeldHandles {
        HeldHandles {
            guard: self.clone(),
            handle_type: handle_type.into(),
            ttl: None,
            max_age: None,
            single_use: false,
        }
    }
}

/// Seals state into handles of one type, and opens them.
///
/// Each change makes a new handle. The previous one still opens with its state, until it expires or is ended; only a
/// ledger can prevent that, see [`single_use`](Self::single_use).
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
    max_age: Option<Duration>,
    single_use: bool,
}

/// A sealed handle.
#[derive(Clone)]
#[non_exhaustive]
pub struct SealedHandle {
    /// The text that the model carries.
    pub handle: String,
    /// Its expiry, for the model to read: `YYYY-MM-DDTHH:MM:SSZ`.
    pub expires_at: Option<String>,
}

/// The content of a handle that passed every check.
#[non_exhaustive]
pub struct Held<T> {
    /// The state. Change it and call [`renew`](HeldHandles::renew).
    pub value: T,
    /// The expiry of the handle, for the model to read: `YYYY-MM-DDTHH:MM:SSZ`.
    pub expires_at: Option<String>,
    /// The number of handles before it in its chain.
    pub generation: u32,
    before: Option<Predecessor>,
}

impl HeldHandles {
    /// Sets how long a handle is valid, in whole seconds: 24 hours by default.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Sets how long a chain of handles is valid from its first one, however often it is renewed: in whole seconds,
    /// and without a limit by default.
    #[must_use]
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.max_age = Some(max_age);
        self
    }

    /// Makes a renewal end the previous handle. If several handles are made from one, only the first is good. It
    /// needs a [ledger](crate::GuardBuilder::ledger).
    ///
    /// Opening a handle does not use it up, so that a tool that fails loses nothing. Call [`renew`](Self::renew)
    /// before an effect that must happen only once.
    #[must_use]
    pub fn single_use(mut self) -> Self {
        self.single_use = true;
        self
    }

    /// Seals the JSON of `value` into a new handle.
    ///
    /// # Errors
    ///
    /// [`Refused`] without a principal, and if `value` cannot be sealed.
    pub fn seal<T: Serialize + ?Sized>(
        &self,
        context: &RequestContext<RoleServer>,
        value: &T,
    ) -> Result<SealedHandle, Refused> {
        self.sealing(context, value, None)?.now().map(sealed)
    }

    /// Opens a handle that the model sent.
    ///
    /// # Errors
    ///
    /// [`Refused`] for a handle that is not good, whatever the reason, and for one that holds no `T`.
    pub async fn open<T: DeserializeOwned>(
        &self,
        context: &RequestContext<RoleServer>,
        handle: &str,
    ) -> Result<Held<T>, Refused> {
        let open = HandleOpKind::Open {
            handle: ClientValue::Text(handle),
            max_age: self.max_age,
            once: self.single_use,
        };
        let acting = Acting::begin(&self.guard, &self.handle_type, context, open)?;
        let (value, made) = acting.open(handle).await?;
        Ok(Held {
            value,
            expires_at: made.expires_at,
            generation: made.predecessor.as_ref().map_or(0, |it| it.generation),
            before: made.predecessor,
        })
    }

    /// Seals the current value into the next handle of the chain.
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal); with [`single_use`](Self::single_use) also if the previous handle was renewed
    /// already.
    pub async fn renew<T: Serialize>(
        &self,
        context: &RequestContext<RoleServer>,
        held: &Held<T>,
    ) -> Result<SealedHandle, Refused> {
        let sealing = self.sealing(context, &held.value, held.before.clone())?;
        sealing.done().await.map(sealed)
    }

    /// Ends a handle before its expiry, in the [ledger](crate::GuardBuilder::ledger) and by
    /// [`Accept::ended`](crate::Accept::ended).
    ///
    /// # Errors
    ///
    /// [`Refused`] for a handle that is not good, if the end could not be recorded, and with neither a ledger
    /// nor an `Accept`: the handle would still open until it expires.
    pub async fn end(
        &self,
        context: &RequestContext<RoleServer>,
        handle: &str,
    ) -> Result<(), Refused> {
        let end = HandleOpKind::End {
            handle: ClientValue::Text(handle),
            max_age: self.max_age,
            self_contained: true,
        };
        let acting = Acting::begin(&self.guard, &self.handle_type, context, end)?;
        acting.done().await.map(drop)
    }

    fn sealing<'a, T: Serialize + ?Sized>(
        &self,
        context: &'a RequestContext<RoleServer>,
        value: &T,
        before: Option<Predecessor>,
    ) -> Result<Acting<'a>, Refused> {
        let value = json(value).map_err(|error| {
            let principal = Caller::of(context)
                .ok()
                .and_then(|caller| caller.principal());
            let about = About::new(Kind::HandleState, Profile::Handle, principal);
            Refused::new(self.guard.refuse(&error, about))
        })?;
        let seal = HandleOpKind::Seal {
            value: &value,
            ttl: self.ttl,
            once: self.single_use && before.is_some(),
            predecessor: before,
        };
        Acting::begin(&self.guard, &self.handle_type, context, seal)
    }
}

fn sealed(made: HandleResult) -> SealedHandle {
    SealedHandle {
        handle: made.handle.unwrap_or_default(),
        expires_at: made.expires_at,
    }
}

/// Logs must not contain the handle or its value.
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
