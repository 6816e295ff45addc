//! Handles whose state the server holds: each is the key of a row, bound to the user.

use std::fmt;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sealwax::Error;

use crate::accept::over_ms;
use crate::caller::{Caller, Known, hex};
use crate::refusal::{About, Reason};
use crate::{Guard, Kind, Presented, Refused};

impl Guard {
    /// Handles of one type, such as `basket`, for state that the server holds.
    #[must_use]
    pub fn handles(&self, handle_type: impl Into<String>) -> Handles {
        Handles {
            guard: self.clone(),
            handle_type: handle_type.into(),
            max_age: None,
        }
    }

    /// Who presents a handle. Only a server that this guard protects can tell.
    pub(crate) fn known<'c>(
        &self,
        kind: Kind,
        context: &'c RequestContext<RoleServer>,
    ) -> Result<&'c Known, Refused> {
        let known = Caller::of(context).and_then(|caller| {
            if caller.guard.is(self) {
                return caller.known(context);
            }
            Err(Error::InvalidArgument(
                "expected handles of the guard that protects this server".into(),
            ))
        });
        known.map_err(|error| self.refuse_handle(kind, &error.into(), About::default()))
    }

    pub(crate) fn refuse_handle(&self, kind: Kind, reason: &Reason, about: About<'_>) -> Refused {
        Refused::new(&self.refuse(kind, reason, about))
    }
}

/// Mints and checks handles of one type, for state that the server holds.
///
/// A handle is the key of a row of yours, bound to the principal: every agent of one user can use
/// it, nobody else can, and several may live at once.
///
/// ```no_run
/// # use std::time::Duration;
/// # use rmcp::{RoleServer, service::RequestContext};
/// # use sealwax_rmcp::{Guard, Refused};
/// # async fn tool(guard: Guard, context: RequestContext<RoleServer>, sent: String) -> Result<(), Refused> {
/// let baskets = guard.handles("basket").max_age(Duration::from_secs(3600));
///
/// let basket = baskets.mint(&context)?; // INSERT … basket.ulid; tell the model basket.handle
/// let basket = baskets.check(&context, &sent).await?; // SELECT … WHERE ulid = basket.ulid
/// baskets.end(&context, &sent).await?; // DELETE …
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Handles {
    guard: Guard,
    handle_type: String,
    max_age: Option<Duration>,
}

/// A handle that was minted, or checked.
#[derive(Clone)]
#[non_exhaustive]
pub struct Handle {
    /// What the model carries.
    pub handle: String,
    /// The key of its row: 32 hex digits.
    pub ulid: String,
    /// When it ends, for the model to see: `YYYY-MM-DDTHH:MM:SSZ`. `None` for never.
    pub expires_at: Option<String>,
}

impl Handles {
    /// How long a handle lives, in whole seconds; for ever unless set.
    #[must_use]
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.max_age = Some(max_age);
        self
    }

    /// A new handle.
    ///
    /// # Errors
    ///
    /// [`Refused`] where there is no principal or no randomness, or for a type that is none.
    pub fn mint(&self, context: &RequestContext<RoleServer>) -> Result<Handle, Refused> {
        let known = self.guard.known(Kind::Handle, context)?;
        let minted = known.view.mint_handle(&self.handle_type);
        let minted = minted.map_err(|error| self.refuse(known, Reason::NotSealed(error)))?;
        Ok(self.handle(&minted))
    }

    /// A handle that came back.
    ///
    /// # Errors
    ///
    /// [`Refused`] for one that is not good, for whatever reason.
    pub async fn check(
        &self,
        context: &RequestContext<RoleServer>,
        handle: &str,
    ) -> Result<Handle, Refused> {
        let known = self.guard.known(Kind::Handle, context)?;
        let (handle, presented) = self.verify(known, handle)?;
        let accepted = self.guard.accept(&presented).await;
        accepted.map_err(|reason| self.refuse(known, reason))?;
        Ok(handle)
    }

    /// Ends a handle before its time: [`Accept::ended`](crate::Accept::ended) is told.
    ///
    /// # Errors
    ///
    /// [`Refused`] for a handle that is not good, if the end could not be told, and without an
    /// `Accept`: nobody would remember, and the row that is gone must do.
    pub async fn end(
        &self,
        context: &RequestContext<RoleServer>,
        handle: &str,
    ) -> Result<(), Refused> {
        let known = self.guard.known(Kind::Handle, context)?;
        let (_, presented) = self.verify(known, handle)?;
        let ended = self.guard.end(&presented).await;
        ended.map_err(|reason| self.refuse(known, reason))
    }

    fn verify(&self, known: &Known, text: &str) -> Result<(Handle, Presented), Refused> {
        let verified = known
            .view
            .verify_handle(&self.handle_type, text, self.max_age);
        let verified = verified.map_err(|error| self.refuse(known, error.into()))?;
        let handle = self.handle(&verified);
        let presented = Presented {
            kind: Kind::Handle,
            id: handle.ulid.clone(),
            principal: known.principal.clone(),
            expires_at: self.ends_at_ms(&verified).map(over_ms),
        };
        Ok((handle, presented))
    }

    fn handle(&self, handle: &sealwax::Handle) -> Handle {
        Handle {
            handle: handle.as_str().into(),
            ulid: hex(handle.ulid()),
            expires_at: self.ends_at_ms(handle).and_then(|end| rfc3339(end / 1000)),
        }
    }

    fn ends_at_ms(&self, handle: &sealwax::Handle) -> Option<u64> {
        self.max_age.map(|age| handle.ends_at_ms(age))
    }

    fn refuse(&self, known: &Known, reason: Reason) -> Refused {
        let about = About {
            principal: Some(&known.principal),
            ..About::default()
        };
        self.guard.refuse_handle(Kind::Handle, &reason, about)
    }
}

/// Logs get the ulid, which is no handle.
impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({})", self.ulid)
    }
}

/// `None` past the year 9999, which RFC 3339 cannot write.
pub(crate) fn rfc3339(unix_seconds: u64) -> Option<String> {
    let seconds = i64::try_from(unix_seconds).ok()?;
    let time = jiff::Timestamp::from_second(seconds).ok()?;
    Some(time.to_string())
}
