//! What protection adds to a request: servers of rmcp in this process, without any, with rmcp's own
//! codec, and with our guard. A JSON object a line (benches/run.py says which).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult,
    MetaObject, RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use sealwax::{Codec, Key, KeyRing};
use sealwax_rmcp::{Guard, Session, Sessions, State};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};
use tokio::runtime::{Builder, Runtime};

use crate::measure::{Effort, by_turns, worked};
use crate::{AUDIENCE, principal};

const SESSION: &str = "io.modelcontextprotocol/session";

/// What a state or a session holds: 256 bytes of JSON.
#[derive(Clone, Serialize, Deserialize)]
struct Held {
    round: u8,
    notes: String,
}

impl Held {
    fn first() -> Self {
        Self {
            round: 1,
            notes: "x".repeat(234),
        }
    }

    fn next(self) -> Self {
        Self {
            round: self.round % 9 + 1,
            ..self
        }
    }
}

fn json_of(held: &Held) -> String {
    serde_json::to_string(held).unwrap()
}

#[derive(Clone)]
enum Protection {
    None,
    Codec(Arc<RequestStateCodec>),
    Guard { writes_session: bool },
}

#[derive(Clone)]
struct Server(Protection);

impl ServerHandler for Server {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "state" => {
                let next = self.state(&request, &context)?;
                Ok(InputRequiredResult::from_request_state(next).into())
            }
            "session" => {
                let meta = self.session(&context)?;
                Ok(done().with_meta(meta).into())
            }
            _ => Ok(done().into()),
        }
    }
}

fn done() -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text("done")])
}

fn invalid(_: impl Sized) -> ErrorData {
    ErrorData::invalid_params("Invalid or expired requestState", None)
}

impl Server {
    /// What the next round gets.
    fn state(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        let sent = request.request_state.as_deref();
        match &self.0 {
            Protection::None => {
                let held = sent.map(serde_json::from_str).transpose();
                let held = held.map_err(invalid)?.unwrap_or_else(Held::first);
                Ok(json_of(&held.next()))
            }
            // rmcp has no place for it in a server: this is what an author writes.
            Protection::Codec(codec) => {
                let arguments = serde_json::to_vec(&request.arguments).map_err(invalid)?;
                let mut bindings = AUDIENCE.as_bytes().to_vec();
                bindings
                    .extend_from_slice(b"\0https://idp.example.com\0cli-7\0alice\0tools/call\0");
                bindings.extend_from_slice(request.name.as_bytes());
                bindings.extend_from_slice(&Sha256::digest(arguments));
                let held = match sent {
                    None => Held::first(),
                    Some(sent) => {
                        let opened = codec.open_with(sent, &bindings).map_err(invalid)?;
                        serde_json::from_slice(&opened).map_err(invalid)?
                    }
                };
                let options = SealOptions::new().associated_data(&bindings);
                let options = options.ttl(Duration::from_secs(600));
                Ok(codec.seal_with(json_of(&held.next()).as_bytes(), &options))
            }
            Protection::Guard { .. } => {
                let state = State::<Held>::of(context)?;
                let held = state.get().cloned().unwrap_or_else(Held::first);
                state.write(&held.next())
            }
        }
    }

    /// Writes the session's next value; what the result's metadata has of it, beside the guard.
    fn session(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<MetaObject>, ErrorData> {
        if let Protection::Guard {
            writes_session: true,
        } = self.0
        {
            let session = Session::<Held>::of(&context.extensions)?;
            let mut session = session.ok_or_else(|| invalid(()))?;
            session.write(session.value().clone().next())?;
            return Ok(None);
        }
        let sent = context.meta.get(SESSION).ok_or_else(|| invalid(()))?;
        let state = sent["state"].as_str().unwrap_or_default();
        let held: Held = serde_json::from_str(state).map_err(invalid)?;
        let mut meta = MetaObject::default();
        let next = json!({"sessionId": sent["sessionId"], "state": json_of(&held.next())});
        meta.0.insert(SESSION.into(), next);
        Ok(Some(meta))
    }
}

/// The other end of a server's transport.
struct Client(BufReader<DuplexStream>);

impl Client {
    fn of<S: ServerHandler>(server: S) -> Self {
        let (ours, theirs) = duplex(1 << 16);
        tokio::spawn(async move {
            let running = server.serve(theirs).await.unwrap();
            running.waiting().await.unwrap();
        });
        Self(BufReader::new(ours))
    }

