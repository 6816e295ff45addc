//! The messages in a stream of events (SSE), which may be cut anywhere.
//!
//! LF, CR or CR LF ends a line, and an empty line an event
//! (<https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream>).

/// Takes the complete events out of `held`, and returns them with their messages changed.
pub(crate) fn events(held: &mut Vec<u8>, change: &mut dyn FnMut(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut begin = 0;
    while let Some(rest) = held.get(begin..)
        && let Some(length) = end(rest)
    {
        let event = rest.get(..length).unwrap_or_default();
        // As readers decode it.
        let event = String::from_utf8_lossy(event);
        match changed(&event, change) {
            Some(event) => out.push_str(&event),
            None => out.push_str(&event),
        }
        begin += length;
    }
    held.drain(..begin);
    out
}

/// Returns the length of the first event.
fn end(stream: &[u8]) -> Option<usize> {
    let mut begin = 0;
    loop {
        let rest = stream.get(begin..)?;
        let line = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
        let is_pair = rest.get(line..)?.starts_with(b"\r\n");
        begin += line + 1 + usize::from(is_pair);
        if line == 0 {
            return Some(begin);
        }
    }
}

/// Returns an event with its message changed, in one line of data.
fn changed(event: &str, change: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    let mut data = String::new();
    for (line, _) in lines(event) {
        if let Some(part) = line.strip_prefix("data:") {
            data.push_str(part.strip_prefix(' ').unwrap_or(part));
            data.push('\n');
        }
    }
    let message = change(data.trim_end())?;
    let mut out = String::new();
    let mut is_written = false;
    for (line, end) in lines(event) {
        if !line.starts_with("data:") {
            out.push_str(line);
        } else if is_written {
            continue;
        } else {
            is_written = true;
            out.push_str("data: ");
            // In a text JSON has no line's end; elsewhere it is white space.
            out.push_str(&message.replace('\n', " "));
        }
        out.push_str(end);
    }
    Some(out)
}

/// Returns the lines of an event, each with what ends it.
fn lines(mut event: &str) -> impl Iterator<Item = (&str, &str)> {
    std::iter::from_fn(move || {
        let at = event.find(['\n', '\r'])?;
        let (line, rest) = event.split_at_checked(at)?;
        let length = if rest.starts_with("\r\n") { 2 } else { 1 };
        let (end, next) = rest.split_at_checked(length)?;
        event = next;
        Some((line, end))
    })
}
