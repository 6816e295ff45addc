//! Changes the JSON-RPC messages in a stream of events (SSE).

use serde_json::Value;

/// Changes a message; `None` if it is not JSON.
pub(crate) fn changed(json: &[u8], change: &mut impl FnMut(&mut Value)) -> Option<Vec<u8>> {
    let mut message = serde_json::from_slice(json).ok()?;
    change(&mut message);
    serde_json::to_vec(&message).ok()
}

/// Takes the complete events out of `held`, and returns them with their changes.
pub(crate) fn events(held: &mut Vec<u8>, change: &mut impl FnMut(&mut Value)) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = end(held) {
        let rest = held.split_off(end);
        let event = std::mem::replace(held, rest);
        out.extend(changed_event(&event, change).unwrap_or(event));
    }
    out
}

/// Returns the place behind the first event, which an empty line ends. CR LF, LF or CR ends a line.
fn end(stream: &[u8]) -> Option<usize> {
    let mut begin = 0;
    loop {
        let line = stream[begin..]
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r'))?;
        let at = begin + line;
        let is_pair = stream[at..].starts_with(b"\r\n");
        begin = at + 1 + usize::from(is_pair);
        if line == 0 {
            return Some(begin);
        }
    }
}

/// Changes the data of an event, if it is JSON. It leaves as one line of data.
fn changed_event(event: &[u8], change: &mut impl FnMut(&mut Value)) -> Option<Vec<u8>> {
    let (mut json, mut out) = (Vec::new(), String::new());
    // As a reader decodes it: a comment that is not UTF-8 makes no difference.
    let event = String::from_utf8_lossy(event);
    for line in event.split(['\n', '\r']) {
        match line.strip_prefix("data:") {
            Some(data) => json.push(data.strip_prefix(' ').unwrap_or(data)),
            None if line.is_empty() => {}
            None => out.extend([line, "\n"]),
        }
    }
    let json = changed(json.join("\n").as_bytes(), change)?;
    Some([out.as_bytes(), b"data: ", &json, b"\n\n"].concat())
}

#[cfg(test)]
mod tests {
    use super::events;
    use serde_json::Value;

    fn rewritten(pieces: &[&str]) -> String {
        let mut held = Vec::new();
        let change = &mut |message: &mut Value| message["s"] = 1.into();
        let out = pieces.iter().flat_map(|piece| {
            held.extend_from_slice(piece.as_bytes());
            events(&mut held, change)
        });
        String::from_utf8(out.collect()).unwrap()
    }

    #[test]
    fn an_event_leaves_when_its_empty_line_is_there() {
        let changed = "id: 7\ndata: {\"s\":1}\n\n";
        assert_eq!(rewritten(&["id: 7\ndata: {}\n\n", "data"]), changed);
        assert_eq!(rewritten(&["id: 7\ndata:", " {}\n", "\n"]), changed);
        assert_eq!(rewritten(&["id: 7\r\ndata: {}\r\n\r\n"]), changed);
        assert_eq!(rewritten(&["id: 7\rdata: {}\r\r"]), changed);
        assert_eq!(
            rewritten(&["data: {\ndata: }\n\n: x\n\n"]),
            "data: {\"s\":1}\n\n: x\n\n"
        );
        assert_eq!(rewritten(&["data: x\n\n"]), "data: x\n\n");
    }

    #[test]
    fn a_comment_that_is_not_utf_8_changes_nothing() {
        let mut held = b":\xff\ndata: {}\n\n".to_vec();
        let out = events(&mut held, &mut |message| message["s"] = 1.into());
        assert!(out.ends_with(b"\ndata: {\"s\":1}\n\n"), "{out:?}");
    }
}