    /// Sends a line; the line that comes back.
    async fn ask(&mut self, request: &[u8], answer: &mut Vec<u8>) {
        answer.clear();
        self.0.get_mut().write_all(request).await.unwrap();
        self.0.read_until(b'\n', answer).await.unwrap();
    }

    async fn answer(&mut self, request: &[u8]) -> Value {
        let mut answer = Vec::new();
        self.ask(request, &mut answer).await;
        serde_json::from_slice(&answer).unwrap()
    }

    async fn result(&mut self, request: &[u8]) -> Value {
        let mut answer = self.answer(request).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].take()
    }
}

fn line(method: &str, mut params: Value) -> Vec<u8> {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    if let Some(session) = params["_meta"].get(SESSION) {
        meta[SESSION] = session.clone();
    }
    params["_meta"] = meta;
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    format!("{request}\n").into_bytes()
}

/// A request as the client sends it, once what it says is seen to be so.
async fn prepared(client: &mut Client, request: &str, protected: bool) -> Vec<u8> {
    let arguments = json!({"id": 7, "reason": "the user asked for it"});
    let mut params = json!({"name": request, "arguments": arguments});
    match request {
        "state" => {
            let first = client.result(&line("tools/call", params.clone())).await;
            let token = first["requestState"].as_str().unwrap();
            assert_eq!(!token.starts_with('{'), protected);
            if protected {
                let mut altered = params.clone();
                altered["requestState"] = format!("{token}!").into();
                let answer = client.answer(&line("tools/call", altered)).await;
                assert_eq!(answer["error"]["code"], -32602);
            }
            params["requestState"] = token.into();
        }
        "session" => {
            let mut held = json!({"sessionId": "clear", "state": json_of(&Held::first())});
            if protected {
                let created = client.result(&line("sessions/create", json!({}))).await;
                held["sessionId"] = created["session"]["sessionId"].clone();
                held["state"] = created["session"]["state"].clone();
            }
            params["_meta"] = json!({ SESSION: held });
            let result = client.result(&line("tools/call", params.clone())).await;
            let written = &result["_meta"][SESSION]["state"];
            assert!(written.is_string() && *written != held["state"], "{result}");
        }
        _ => {}
    }
    let line = line("tools/call", params);
    client.result(&line).await;
    line
}

/// A server of its own for every protection, and what is asked of it.
fn contestant<'r>(runtime: &'r Runtime, request: &str, protection: &str) -> impl FnMut() + 'r {
    let (mut client, line) = runtime.block_on(async {
        let mut client = match protection {
            "none" => Client::of(Server(Protection::None)),
            "codec" => {
                let codec = RequestStateCodec::new_with_keyring("k1", [("k1", [9; 32])]).unwrap();
                Client::of(Server(Protection::Codec(codec.into())))
            }
            _ => {
                let ring = KeyRing::new([Key::generate().unwrap()]).unwrap();
                let codec = Codec::new(ring, AUDIENCE).unwrap();
                let mut guard = Guard::builder(codec, |_| principal());
                let writes_session = request == "session";
                if writes_session {
                    guard = guard.sessions(Sessions::new(|_, _| async { Ok(Held::first()) }));
                }
                let guard = guard.build().unwrap();
                Client::of(guard.protect(Server(Protection::Guard { writes_session })))
            }
        };
        let line = prepared(&mut client, request, protection != "none").await;
        (client, line)
    });
    let mut answer = Vec::new();
    move || {
        runtime.block_on(client.ask(&line, &mut answer));
        assert!(answer.starts_with(br#"{"jsonrpc":"2.0","id":1,"result":"#));
    }
}

pub fn run(quick: bool) {
    let effort = Effort {
        turn: Duration::from_millis(1),
        turns: if quick { 60 } else { 600 },
        warm: Duration::from_millis(if quick { 50 } else { 500 }),
        clock: worked,
    };
    assert_eq!(json_of(&Held::first()).len(), 256);
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    for request in ["plain", "state", "session"] {
        let protections: &[&str] = match request {
            "session" => &["none", "guard"],
            _ => &["none", "codec", "guard"],
        };
        let sides = protections.iter().map(|protection| {
            Box::new(contestant(&runtime, request, protection)) as Box<dyn FnMut() + '_>
        });
        let times = by_turns(effort, sides.collect());
        let turns: BTreeMap<_, _> = protections.iter().zip(times).collect();
        println!(
            "{}",
            json!({"language": "rust", "server": "rmcp", "request": request, "turns": turns})
        );
    }
}
