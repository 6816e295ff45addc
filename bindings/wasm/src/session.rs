//! Data-layer sessions.

use sealwax::SessionMetadata;
use wasm_bindgen::prelude::*;

use crate::error::Result;
use crate::input::{self, Bytes, Text, as_found, cut};
use crate::opened;
use crate::purpose::Lifetime;
use crate::shared;
use crate::view::View;

#[wasm_bindgen(raw_module = "./facts.js")]
extern "C" {
    /// `pkg/src/sessions.ts`
    #[wasm_bindgen(typescript_type = "SessionMetadata")]
    pub type Metadata;

    #[wasm_bindgen(js_name = sessionMetadata)]
    fn metadata(session_id: &str, expires_at: Option<&str>, state: Option<&str>) -> Metadata;
}

impl From<SessionMetadata> for Metadata {
    fn from(core: SessionMetadata) -> Self {
        metadata(
            &core.session_id,
            core.expires_at.as_deref(),
            core.state.as_deref(),
        )
    }
}

#[wasm_bindgen]
#[derive(Debug)]
pub struct Session(sealwax::OpenedSession);

#[wasm_bindgen]
impl Session {
    pub fn id(&self) -> String {
        self.0.id().to_string()
    }

    /// Writes the state to the shared memory, as [`opened::put`] does.
    pub fn state(&self) -> i32 {
        shared::put_result(Ok(self.0.state()), |state, writer| {
            opened::put(*state, writer);
        })
    }
}

#[wasm_bindgen]
impl View {
    #[wasm_bindgen(js_name = createSession)]
    pub fn create_session(&self, lifetime: &Lifetime, payload: &Bytes) -> Result<Metadata> {
        let sessions = lifetime.of_sessions(self.0.sessions());
        input::bytes(payload, |payload| sessions.create(payload)).map(Metadata::from)
    }

    #[wasm_bindgen(js_name = openSession)]
    pub fn open_session(&self, session_id: &Text, state: Option<Text>) -> Result<Session> {
        let session = input::text(session_id, |session_id| {
            let metadata = SessionMetadata::new(session_id, state.as_ref().map(cut));
            self.0
                .sessions()
                .open(&metadata)
                .map_err(|error| as_found(error, state.as_ref().map_or(0, Text::length)))
        })?;
        Ok(Session(session))
    }

    #[wasm_bindgen(js_name = renewSession)]
    pub fn renew_session(
        &self,
        lifetime: &Lifetime,
        session: &Session,
        payload: &Bytes,
    ) -> Result<Metadata> {
        let sessions = lifetime.of_sessions(self.0.sessions());
        input::bytes(payload, |payload| sessions.renew(&session.0, payload)).map(Metadata::from)
    }

    #[wasm_bindgen(js_name = forkSession)]
    pub fn fork_session(&self, lifetime: &Lifetime, session: &Session) -> Result<Metadata> {
        let sessions = lifetime.of_sessions(self.0.sessions());
        Ok(sessions.fork(&session.0)?.into())
    }
}
