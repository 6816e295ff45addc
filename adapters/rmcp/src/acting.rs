//! Operations of a handler on a handle.

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sealwax::Error;
use sealwax_mcp::Profile;
use sealwax_mcp::{Exchange, HandleOp, HandleOpKind, HandleResult, Reply, Step};
use serde::de::DeserializeOwned;

use crate::Kind;
use crate::accept::TimeLimit;
use crate::caller::Caller;
use crate::guard::Guard;
use crate::refusal::{About, token_id};
use crate::refused::Refused;

/// An operation that has begun.
pub(crate) struct Acting<'a> {
    kind: Kind,
    caller: &'a Caller,
    context: &'a RequestContext<RoleServer>,
    exchange: Exchange,
    step: Step,
}

impl<'a> Acting<'a> {
    /// Begins an operation on a handle type. It needs a server that this guard protects, which knows the principal.
    pub(crate) fn begin(
        guard: &Guard,
        handle_type: &str,
        context: &'a RequestContext<RoleServer>,
        what: HandleOpKind<'_>,
    ) -> Result<Self, Refused> {
        let kind = match what {
            HandleOpKind::Mint { .. }
            | HandleOpKind::Check { .. }
            | HandleOpKind::End {
                self_contained: false,
                ..
            } => Kind::Handle,
            _ => Kind::HandleState,
        };
        let act = HandleOp {
            handle_type,
            kind: what,
        };
        let begun = Caller::of(context).and_then(|caller| {
            if caller.guard.is(guard) {
                let begun = caller.within(|exchange| Ok(exchange.handle(act)))?;
                return Ok((caller, begun));
            }
            Err(Error::InvalidArgument(
                "expected handles of the guard that protects this server".into(),
            ))
        });
        let (caller, (mut exchange, step)) = begun.map_err(|error| {
            Refused::new(guard.refuse(&error, About::new(kind, Profile::Handle, None)))
        })?;
        let step = caller.identified(&mut exchange, step, context);
        Ok(Self {
            kind,
            caller,
            context,
            exchange,
            step,
        })
    }

    /// Returns the outcome.
    pub(crate) async fn done(mut self) -> Result<HandleResult, Refused> {
        let limit = TimeLimit::new(self.caller.guard.accept_timeout());
        let drive = self
            .caller
            .drive_within(&limit, &mut self.exchange, self.step, self.context);
        made(drive.await)
    }

    /// Returns the outcome of an operation that asks nobody.
    pub(crate) fn now(self) -> Result<HandleResult, Refused> {
        made(self.step)
    }

    /// Returns the outcome, and the value that `handle` held.
    pub(crate) async fn open<T: DeserializeOwned>(
        self,
        handle: &str,
    ) -> Result<(T, HandleResult), Refused> {
        let opened = match &self.step {
            Step::Done(made) => made.value.as_deref(),
            _ => self.exchange.opened(),
        };
        let value = opened.map(serde_json::from_str);
        let Some(Ok(value)) = value else {
            // Read the value first: a handle that cannot be read must not count as used.
            let refused = value.map(|_| self.unreadable(handle));
            let made = self.now();
            return Err(refused.unwrap_or_else(|| made.err().unwrap_or_else(trouble)));
        };
        let made = self.done().await?;
        Ok((value, made))
    }

    fn unreadable(&self, handle: &str) -> Refused {
        let about = About {
            token_id: token_id(handle),
            ..self.caller.about(self.kind, Profile::Handle)
        };
        let error = Error::Malformed("a value that is JSON of the type asked for");
        Refused::new(self.caller.guard.refuse(&error, about))
    }
}

fn made(step: Step) -> Result<HandleResult, Refused> {
    match step {
        Step::Done(made) => Ok(*made),
        Step::Reply(reply) => Err(Refused::new(reply)),
        _ => Err(trouble()),
    }
}

/// An internal error.
fn trouble() -> Refused {
    Refused::new(Reply::from(Profile::Handle.internal_error()))
}
