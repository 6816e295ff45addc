//! Handles that refer to state that the server holds. Each is the key of a row, bound to the user.

use std::fmt;
use std::time::Duration;

use sealwax_mcp::{ClientValue, HandleOpKind, HandleResult};

use super::handles::{HandleType, trouble};
use crate::guard::Guard;
use crate::refusal::HandleRefused;
use crate::{Context, Kind};

impl Guard {
    /// Returns the handles of one type, such as `basket`, for state that the server holds.
    pub fn reference_handles(&self, handle_type: impl Into<String>) -> ReferenceHandles {
        ReferenceHandles(HandleType::new(self, Kind::Handle, handle_type))
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
/// # use sealwax_rmcp::{Guard, HandleRefused};
/// # async fn tool(guard: Guard, context: RequestContext<RoleServer>, sent: String) -> Result<(), HandleRefused> {
/// let baskets = guard.reference_handles("basket").max_age(Duration::from_secs(3600));
///
/// let basket = baskets.mint(&context)?; // INSERT … basket.ulid; tell the model basket.handle
/// let basket = baskets.check(&context, &sent).await?; // SELECT … WHERE ulid = basket.ulid
/// baskets.end(&context, &sent).await?; // DELETE …
/// # Ok(()) }
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct ReferenceHandles(HandleType);

/// A minted or checked handle.
#[derive(Clone)]
#[non_exhaustive]
pub struct ReferenceHandle {
    /// The text that the model carries.
    pub handle: String,
    /// The key of its row: 32 hex digits.
    pub ulid: String,
    /// Its expiry, for the model to read: `YYYY-MM-DDTHH:MM:SSZ`. `None` if it never expires.
    pub expires_at: Option<String>,
}

impl ReferenceHandles {
    /// Sets how long a handle is valid, in whole seconds; without a limit by default.
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.0.max_age = Some(max_age);
        self
    }

    /// Mints a handle.
    ///
    /// # Errors
    ///
    /// [`HandleRefused`] without a principal or randomness, and for an invalid type.
    pub fn mint(&self, context: &Context) -> Result<ReferenceHandle, HandleRefused> {
        let max_age = self.0.max_age;
        let mint = HandleOpKind::Mint { max_age };
        let minted = self.0.begin(context, mint)?.now()?;
        Ok(ReferenceHandle::new(minted))
    }

    /// Checks a handle that the model sent.
    ///
    /// # Errors
    ///
    /// [`HandleRefused`] for a handle that is not good, whatever the reason.
    pub async fn check(
        &self,
        context: &Context,
        handle: &str,
    ) -> Result<ReferenceHandle, HandleRefused> {
        let check = HandleOpKind::Check {
            handle: ClientValue::Text(handle),
            max_age: self.0.max_age,
        };
        let checked = self.0.begin(context, check)?.done().await?;
        Ok(ReferenceHandle::new(checked))
    }

    /// Mints the short handle of a number of the principal's, such as the key of a row among the principal's own: `basket_7_` and
    /// 8 characters, the same each time. It has no end but that of its row.
    ///
    /// # Errors
    ///
    /// As [`mint`](Self::mint), and for an anonymous caller.
    pub fn mint_short(&self, context: &Context, number: u32) -> Result<String, HandleRefused> {
        let mint = HandleOpKind::MintShort { number };
        let minted = self.0.begin(context, mint)?.now()?;
        Ok(minted.handle.unwrap_or_default())
    }

    /// Checks a short handle that the model sent, and returns its number: look for the row among the principal's own.
    ///
    /// # Errors
    ///
    /// [`HandleRefused`] for a handle that is not good, whatever the reason.
    pub fn check_short(&self, context: &Context, handle: &str) -> Result<u32, HandleRefused> {
        let handle = ClientValue::Text(handle);
        let check = HandleOpKind::CheckShort { handle };
        let number = self.0.begin(context, check)?.now()?.value;
        let number = number.and_then(|number| number.parse().ok());
        number.ok_or_else(trouble)
    }

    /// Ends a handle before its expiry, in the [ledger](crate::GuardBuilder::ledger).
    ///
    /// # Errors
    ///
    /// [`HandleRefused`] for a handle that is not good, if the end could not be recorded, and without a ledger. In the last case
    /// delete the row instead.
    pub async fn end(&self, context: &Context, handle: &str) -> Result<(), HandleRefused> {
        self.0.end(context, handle).await
    }
}

impl ReferenceHandle {
    fn new(result: HandleResult) -> Self {
        Self {
            handle: result.handle.unwrap_or_default(),
            ulid: result.id,
            expires_at: result.expires_at,
        }
    }
}

/// The ulid is no secret: it is not the handle.
impl fmt::Debug for ReferenceHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReferenceHandle({})", self.ulid)
    }
}
