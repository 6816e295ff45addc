//! Bytes of HTTP and stdio: what is passed on is JSON that another reader takes for the same, what is refused is answered, and
//! an answer leaves the same however it is cut into pieces. Of a stream (SSE) another reader sees the same events, too.

use std::collections::HashSet;

use arbitrary::Arbitrary;
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use sealwax_mcp::{
    AnswerHead, Body, ClientValue, Event, Exchange, Guard, HttpRequest, Report, Step,
    TransportSettings,
};
use serde::de::IgnoredAny;
use serde_json::Value;
use sse_stream::SseStream;

use crate::world::{Who, with_session};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    /// Bits: what the settings and the heads say.
    bits: u16,
    cuts: [u8; 6],
    /// What comes in, 0xff, what the SDK answers. `{t}` is a session.
    bytes: &'a [u8],
}

impl Input<'_> {
    fn bit(&self, at: u8) -> bool {
        self.bits >> at & 1 == 1
    }

    /// Returns what comes in, and what is answered.
    fn sides(&self, session_id: &str) -> (Vec<u8>, Vec<u8>) {
        let mut sides = self.bytes.splitn(2, |byte| *byte == 0xff);
        let mut next = || replaced(sides.next().unwrap_or_default(), session_id);
        (next(), next())
    }
}

fn replaced(bytes: &[u8], session_id: &str) -> Vec<u8> {
    let parts: Vec<_> = match bytes.windows(3).position(|window| window == b"{t}") {
        None => return bytes.into(),
        Some(at) => vec![&bytes[..at], session_id.as_bytes(), &bytes[at + 3..]],
    };
    parts.concat()
}

fn world(input: &Input<'_>) -> (Guard, String) {
    with_session(TransportSettings {
        required: input.bit(0),
        sep1359: input.bit(1),
        declares: input.bit(2),
        modern: input.bit(3),
        ..TransportSettings::default()
    })
}

pub fn run(input: &[u8]) -> bool {
    let Some(input) = crate::read::<Input<'_>>(input) else {
        return false;
    };
    if input.bit(15) {
        return lines(&input);
    }
    let whole = over_http(&input, &[]);
    assert_eq!(whole, over_http(&input, &input.cuts));
    whole.is_some()
}

/// Serves a request; returns what is sent, unless the request is refused.
fn over_http(input: &Input<'_>, cuts: &[u8]) -> Option<Vec<u8>> {
    let (guard, session_id) = world(input);
    let (body, answer) = input.sides(&session_id);
    let request = HttpRequest {
        method: ["POST", "POST", "GET", "DELETE"][usize::from(input.bits >> 4 & 3)],
        version: [
            ClientValue::Absent,
            ClientValue::Text("2026-07-28"),
            ClientValue::Text("2025-11-25"),
            ClientValue::Other,
        ][usize::from(input.bits >> 6 & 3)],
        session: match input.bit(8) {
            true => ClientValue::Text(&session_id),
            false => ClientValue::Absent,
        },
        body: input.bit(9).then_some(Body::Whole(&body)),
        principal: Some(Ok(Who::Alice.principal())),
        ..HttpRequest::default()
    };
    let is_post = request.method == "POST";
    let (mut exchange, mut step) = guard.http(request);
    if matches!(step, Step::Body) {
        step = exchange.body(Body::Whole(&body)).unwrap();
    }
    let deliver = match step {
        Step::Deliver(deliver) => deliver,
        step => {
            answered(&mut exchange, &step, &body);
            return None;
        }
    };
    let given = exchange.text();
    if is_post {
        same_message(&body, given.as_deref());
    }
    let head = AnswerHead {
        status: 200,
        content_type: Some(["application/json", "text/event-stream"][usize::from(input.bit(10))]),
        session: input.bit(11).then_some("theirs"),
    };
    let changes = deliver.add_session_id.is_some() || deliver.report != Report::Never;
    if !changes || !exchange.answer(&head).unwrap() {
        return Some(answer);
    }
    let (mut rest, mut sent) = (&answer[..], String::new());
    for cut in cuts {
        let (piece, after) = rest.split_at(usize::from(*cut).min(rest.len()));
        sent.extend(exchange.piece(piece).unwrap());
        rest = after;
    }
    sent.extend(exchange.piece(rest).unwrap());
    match exchange.answered().unwrap() {
        Step::Respond(_) => {
            sent += &exchange.text().unwrap_or_default();
            // A result that makes a session has more than its id.
            if input.bit(10) && deliver.report == Report::Never {
                same_events(&answer, &sent);
            }
        }
        step => {
            // Nothing of it has left.
            assert!(sent.is_empty());
            sent += &answered(&mut exchange, &step, &body);
        }
    }
    Some(sent.into_bytes())
}

/// Checks that a client hears of a refusal, by the id that it gave; returns what it hears.
fn answered(exchange: &mut Exchange, step: &Step, request: &[u8]) -> String {
    let Step::Reply(reply) = step else {
        panic!("{step:?}")
    };
    assert!(reply.status.is_some_and(|status| status >= 200));
    let text = exchange.text().unwrap_or_default();
    if !text.is_empty() {
        has_its_id(&text, request);
    }
    text
}

