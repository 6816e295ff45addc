//! Seals the state that an MCP (Model Context Protocol) server hands to its clients: the
//! tokens in messages, the answers to clients, and the rules of a guard.
//!
//! A *guard* stands between a server's handlers and its clients: it seals what is sent and opens
//! what comes back, so that a handler sees plain values. Its rules are here, once. They read no
//! socket and no clock but the codec's, and never wait. An *adapter* connects them to an SDK, a
//! gateway or another language: `sealwax-rmcp`, and the guards of the packages for npm, Python, Go
//! and Java.
//!
//! # Writing an adapter
//!
//! One [`Exchange`] serves one message. [`Guard::message`] begins that of a message at the SDK's
//! handlers, [`Guard::http`] that of an HTTP request, [`Connection::line`] that of a line of stdio. It returns a [`Step`];
//! the adapter carries it out and reports the outcome to [`Exchange::on`], until a step ends the
//! exchange. Dropping an exchange cancels it. This example serves `requestState` and cursors for
//! any handler of JSON:
//!
//! ```
//! use sealwax_mcp::{ClientValue, Event, Guard, HandlerResult, Message, Outcome, Step, TokenFields};
//! use sealwax::{Codec, Error, Key, KeyRing, Principal};
//! use serde_json::{Value, json};
//!
//! fn serve(
//!     guard: &Guard,
//!     user: &str,
//!     mut request: Value,
//!     handler: impl Fn(&Value) -> Value,
//! ) -> Result<Value, Error> {
//!     let params = &request["params"];
//!     let method = request["method"].as_str().unwrap_or_default();
//!     let fields = TokenFields::for_method(method);
//!     // JSON's null is absent. Any other value than a text is refused.
//!     let client_value = |object: &Value, member: Option<&str>| member.map(|name| object[name].clone()).unwrap_or_default();
//!     let arguments = params["arguments"].to_string();
//!     let token = client_value(params, fields.map(|fields| fields.param));
//!     let (mut exchange, mut step) = guard.message(Message {
//!         method,
//!         target: fields.and_then(|fields| params[fields.target?].as_str()),
//!         arguments: Some(&arguments),
//!         token: ClientValue::from(&token),
//!         ..Message::default()
//!     });
//!     let mut result = Value::Null;
//!     loop {
//!         step = match step {
//!             Step::Identify => exchange.on(Event::Principal(Ok(Some(Principal::subject(user)))))?,
//!             Step::Deliver(deliver) => {
//!                 if let (Some(fields), Some(opened)) = (fields, deliver.opened) {
//!                     request["params"][fields.param] = opened.into();
//!                 }
//!                 result = handler(&request);
//!                 let token = client_value(&result, fields.map(|fields| fields.result));
//!                 exchange.on(Event::Result(HandlerResult {
//!                     outcome: match result["resultType"].as_str() {
//!                         Some("input_required") => Outcome::InputRequired,
//!                         _ => Outcome::Complete,
//!                     },
//!                     token: ClientValue::from(&token),
//!                     ..HandlerResult::default()
//!                 }))?
//!             }
//!             Step::Respond(respond) => {
//!                 if let (Some(fields), Some(token)) = (fields, respond.token) {
//!                     result[fields.result] = token.into();
//!                 }
//!                 return Ok(json!({ "result": result }));
//!             }
//!             Step::Reply(reply) => return Ok(json!({ "error": reply.error })),
//!             // The other steps need a ledger or sessions.
//!             _ => return Err(Error::InvalidArgument("expected a guard without these".into())),
//!         };
//!         for refused in exchange.refused() {
//!             eprintln!("{} {}", refused.time, refused.line); // for the server's log only
//!         }
//!     }
//! }
//!
//! let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
//! let guard = Guard::builder(codec).build()?;
//! let call = json!({"method": "tools/call", "params": {"name": "delete_note", "arguments": {"id": 7}}});
//! let asked = serve(&guard, "alice", call.clone(), |_| {
//!     json!({"resultType": "input_required", "requestState": "asked"})
//! })?;
//!
//! // The client returns the token, and the handler sees the state that it wrote.
//! let mut again = call;
//! again["params"]["requestState"] = asked["result"]["requestState"].clone();
//! let handler = |request: &Value| json!({"saw": request["params"]["requestState"]});
//! assert_eq!(serve(&guard, "alice", again.clone(), handler)?["result"]["saw"], "asked");
//! assert_eq!(serve(&guard, "mallory", again, handler)?["error"]["code"], -32602);
//! # Ok::<(), Error>(())
//! ```
//!
//! An adapter gives an author only what the engine opened, kept with the exchange: it never reads a
//! value back through its SDK, and never finds an exchange by an id that a client chose. It waits
//! only for functions of the author and the ledger, for as long as the step says; if one fails or is
//! late, the adapter reports a [`Failed`], which the engine words.
//!
//! [`document`] offers the same engine by JSON documents, for other languages: `docs/engine.md`
//! specifies them. `tests/vectors/guard.json` holds the required behaviour, message by message, to
//! test any adapter.
#![forbid(unsafe_code)]

mod confirm;
#[cfg(feature = "documents")]
pub mod document;
mod exchange;
mod guard;
pub mod ledger;
#[cfg(feature = "documents")]
pub mod machine;
mod message;
mod reply;
mod request;
mod settings;
mod transport;
mod wire;

pub use confirm::Confirm;
pub use exchange::Exchange;
pub use guard::{Guard, GuardBuilder};
pub use message::input::{
    Client, ClientSession, ClientValue, Event, Failed, HandleOp, HandleOpKind, HandlerResult,
    Message, Outcome, Predecessor, Scope,
};
#[doc(hidden)]
pub use message::text::token_id;
pub use message::token_fields::TokenFields;
pub use reply::answer::{
    Answer, ErrorData, InputRequest, InputRequests, Meta, Profile, Ran, RpcError, Stale, StaleMeta,
    TextContent, ToolResult,
};
pub use reply::event::{Happened, TokenEvent};
pub use reply::log::{Fault, Level, Origin, Refused};
pub use reply::set::{Set, SetValue};
pub use reply::step::{
    Called, Deliver, Elicitation, HandleResult, HandleTimes, Item, List, Reply, Report, Respond,
    Step,
};
pub use request::session::Session;
pub use settings::{LedgerSettings, OnLost, Required, SessionSettings, TransportSettings};
pub use wire::{AnswerHead, Body, Connection, HttpRequest};
