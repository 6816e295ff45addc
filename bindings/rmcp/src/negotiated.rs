//! What `initialize` agreed on, in a token that any replica opens, in whatever language.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmcp::model::{Extensions, NumberOrString};
use rmcp::service::{Peer, RequestContext, serve_directly};
use rmcp::{RoleServer, ServerHandler};
use sealwax::{Answer, Error, Inspected, Profile, Sealer, Token, kind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::accept::over;
use crate::caller::{Caller, Known};
use crate::refusal::{About, Reason};
use crate::{Guard, Kind, Presented};

/// The most characters of a session, for it must fit into a header.
const LIMIT: usize = 4096;

/// What a client of a revision up to 2025-11-25 and the server agreed on at `initialize`: what
/// [`Guard::negotiated`] finds on later requests, though the server has kept nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Negotiated {
    /// The protocol's revision.
    pub protocol_version: String,
    /// What the client can do. A stateless server cannot ask it all the same.
    pub client_capabilities: Value,
    /// The client.
    pub client_info: ClientInfo,
    /// What the server offered.
    pub server_capabilities: Value,
}

/// Which client it is, as it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Negotiated {
    /// From the params of `initialize` and its result.
    pub(crate) fn of(params: &Value, result: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            protocol_version: text(&result["protocolVersion"]),
            client_capabilities: params["capabilities"].clone(),
            client_info: ClientInfo {
                name: text(&params["clientInfo"]["name"]),
                version: text(&params["clientInfo"]["version"]),
            },
            server_capabilities: result["capabilities"].clone(),
        }
    }
}

impl Guard {
    /// What was negotiated by the session of this request; `None` without
    /// [`layer`](Guard::layer), without a session, and on revision 2026-07-28, where every request
    /// says it itself.
    #[must_use]
    pub fn negotiated<'c>(
        &self,
        context: &'c RequestContext<RoleServer>,
    ) -> Option<&'c Negotiated> {
        let parts = context.extensions.get::<http::request::Parts>();
        parts.and_then(|parts| parts.extensions.get())
    }
}

/// Self-contained session tokens, for a transport.
pub(crate) struct Tokens {
    pub guard: Guard,
    pub ttl: Option<Duration>,
    /// Whether somebody else's token ends the session, as SEP-1359 wants it.
    pub end_on_mismatch: bool,
    peer: OnceLock<Peer<RoleServer>>,
}

/// A token that was sealed now.
pub(crate) struct Sealed {
    pub token: String,
    /// In seconds.
    pub lives: u64,
}

impl Tokens {
    pub(crate) fn new(guard: Guard) -> Self {
        Self {
            guard,
            ttl: None,
            end_on_mismatch: false,
            peer: OnceLock::new(),
        }
    }

    /// The token is never renewed, so it ends by its own time or by the codec's, whichever is first.
    fn life(&self) -> Duration {
        let own = Duration::from_secs(sealwax::Kind::Session.default_ttl().into());
        let limit = self.guard.settings().codec.session_max_age();
        self.ttl.unwrap_or(own).min(limit)
    }

    fn sealer<'v>(&self, known: &'v Known) -> Sealer<'v, kind::Session> {
        let limit = self.guard.settings().codec.session_max_age();
        let sealer = known.view.session().max_age(limit);
        match self.ttl {
            Some(ttl) => sealer.ttl(ttl),
            None => sealer,
        }
    }

    /// Seals what `initialize` agreed on. Else the answer, in the words of `profile`.
    pub(crate) fn begin(
        &self,
        extensions: Extensions,
        params: &Value,
        result: &Value,
        profile: Profile,
    ) -> Result<Sealed, Answer> {
        let (caller, context) = self.caller(extensions);
        let sealed = caller.known(&context).and_then(|known| {
            let negotiated = Negotiated::of(params, result);
            let token: Token<kind::Session> = self.sealer(known).seal_json(&negotiated)?;
            let token = token.into_string();
            if token.len() > LIMIT {
                return Err(Error::TooLarge {
                    what: "session, with what was negotiated,",
                    found: token.len(),
                    limit: LIMIT,
                });
            }
            let lives = self.life().as_secs();
            Ok(Sealed { token, lives })
        });
        sealed.map_err(|error| {
            let about = About {
                principal: caller.principal(),
                ..About::default()
            };
            let reason = Reason::NotSealed(error);
            let guard = &self.guard;
            guard.refuse_as(Kind::Session, profile, None, &reason, about)
        })
    }

    /// Opens and has accepted what came back.
    pub(crate) async fn open(
        &self,
        token: &str,
        known: &Known,
    ) -> Result<(Negotiated, Presented), Reason> {
        let opened = match self.sealer(known).open(token) {
            Err(Error::PrincipalMismatch) if self.end_on_mismatch => {
                self.end_stolen(token, known).await?;
                return Err(Error::PrincipalMismatch.into());
            }
            opened => opened?,
        };
        let negotiated = opened.json()?;
        let presented = Presented {
            kind: Kind::Session,
            id: opened.token_id().to_string(),
            principal: known.principal.clone(),
            expires_at: opened.expires_at().map(over),
        };
        self.guard.accept(&presented).await?;
        Ok((negotiated, presented))
    }

    /// The token is authentic, and its user has changed or it was stolen.
    async fn end_stolen(&self, token: &str, known: &Known) -> Result<(), Reason> {
        let Ok(Inspected::Token { token_id, .. }) = sealwax::inspect(token) else {
            return Ok(());
        };
        let limit = self.guard.settings().codec.session_max_age();
        let ended = Presented {
            kind: Kind::Session,
            id: token_id.to_string(),
            principal: known.principal.clone(),
            // Of what is not opened nobody can tell, but that no session becomes older than this;
            // and its maker's clock may be ahead of this one.
            expires_at: Some(over(over(now().saturating_add(limit.as_secs())))),
        };
        self.guard.ended(&ended).await
    }

    /// The principal is asked of a request as handlers have it; a transport has to make one.
    pub(crate) fn caller(&self, extensions: Extensions) -> (Caller, RequestContext<RoleServer>) {
        let peer = self.peer.get_or_init(nobodys_peer).clone();
        let mut context = RequestContext::new(NumberOrString::Number(0), peer);
        context.extensions = extensions;
        (Caller::new(self.guard.clone()), context)
    }
}

/// A peer that nobody is behind, because rmcp makes none otherwise.
fn nobodys_peer() -> Peer<RoleServer> {
    struct Nobody;
    impl ServerHandler for Nobody {}
    let closed = (futures::sink::drain(), futures::stream::empty());
    serve_directly(Nobody, closed, None).peer().clone()
}

pub(crate) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
