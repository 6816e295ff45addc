//! Handles whose state the server holds: each is the key of a row, bound to the user.

use std::fmt;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sealwax::mcp::{Made, Sent, What};

use crate::acting::Acting;
use crate::guard::Guard;
use crate::refused::Refused;

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
        let max_age = self.max_age;
        let mint = What::Mint { max_age };
        let acting = Acting::begin(&self.guard, &self.handle_type, context, mint)?;
        acting.now().map(handle)
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
        let check = What::Check {
            handle: Sent::Text(handle),
            max_age: self.max_age,
        };
        let acting = Acting::begin(&self.guard, &self.handle_type, context, check)?;
        acting.done().await.map(self::handle)
    }

    /// Ends a handle before its time: the [ledger](crate::GuardBuilder::ledger) and
    /// [`Accept::ended`](crate::Accept::ended) are told.
    ///
    /// # Errors
    ///
    /// [`Refused`] for a handle that is not good, if the end could not be told, and with neither
    /// a ledger nor an `Accept`: nobody would remember, and the row that is gone must do.
    pub async fn end(
        &self,
        context: &RequestContext<RoleServer>,
        handle: &str,
    ) -> Result<(), Refused> {
        let end = What::End {
            handle: Sent::Text(handle),
            max_age: self.max_age,
            held: false,
        };
        let acting = Acting::begin(&self.guard, &self.handle_type, context, end)?;
        acting.done().await.map(drop)
    }
}

fn handle(made: Made) -> Handle {
    Handle {
        handle: made.handle.unwrap_or_default(),
        ulid: made.id,
        expires_at: made.expires_at,
    }
}

/// Logs get the ulid, which is no handle.
impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({})", self.ulid)
    }
}
