//! Messages around HTTP or stdio, before rmcp sees them.

use std::sync::OnceLock;

use http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::Extensions;
use rmcp::service::RequestContext;
use sealwax::mcp::{self, Event, Exchange, Reply, Step, Transport};
use sealwax::{Error, Principal};

use crate::Kind;
use crate::caller::Caller;
use crate::guard::{About, Guard};

/// The guard's part around a transport.
pub(crate) struct Front {
    pub guard: Guard,
    pub settings: mcp::Front,
    /// Made with the first message, for the guard may get its sessions later than this.
    engine: OnceLock<Result<mcp::Guard, Error>>,
}

/// A message on its way.
pub(crate) struct Passing {
    caller: Caller,
    context: RequestContext<RoleServer>,
    exchange: Exchange,
}

impl Front {
    pub(crate) fn new(guard: &Guard) -> Self {
        Self {
            guard: guard.clone(),
            settings: mcp::Front {
                declares: true,
                ..mcp::Front::default()
            },
            engine: OnceLock::new(),
        }
    }

    /// Where the message goes; a reply where the settings are no good.
    pub(crate) async fn begin(
        &self,
        parts: Option<&Parts>,
        transport: Transport<'_>,
    ) -> Result<(Passing, Step), Reply> {
        let make = || self.guard.rules().front(self.settings).build();
        let engine = self.engine.get_or_init(make).as_ref();
        let engine =
            engine.map_err(|error| self.guard.refuse(error, About::new(Kind::Session, None)))?;
        // The principal is asked of a request as handlers have it; a transport has to make one.
        let mut context = self.guard.request(None);
        context.extensions = extensions(parts);
        let caller = Caller::new(&self.guard, &context.extensions);
        let (mut exchange, step) = engine.transport(transport);
        let step = caller.drive(&mut exchange, step, &context).await;
        let passing = Passing {
            caller,
            context,
            exchange,
        };
        Ok((passing, step))
    }
}

fn extensions(parts: Option<&Parts>) -> Extensions {
    let mut extensions = Extensions::new();
    if let Some(parts) = parts {
        extensions.insert(parts.clone());
    }
    extensions
}

impl Passing {
    /// Where it goes then.
    pub(crate) fn on(&mut self, event: Event<'_>) -> Step {
        let step = self.caller.on(&mut self.exchange, event);
        self.caller
            .identified(&mut self.exchange, step, &self.context)
    }

    /// Who sends it, if anybody had to know.
    pub(crate) fn principal(&self) -> Option<&Principal> {
        self.caller.principal()
    }
}

impl Clone for Front {
    fn clone(&self) -> Self {
        Self {
            settings: self.settings,
            ..Self::new(&self.guard)
        }
    }
}
