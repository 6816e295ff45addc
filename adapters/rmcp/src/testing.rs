//! Help for tests of an application (feature `testing`): a clock and a principal to set, and a client in the same process.
//!
//! Enable it in `[dev-dependencies]`. docs/testing.md in the repository has a whole test.
//!
//! ```
//! use std::time::Duration;
//!
//! use rmcp::ServerHandler;
//! use rmcp::model::{ClientConfig, ServerCapabilities, ServerConfig};
//! use sealwax::Principal;
//! use sealwax_rmcp::Guard;
//! use sealwax_rmcp::testing::{TestClock, TestPrincipal, codec, connect, ledger};
//!
//! struct Notes;
//! impl ServerHandler for Notes {
//!     fn get_info(&self) -> ServerConfig {
//!         ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = TestClock::new();
//! let user = TestPrincipal::new(Principal::subject("alice"));
//! let guard = Guard::builder(codec(&clock)?, user.resolver()).ledger(ledger(&clock)).build()?;
//! let client = connect(guard.protect(Notes), ClientConfig::default()).await?;
//!
//! assert!(client.list_all_tools().await?.is_empty());
//! clock.advance(Duration::from_secs(600)); // an unanswered requestState has expired
//! user.set(Principal::subject("mallory")); // whoever sends the next request
//! # Ok(()) }
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, RunningService, Service};
use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, RoleClient, ServerHandler, ServiceExt as _,
};
use sealwax::Principal;
pub use sealwax::testing::{AUDIENCE, TestClock, codec};

use crate::Context;
use crate::ledger::Memory;

/// The principal of all requests of a test, which it may set between them. Its clones are the same one.
#[derive(Clone, Debug)]
pub struct TestPrincipal(Arc<Mutex<Option<Principal>>>);

impl TestPrincipal {
    /// Makes a principal, or nobody with `None`.
    pub fn new(principal: impl Into<Option<Principal>>) -> Self {
        Self(Arc::new(Mutex::new(principal.into())))
    }

    /// Sets whoever sends the next requests; `None` for a caller who is not authenticated.
    pub fn set(&self, principal: impl Into<Option<Principal>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = principal.into();
    }

    /// Returns the function for [`Guard::builder`](crate::Guard::builder).
    pub fn resolver(&self) -> impl Fn(&Context) -> Option<Principal> + Send + Sync + 'static {
        let Self(principal) = self.clone();
        move |_| {
            let principal = principal.lock().unwrap_or_else(PoisonError::into_inner);
            principal.clone()
        }
    }
}

/// Returns a ledger in memory, on this clock.
#[must_use]
pub fn ledger(clock: &TestClock) -> Memory {
    let clock = clock.clone();
    Memory::on(Memory::CAPACITY, move || clock.now())
}

/// Connects a client to a server in this process, by a pipe, in revision 2026-07-28.
///
/// `client` is the client's handler: a `ClientConfig`, or your own, which answers what the server asks. Needs a
/// runtime of tokio. What stands around a server on HTTP, such as [`Guard::layer`](crate::Guard::layer), is not between.
///
/// # Errors
///
/// Of rmcp, if the server does not answer as one of that revision.
pub async fn connect<S, C>(
    server: S,
    client: C,
) -> Result<RunningService<RoleClient, C>, ClientInitializeError>
where
    S: ServerHandler,
    C: Service<RoleClient>,
{
    const PIPE: usize = 1 << 16;
    let (ours, theirs) = tokio::io::duplex(PIPE);
    tokio::spawn(async move {
        // It ends with the client.
        if let Ok(serving) = server.serve(tokio::io::split(theirs)).await {
            _ = serving.waiting().await;
        }
    });
    let lifecycle = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    let pipe = tokio::io::split(ours);
    client.serve_with_lifecycle(pipe, lifecycle).await
}
