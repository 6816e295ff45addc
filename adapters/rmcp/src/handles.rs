//! Handles whose state the server holds. Each is the key of a row, bound to the user.

use std::fmt;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sealwax_mcp::{ClientValue, HandleOpKind, HandleResult};

use crate::acting::Acting;
use crate::guard::Guard;
use crate::refused::Refused;

impl Guard {
    /// Returns the handles of one type, such as `basket`, for state that the server holds.
    #[must_use]
    pub fn handles(&self, handle_type: impl Into<String>) -> Handles {
        Handles {
            guard: self.clone(),
            handle_type: handle_type.into(),
            max_age: None,
        }
    }
}

/// Mints and checks handles of one type, for state that the server holds.
///
/// A handle is the key of one of your rows, bound to the principal: every agent of one user can use it, and nobody
/// else can. A user may have several at once.
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

/// A minted or checked handle.
#[derive(Clone)]
#[non_exhaustive]
pub struct Handle {
    /// The text that the model carries.
    pub handle: String,
    /// The key of its row: 32 hex digits.
    pub ulid: String,
    /// Its expiry, for the model to read: `YYYY-MM-DDTHH:MM:SSZ`. `None` if it never expires.
    pub expires_at: Option<String>,
}

impl Handles {
    /// Sets how long a handle is valid, in whole seconds; without a limit by default.
    #[must_use]
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.max_age = Some(max_age);
        self
    }

    /// Mints a handle.
    ///
    /// # Errors
    ///
    /// [`Refused`] without a principal or randomness, and for an invalid type.
    pub fn mint(&self, context: &RequestContext<RoleServer>) -> Result<Handle, Refused> {
        let max_age = self.max_age;
        let mint = HandleOpKind::Mint { max_age };
        let acting = Acting::begin(&self.guard, &self.handle_type, context, mint)?;
        acting.now().map(handle)
    }

    /// Checks a handle that the model sent.
    ///
    /// # Errors
    ///
    /// [`Refused`] for a handle that is not good, whatever the reason.
    pub async fn check(
        &self,
        context: &RequestContext<RoleServer>,
        handle: &str,
    ) -> Result<Handle, Refused> {
        let check = HandleOpKind::Check {
            handle: ClientValue::Text(handle),
            max_age: self.max_age,
        };
        let acting = Acting::begin(&self.guard, &self.handle_type, context, check)?;
        acting.done().await.map(self::handle)
    }

    /// Ends a handle before its expiry, in the [ledger](crate::GuardBuilder::ledger) and by
    /// [`Accept::ended`](crate::Accept::ended).
    ///
    /// # Errors
    ///
    /// [`Refused`] for a handle that is not good, if the end could not be recorded, and with neither a ledger nor an
    /// `Accept`. In the last case delete the row instead.
    pub async fn end(
        &self,
        context: &RequestContext<RoleServer>,
        handle: &str,
    ) -> Result<(), Refused> {
        let end = HandleOpKind::End {
            handle: ClientValue::Text(handle),
            max_age: self.max_age,
            self_contained: false,
        };
        let acting = Acting::begin(&self.guard, &self.handle_type, context, end)?;
        acting.done().await.map(drop)
    }
}

fn handle(made: HandleResult) -> Handle {
    Handle {
        handle: made.handle.unwrap_or_default(),
        ulid: made.id,
        expires_at: made.expires_at,
    }
}

/// The ulid is no secret: it is not the handle.
impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({})", self.ulid)
    }
}
