//! counts OPERATION TIMES: does what is counted so often, with a clock that stands and randomness that is known.

use std::error::Error;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use sealwax::{Codec, Environment, Key, KeyRing, Principal, RequestContext, View};
use sealwax_mcp::{
    ClientSession, ClientValue, Event, Exchange, Guard, HandlerResult, Message, Outcome,
    SessionSettings, Step,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const AUDIENCE: &str = "https://mcp.example.com";
const METHOD: &str = "tools/call";
const TARGET: &str = "delete_note";
const ARGUMENTS: &str = r#"{"id":7,"reason":"the user asked for it"}"#;

struct Known(AtomicU64);

impl Environment for Known {
    fn now_ms(&self) -> u64 {
        1_800_000_000_000
    }

    fn fill(&self, bytes: &mut [u8]) -> std::result::Result<(), sealwax::Error> {
        let drawn = self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        bytes.fill(0x5a);
        bytes[..drawn.len()].copy_from_slice(&drawn);
        Ok(())
    }
}

struct World {
    codec: Codec,
    caller: Principal,
    view: View,
    /// 256 bytes of JSON.
    value: String,
}

impl World {
    fn new() -> Result<Self> {
        let secret: [u8; 32] = std::array::from_fn(|at| u8::try_from(at).unwrap_or_default() * 7);
        let ring = KeyRing::new([Key::from_secret(&secret)?])?;
        let codec = Codec::builder(ring, AUDIENCE).build_in(Known(AtomicU64::new(1)))?;
        let caller = Principal::from_parts(
            Some("https://idp.example.com"),
            Some("cli-7"),
            Some("alice"),
        )?;
        Ok(Self {
            view: codec.view(&caller)?,
            codec,
            caller,
            value: format!(r#"{{"round":1,"notes":"{}"}}"#, "x".repeat(234)),
        })
    }

    fn context() -> Result<RequestContext> {
        Ok(RequestContext::new(METHOD, TARGET, Some(ARGUMENTS))?)
    }

    fn guard(&self) -> Result<Guard> {
        Ok(Guard::builder(self.codec.clone()).build()?)
    }

    fn message<'a>(&self, token: Option<&'a str>) -> Message<'a> {
        Message {
            method: METHOD,
            target: Some(TARGET),
            arguments: Some(ARGUMENTS),
            modern: true,
            token: token.into(),
            principal: Some(Ok(self.caller.clone())),
            ..Message::default()
        }
    }

    /// Delivers a state, if there is one, and returns the next.
    fn asked(&self, guard: &Guard, token: Option<&str>) -> Result<String> {
        let (mut exchange, step) = guard.message(self.message(token));
        let Step::Deliver(delivered) = step else {
            return Err(format!("expected to deliver, found {step:?}").into());
        };
        assert_eq!(delivered.opened.is_some(), token.is_some());
        let next = exchange.seal_state(&self.value)?;
        let result = HandlerResult {
            outcome: Outcome::InputRequired,
            token: ClientValue::Text(&next),
            ..HandlerResult::default()
        };
        respond(&mut exchange, result)?;
        Ok(next)
    }
}

fn respond(exchange: &mut Exchange, result: HandlerResult<'_>) -> Result<()> {
    match exchange.on(Event::Result(result))? {
        Step::Respond(_) => Ok(()),
        step => Err(format!("expected to respond, found {step:?}").into()),
    }
}

fn operation(name: &str) -> Result<Box<dyn FnMut() -> Result<()>>> {
    let world = World::new()?;
    Ok(match name {
        "seal" => {
            let context = World::context()?;
            Box::new(move || {
                black_box(
                    world
                        .view
                        .request_state(&context)
                        .seal(world.value.as_bytes())?,
                );
                Ok(())
            })
        }
        "open" => {
            let context = World::context()?;
            let token = world
                .view
                .request_state(&context)
                .seal(world.value.as_bytes())?;
            Box::new(move || {
                black_box(world.view.request_state(&context).open(token.as_str())?);
                Ok(())
            })
        }
        "context" => Box::new(|| {
            black_box(World::context()?);
            Ok(())
        }),
        "view" => Box::new(move || {
            black_box(world.codec.view(&world.caller)?);
            Ok(())
        }),
        "plain" => {
            let guard = world.guard()?;
            Box::new(move || {
                let (mut exchange, step) = guard.message(world.message(None));
                assert!(matches!(step, Step::Deliver(_)));
                respond(&mut exchange, HandlerResult::default())
            })
        }
        "state" => {
            let guard = world.guard()?;
            let token = world.asked(&guard, None)?;
            Box::new(move || world.asked(&guard, Some(&token)).map(drop))
        }
        "session" => {
            let guard = Guard::builder(world.codec.clone())
                .sessions(SessionSettings::default())
                .build()?;
            let sent = world.view.sessions().create(world.value.as_bytes())?;
            Box::new(move || {
                let session = ClientSession {
                    id: ClientValue::Text(&sent.session_id),
                    state: sent.state.as_deref().into(),
                };
                let (mut exchange, step) = guard.message(Message {
                    session: Some(session),
                    ..world.message(None)
                });
                assert!(matches!(step, Step::Deliver(_)));
                exchange.write(&world.value)?;
                respond(&mut exchange, HandlerResult::default())
            })
        }
        other => return Err(format!("expected an operation, found {other}").into()),
    })
}

fn main() -> Result<()> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [name, times] = given.as_slice() else {
        return Err("expected an operation, and how often".into());
    };
    let mut run = operation(name)?;
    for _ in 0..times.parse()? {
        run()?;
    }
    Ok(())
}
