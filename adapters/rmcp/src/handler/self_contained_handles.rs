//! Self-contained handles hold their state: the client keeps it sealed, and the server keeps nothing.

use std::fmt;
use std::time::Duration;

use sealwax_mcp::{HandleOpKind, HandleResult, Predecessor};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::handles::{HandleType, Operation};
use crate::guard::Guard;
use crate::refusal::HandleRefused;
use crate::value::json;
use crate::{Context, Kind};

impl Guard {
    /// Returns the handles of one type, such as `basket`, that hold their state.
    pub fn self_contained_handles(&self, handle_type: impl Into<String>) -> SelfContainedHandles {
        SelfContainedHandles {
            handles: HandleType::new(self, Kind::HandleState, handle_type),
            ttl: None,
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
/// # use sealwax_rmcp::{Guard, HandleRefused};
/// # async fn tool(guard: Guard, context: RequestContext<RoleServer>, sent: String) -> Result<(), HandleRefused> {
/// let baskets = guard.self_contained_handles("basket");
///
/// let empty = baskets.seal(&context, &Vec::<String>::new())?; // tell the model empty.handle
/// let mut basket = baskets.open::<Vec<String>>(&context, &sent).await?;
/// basket.value.push("apple".into());
/// let next = baskets.renew(&context, &basket).await?;
/// # Ok(()) }
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct SelfContainedHandles {
    handles: HandleType,
    ttl: Option<Duration>,
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
pub struct SelfContainedHandle<T> {
    /// The state. Change it and call [`renew`](SelfContainedHandles::renew).
    pub value: T,
    /// The expiry of the handle, for the model to read: `YYYY-MM-DDTHH:MM:SSZ`.
    pub expires_at: Option<String>,
    /// The number of handles before it in its chain.
    pub generation: u32,
    predecessor: Option<Predecessor>,
}

impl SelfContainedHandles {
    /// Sets how long a handle is valid, in whole seconds: 24 hours by default.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Sets how long a chain of handles is valid from its first one, however often it is renewed: in whole seconds,
    /// and without a limit by default.
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.handles.max_age = Some(max_age);
        self
    }

    /// Makes a renewal end the previous handle. If several handles are made from one, only the first is good. It
    /// needs a [ledger](crate::GuardBuilder::ledger).
    ///
    /// Opening a handle does not use it up, so that a tool that fails loses nothing. Call [`renew`](Self::renew)
    /// before an effect that must happen only once.
    pub fn single_use(mut self) -> Self {
        self.single_use = true;
        self
    }

    /// Seals the JSON of `value` into a new handle.
    ///
    /// # Errors
    ///
    /// [`HandleRefused`] without a principal, and if `value` cannot be sealed.
    pub fn seal<T: Serialize + ?Sized>(
        &self,
        context: &Context,
        value: &T,
    ) -> Result<SealedHandle, HandleRefused> {
        let sealed = self.sealing(context, value, None)?.now()?;
        Ok(SealedHandle::new(sealed))
    }

    /// Opens a handle that the model sent.
    ///
    /// # Errors
    ///
    /// [`HandleRefused`] for a handle that is not good, whatever the reason, and for one that holds no `T`.
    pub async fn open<T: DeserializeOwned>(
        &self,
        context: &Context,
        handle: &str,
    ) -> Result<SelfContainedHandle<T>, HandleRefused> {
        let opened = self.handles.value(context, handle, self.single_use);
        let (value, opened) = opened.await?;
        let predecessor = opened.predecessor;
        Ok(SelfContainedHandle {
            value,
            expires_at: opened.expires_at,
            generation: predecessor.as_ref().map_or(0, |it| it.generation),
            predecessor,
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
        context: &Context,
        handle: &SelfContainedHandle<T>,
    ) -> Result<SealedHandle, HandleRefused> {
        let sealing = self.sealing(context, &handle.value, handle.predecessor.clone())?;
        sealing.done().await.map(SealedHandle::new)
    }

    /// Ends a handle before its expiry, in the [ledger](crate::GuardBuilder::ledger).
    ///
    /// # Errors
    ///
    /// [`HandleRefused`] for a handle that is not good, if the end could not be recorded, and without a ledger: the handle would
    /// still open until it expires.
    pub async fn end(&self, context: &Context, handle: &str) -> Result<(), HandleRefused> {
        self.handles.end(context, handle).await
    }

    fn sealing<'a, T: Serialize + ?Sized>(
        &self,
        context: &'a Context,
        value: &T,
        predecessor: Option<Predecessor>,
    ) -> Result<Operation<'a>, HandleRefused> {
        let value = json(value).map_err(|error| self.handles.refuse(&error, context, None))?;
        let seal = HandleOpKind::Seal {
            value: &value,
            ttl: self.ttl,
            once: self.single_use && predecessor.is_some(),
            predecessor,
        };
        self.handles.begin(context, seal)
    }
}

impl SealedHandle {
    fn new(result: HandleResult) -> Self {
        Self {
            handle: result.handle.unwrap_or_default(),
            expires_at: result.expires_at,
        }
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

impl<T> fmt::Debug for SelfContainedHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelfContainedHandle")
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}