/// Checks an answer in place of the SDK's: of another request it has no id.
fn has_its_id(answer: &str, request: &[u8]) {
    let said: Value = serde_json::from_str(answer).unwrap();
    if let Ok(asked) = serde_json::from_slice::<Value>(request) {
        assert!(
            said["id"].is_null() || said["id"] == asked["id"],
            "{answer}"
        );
    }
}

/// Checks that the SDK gets the message that came, but for its session.
fn same_message(came: &[u8], given: Option<&str>) {
    let came = str::from_utf8(came).expect("UTF-8");
    serde_json::from_str::<IgnoredAny>(came).expect("JSON, and nothing after it");
    let Some(given) = given else { return };
    // Numbers and halves of letters that this reader does not take are passed on.
    let Ok(came) = serde_json::from_str::<Value>(came) else {
        return;
    };
    let given = serde_json::from_str(given).unwrap();
    assert_eq!(without_session(given), without_session(came));
}

/// Returns a message without the session of SEP-1359, which an answer has in its result.
fn without_session(mut message: Value) -> Value {
    if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
        result.remove("sessionId");
    }
    if let Some(members) = message.as_object_mut() {
        members.remove("sessionId");
    }
    message
}

/// Checks that the client's reader sees the events of the SDK's, each with its message but for the session.
fn same_events(answer: &[u8], sent: &str) {
    // A mark of the byte order belongs to no message.
    if answer.starts_with(b"\xef\xbb\xbf") {
        return;
    }
    if let Some(events) = events(answer) {
        assert_eq!(self::events(sent.as_bytes()), Some(events));
    }
}

/// Name, data, id and time of an event.
type Seen = (Option<String>, Option<String>, Option<String>, Option<u64>);

/// The events that a reader of another program sees; `None` if it sees none in an invalid stream.
fn events(stream: &[u8]) -> Option<Vec<Seen>> {
    let bytes = stream::iter([Ok::<_, std::io::Error>(Bytes::copy_from_slice(stream))]);
    let read = SseStream::from_bytes_stream(bytes).collect::<Vec<_>>();
    let message = |data: String| match serde_json::from_str(&data) {
        Ok(message) => without_session(message).to_string(),
        // What this reader does not take, such as 1e400, may have a session too.
        Err(_) if serde_json::from_str::<IgnoredAny>(&data).is_ok() => String::new(),
        Err(_) => data,
    };
    let read = read.now_or_never().expect("nothing waits").into_iter();
    read.map(|event| {
        let event = event.ok()?;
        Some((event.event, event.data.map(message), event.id, event.retry))
    })
    .collect()
}

/// Serves the lines of one client, each answered by one of the SDK's.
fn lines(input: &Input<'_>) -> bool {
    let (guard, session_id) = world(input);
    let (came, answers) = input.sides(&session_id);
    let connection = guard.connection();
    let mut answers = answers.split(|byte| *byte == b'\n');
    let mut open = HashSet::new();
    let mut is_delivered = false;
    for line in came.split(|byte| *byte == b'\n') {
        let (mut exchange, mut step) = connection.line(line);
        if matches!(step, Step::Identify) {
            step = exchange
                .on(Event::Principal(Ok(Some(Who::Alice.principal()))))
                .unwrap();
        }
        if matches!(step, Step::Replay) {
            let asked: Value = serde_json::from_str(&exchange.text().unwrap()).unwrap();
            let version = &asked["params"]["protocolVersion"];
            let answer = format!(
                r#"{{"id":{},"result":{{"protocolVersion":{version}}}}}"#,
                asked["id"]
            );
            let (mut replayed, left) = connection.leaves(answer.as_bytes(), None);
            assert!(matches!(left, Step::Replayed));
            step = exchange
                .on(Event::Replayed(Ok(&replayed.text().unwrap())))
                .unwrap();
        }
        match &step {
            Step::Deliver(_) => {
                is_delivered = true;
                let given = exchange.text().unwrap();
                let given = given.rsplit('\n').next().unwrap();
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                same_message(line, Some(given).filter(|given| given.as_bytes() != line));
                match serde_json::from_str::<Value>(given) {
                    Ok(message) if !message["method"].is_string() => {}
                    Ok(message) if !message["id"].is_null() => {
                        let is_new = open.insert(message["id"].to_string());
                        assert!(is_new, "an id in progress: {given}");
                    }
                    // Whichever a notification cancels.
                    _ => open.clear(),
                }
            }
            Step::Drop => {}
            step => {
                assert!(matches!(step, Step::Reply(_)), "{step:?}");
                has_its_id(&exchange.text().unwrap(), line);
            }
        }
        let Some(answer) = answers.next() else {
            continue;
        };
        let (mut left, step) = connection.leaves(answer, None);
        assert!(!left.text().is_some_and(|text| text.contains('\n')));
        match serde_json::from_slice::<Value>(answer) {
            _ if matches!(step, Step::Drop) => {}
            // One of the server's own.
            Ok(message) if message.get("method").is_some() => {}
            Ok(answer) => {
                open.remove(&answer["id"].to_string());
            }
            // Whichever it answers.
            Err(_) => open.clear(),
        }
    }
    is_delivered
}
