//! The messages in a stream of events (SSE), which may be cut anywhere.
//!
//! LF, CR or CR LF ends a line, and an empty line an event
//! (<https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream>).

use memchr::memchr2;

/// What came of a stream, and is not taken yet.
#[derive(Clone, Default)]
pub(crate) struct Stream {
    pub held: Vec<u8>,
    /// Where its last line begins.
    line: usize,
    /// How much was searched for the end of that line: an event may come in many pieces.
    searched: usize,
}

impl Stream {
    /// Takes the complete events out, and returns them with their messages changed.
    pub fn events(&mut self, change: &mut dyn FnMut(&str) -> Option<String>) -> String {
        let mut out = String::new();
        let mut begin = 0;
        while let Some(end) = self.end() {
            let event = self.held.get(begin..end).unwrap_or_default();
            // As readers decode it.
            let event = String::from_utf8_lossy(event);
            match changed(&event, change) {
                Some(event) => out.push_str(&event),
                None => out.push_str(&event),
            }
            begin = end;
        }
        self.held.drain(..begin);
        self.line -= begin;
        self.searched -= begin;
        out
    }

    /// Returns where the next event ends.
    fn end(&mut self) -> Option<usize> {
        loop {
            let rest = self.held.get(self.searched..)?;
            let Some(at) = memchr2(b'\n', b'\r', rest) else {
                self.searched = self.held.len();
                return None;
            };
            let is_empty = self.searched + at == self.line;
            let line_end = rest.get(at..)?;
            if line_end == b"\r" && !is_empty {
                // The LF that may follow begins no line.
                self.searched += at;
                return None;
            }
            let is_pair = line_end.starts_with(b"\r\n");
            self.searched += at + 1 + usize::from(is_pair);
            self.line = self.searched;
            if is_empty {
                return Some(self.line);
            }
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
