//! What an author makes once: the guard and its options.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use sealwax::{Codec, Error, Principal, check_ttl};

use crate::sessions::SessionSettings;
use crate::{Accept, IntoPrincipal, Protected, Refusal};

const ACCEPT_TIMEOUT: Duration = Duration::from_secs(1);

/// Seals what leaves a server for its clients, and opens and checks what comes back.
///
/// One for a server, cloned cheaply; see the [crate's front page](crate) for what it does.
///
/// ```
/// use sealwax::{Codec, Key, KeyRing};
/// use sealwax_rmcp::{Guard, anonymous};
///
/// let ring = KeyRing::new([Key::generate()?])?; // a server reads KeyRing::from_env()
/// let codec = Codec::new(ring, "https://mcp.example.com")?;
/// let guard = Guard::builder(codec, anonymous)
///     .only("delete_note", ["id"])
///     .on_refused(|refusal| eprintln!("{}: {}", refusal.kind, refusal.code))
///     .build()?;
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone)]
pub struct Guard(Arc<Settings>);

type PrincipalOf = dyn Fn(&RequestContext<RoleServer>) -> Result<Principal, Error> + Send + Sync;

type Hook = dyn Fn(&Refusal) + Send + Sync;

pub(crate) struct Settings {
    pub codec: Codec,
    principal: Box<PrincipalOf>,
    pub on_refused: Option<Box<Hook>>,
    pub accept: Option<Arc<dyn Accept>>,
    pub accept_timeout: Duration,
    pub request_state_ttl: Option<Duration>,
    pub only: HashMap<String, Vec<String>>,
    pub sessions: OnceLock<Arc<SessionSettings>>,
}

impl Guard {
    /// A guard with `codec`, for the principals that `principal` finds in a request:
    /// [`from_claims`](crate::from_claims), [`anonymous`](crate::anonymous), or a function of
    /// yours, which is asked at most once a request. A request in which it finds none, or in which
    /// it panics, is refused.
    pub fn builder<F, P>(codec: Codec, principal: F) -> GuardBuilder
    where
        F: Fn(&RequestContext<RoleServer>) -> P + Send + Sync + 'static,
        P: IntoPrincipal,
    {
        GuardBuilder(Settings {
            codec,
            principal: Box::new(move |context| principal(context).into_principal()),
            on_refused: None,
            accept: None,
            accept_timeout: ACCEPT_TIMEOUT,
            request_state_ttl: None,
            only: HashMap::new(),
            sessions: OnceLock::new(),
        })
    }

    /// `server`, with what it sends sealed and what comes back opened. Serve what this returns, on
    /// stdio or as what the factory of `StreamableHttpService` makes.
    pub fn protect<S: ServerHandler>(&self, server: S) -> Protected<S> {
        Protected::new(self.clone(), server)
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn principal(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Principal, Error> {
        catch_unwind(AssertUnwindSafe(|| (self.0.principal)(context))).unwrap_or_else(|_| {
            Err(Error::InvalidArgument(
                "principal: the function panicked".into(),
            ))
        })
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guard").field(&self.0.codec).finish()
    }
}

/// Sets the options of a [`Guard`].
pub struct GuardBuilder(Settings);

impl GuardBuilder {
    /// Told of everything that is refused, after the log (`tracing`, level warn).
    #[must_use]
    pub fn on_refused(mut self, hook: impl Fn(&Refusal) + Send + Sync + 'static) -> Self {
        self.0.on_refused = Some(Box::new(hook));
        self
    }

    /// Asked before a token is accepted: [`SingleUse`](crate::SingleUse), or a store of yours.
    #[must_use]
    pub fn accept(mut self, accept: impl Accept) -> Self {
        self.0.accept = Some(Arc::new(accept));
        self
    }

    /// How long to wait for [`Accept`]: 1 s unless set.
    #[must_use]
    pub fn accept_timeout(mut self, limit: Duration) -> Self {
        self.0.accept_timeout = limit;
        self
    }

    /// How long a `requestState` lives, in whole seconds: 600 unless set.
    #[must_use]
    pub fn request_state_ttl(mut self, ttl: Duration) -> Self {
        self.0.request_state_ttl = Some(ttl);
        self
    }

    /// Binds the `requestState` of the tool or prompt `target` to these of its arguments alone:
    /// those that decide what is done. All of them unless set.
    #[must_use]
    pub fn only<N: Into<String>>(
        mut self,
        target: impl Into<String>,
        arguments: impl IntoIterator<Item = N>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        self.0.only.insert(target.into(), arguments);
        self
    }

    /// The guard.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a time of zero, or for no argument where some were to be
    /// named.
    pub fn build(self) -> Result<Guard, Error> {
        let Settings {
            accept_timeout,
            request_state_ttl,
            only,
            ..
        } = &self.0;
        if let Some(ttl) = request_state_ttl {
            check_ttl(*ttl).map_err(|error| {
                Error::InvalidArgument(format!("request_state_ttl: {error}").into())
            })?;
        }
        for (mistake, expected) in [
            (accept_timeout.is_zero(), "accept_timeout: expected a time"),
            (
                only.values().any(Vec::is_empty),
                "only: expected names of arguments, found none",
            ),
        ] {
            if mistake {
                return Err(Error::InvalidArgument(expected.into()));
            }
        }
        Ok(Guard(Arc::new(self.0)))
    }
}

impl fmt::Debug for GuardBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GuardBuilder").field(&self.0.codec).finish()
    }
}
