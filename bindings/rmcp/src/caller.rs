//! What a protected server knows of the request at hand. It travels in the request's extensions,
//! so that extractors and handles find it, and are of no use where nobody put it.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sealwax::{Error, Principal, SessionId, View};

use crate::Guard;

/// Shared by all clones of one request's context.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub guard: Guard,
    /// Asked for once, by whoever needs it first.
    known: Arc<OnceLock<Result<Known, Error>>>,
    pub state: ReceivedState,
    /// What its handler sees of a session.
    pub session: Option<Arc<InSession>>,
    /// Whether its result is of a session, and so for nobody else.
    pub private: bool,
}

/// The principal, and the codec for it.
#[derive(Debug)]
pub(crate) struct Known {
    pub principal: Principal,
    pub view: View,
}

/// The `requestState` that a request came with.
#[derive(Clone, Debug)]
pub(crate) enum ReceivedState {
    /// Requests of this method carry none.
    NotCarried,
    /// The first round.
    Absent,
    /// Opened and accepted.
    Opened(Arc<OpenedState>),
}

pub(crate) struct OpenedState {
    pub text: String,
    pub token_id: String,
}

/// The data-layer session that a request came with.
pub(crate) struct InSession {
    pub id: SessionId,
    /// `None`: the server holds the state.
    pub opened: Option<sealwax::Session>,
    written: Mutex<Option<Vec<u8>>>,
}

impl InSession {
    pub(crate) fn new(id: SessionId, opened: Option<sealwax::Session>) -> Self {
        Self {
            id,
            opened,
            written: Mutex::default(),
        }
    }

    /// What leaves with the result.
    pub(crate) fn written(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ulid(&self) -> String {
        hex(self.id.ulid())
    }
}

pub(crate) fn hex(ulid: &[u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(*ulid))
}

/// What is written is not for logs.
impl std::fmt::Debug for InSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InSession({})", self.ulid())
    }
}

/// A payload is not for logs.
impl std::fmt::Debug for OpenedState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OpenedState({})", self.token_id)
    }
}

impl Caller {
    pub(crate) fn new(guard: Guard) -> Self {
        Self {
            guard,
            known: Arc::default(),
            state: ReceivedState::NotCarried,
            session: None,
            private: false,
        }
    }

    /// The one that the boundary left in `context`.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Result<&Self, Error> {
        context.extensions.get().ok_or(Error::InvalidArgument(
            "expected a request that a protected server received: serve what guard.protect(server) \
             returns"
                .into(),
        ))
    }

    pub(crate) fn known(&self, context: &RequestContext<RoleServer>) -> Result<&Known, Error> {
        let ask = || {
            let principal = self.guard.principal(context)?;
            let view = self.guard.settings().codec.view(&principal)?;
            Ok(Known { principal, view })
        };
        self.known.get_or_init(ask).as_ref().map_err(Clone::clone)
    }

    /// The principal if somebody has asked for it.
    pub(crate) fn principal(&self) -> Option<&Principal> {
        let known = self.known.get()?.as_ref().ok()?;
        Some(&known.principal)
    }
}
