//! Streams of events (SSE) that the engine rewrites: a reader sees the same events, with each JSON-RPC message
//! changed, however the stream is cut into pieces.

use arbitrary::Arbitrary;
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use sealwax_mcp::{AnswerHead, Body, ClientValue, Exchange, HttpRequest, Step, TransportSettings};
use serde_json::{Value, json};
use sse_stream::{Sse, SseStream};

use crate::world::{Who, with_session};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    line_end: u8,
    pieces: Vec<Piece<'a>>,
    cuts: &'a [u8],
}

#[derive(Arbitrary, Debug)]
enum Piece<'a> {
    End,
    Data(Data<'a>),
    Id(&'a str),
    Event(&'a str),
    Retry(u32),
    Comment(&'a str),
    Text(&'a str),
    Bytes(&'a [u8]),
}

#[derive(Arbitrary, Debug)]
enum Data<'a> {
    Result(i32),
    Request,
    /// A message over two lines.
    Lines,
    Text(&'a str),
    Number,
}

impl Piece<'_> {
    fn bytes(&self, end: &str) -> Vec<u8> {
        // What is given on a line ends with it.
        let line = |name: &str, text: &str| {
            let text: String = text
                .chars()
                .filter(|c| !matches!(c, '\n' | '\r' | '\0'))
                .collect();
            format!("{name}:{text}{end}").into()
        };
        match self {
            Self::End => end.into(),
            Self::Data(data) => match data {
                Data::Result(id) => {
                    format!("data: {{\"id\":{id},\"jsonrpc\":\"2.0\",\"result\":{{}}}}{end}").into()
                }
                Data::Request => {
                    format!("data:{{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"n\":1.50}}{end}").into()
                }
                Data::Lines => format!("data: {{\"id\":1,{end}data:\"result\":{{}}}}{end}").into(),
                // What has a member twice is left alone.
                Data::Text(text) => line("data", &text.replace('{', "(")),
                Data::Number => format!("data: 1{end}").into(),
            },
            Self::Id(text) => line("id", text),
            Self::Event(text) => line("event", text),
            Self::Retry(time) => format!("retry: {time}{end}").into(),
            Self::Comment(text) => line("", text),
            Self::Text(text) => (*text).into(),
            Self::Bytes(bytes) => bytes.to_vec(),
        }
    }
}

/// As a session changes a message.
fn change(message: &mut Value, session_id: &str) {
    let Some(members) = message.as_object_mut() else {
        return;
    };
    if members.contains_key("method") {
        members.insert("sessionId".into(), session_id.into());
    } else if let Some(result) = members.get_mut("result").and_then(Value::as_object_mut) {
        result.insert("sessionId".into(), session_id.into());
    }
}

/// Returns a session, and an exchange that adds it to its answer.
fn delivered() -> (String, Exchange) {
    let (guard, session_id) = with_session(TransportSettings {
        sep1359: true,
        ..TransportSettings::default()
    });
    let body = format!(r#"{{"id":1,"method":"ping","sessionId":"{session_id}"}}"#);
    let (mut exchange, step) = guard.http(HttpRequest {
        method: "POST",
        session: ClientValue::Text(&session_id),
        body: Some(Body::Whole(body.as_bytes())),
        principal: Some(Ok(Who::Alice.principal())),
        ..HttpRequest::default()
    });
    assert!(matches!(step, Step::Deliver(_)));
    let head = AnswerHead {
        status: 200,
        content_type: Some("text/event-stream"),
        session: None,
    };
    assert!(exchange.answer(&head).unwrap());
    (session_id, exchange)
}

pub fn run(input: &[u8]) -> bool {
    let Some(input) = crate::read::<Input<'_>>(input) else {
        return false;
    };
    let line_end = ["\n", "\r\n", "\r"][usize::from(input.line_end) % 3];
    let stream: Vec<u8> = input
        .pieces
        .iter()
        .flat_map(|piece| piece.bytes(line_end))
        .collect();
    // A mark of the byte order belongs to no message.
    if stream.starts_with(b"\xef\xbb\xbf") {
        return false;
    }
    let mut cuts = input.cuts.iter();
    let (session_id, mut exchange) = delivered();
    let (mut rest, mut written) = (&stream[..], String::new());
    while !rest.is_empty() {
        let at = cuts
            .next()
            .map_or(rest.len(), |at| usize::from(*at).clamp(1, rest.len()));
        let (piece, after) = rest.split_at(at);
        written.extend(exchange.piece(piece).unwrap());
        rest = after;
    }
    assert!(matches!(exchange.answered(), Ok(Step::Respond(_))));
    written += &exchange.text().unwrap();
    let Some(before) = events(&stream) else {
        return false;
    };
    let after = events(written.as_bytes()).expect("it stays a stream");
    let expected: Vec<_> = before
        .into_iter()
        .map(|event| changed(event, &session_id))
        .collect();
    assert_eq!(
        after.into_iter().map(unspelled).collect::<Vec<_>>(),
        expected
    );
    expected.iter().any(|event| event.1.is_some())
}

/// Name, data, id and time of an event.
type Event = (Option<String>, Option<String>, Option<String>, Option<u64>);

fn fields(event: Sse) -> Event {
    (event.event, event.data, event.id, event.retry)
}

/// The events that a reader of another program sees; `None` if it sees none in an invalid stream.
fn events(stream: &[u8]) -> Option<Vec<Event>> {
    let bytes = stream::iter([Ok::<_, std::io::Error>(Bytes::copy_from_slice(stream))]);
    let read = SseStream::from_bytes_stream(bytes).collect::<Vec<_>>();
    let read = read.now_or_never().expect("nothing waits");
    read.into_iter()
        .map(|event| event.ok().map(fields))
        .collect()
}

/// JSON in one spelling.
fn unspelled((event, data, id, retry): Event) -> Event {
    let json = |data: &String| {
        serde_json::from_str(data)
            .ok()
            .map(|value: Value| value.to_string())
    };
    let data = data.map(|data| json(&data).unwrap_or(data));
    (event, data, id, retry)
}

fn changed((event, data, id, retry): Event, session_id: &str) -> Event {
    let data = data.map(|data| match serde_json::from_str::<Value>(&data) {
        Ok(mut message) => {
            change(&mut message, session_id);
            json!(message).to_string()
        }
        Err(_) => data,
    });
    (event, data, id, retry)
}
