//! A file of keys as a text that is changed: its comments stay.

use std::fmt;

use sealwax::{Error, Key, KeyId, KeyRing};
use zeroize::Zeroizing;

/// The lines of a file, of which each has one key at most. A comment at the end of a key's line stays with the key; a line
/// of its own stays where it is.
pub(crate) struct KeyFile(Vec<Line>);

struct Line {
    text: Zeroizing<String>,
    key: Option<KeyId>,
}

/// Ends the line of a key that was added, until it is promoted: what a key did before cannot be told from its place.
const ADDED: &str = " # added, not yet promoted";

impl KeyFile {
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// Reads the lines as a ring reads them.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut lines = Vec::new();
        let ring = KeyRing::read_lines(text, |line, words| {
            for (at, word) in words.iter().enumerate() {
                let text = match (words.len(), at + 1 == words.len()) {
                    (1, _) => line.to_owned(),
                    // The last of several has the comment.
                    (_, true) => format!("{word}{}", comment(line)),
                    (_, false) => (*word).to_owned(),
                };
                lines.push((Zeroizing::new(text), true));
            }
            if words.is_empty() {
                lines.push((Zeroizing::new(line.to_owned()), false));
            }
        })?;
        let mut ids = ring.ids();
        let lines = lines.into_iter().map(|(text, has_key)| {
            let key = if has_key { ids.next() } else { None };
            Line { text, key }
        });
        Ok(Self(lines.collect()))
    }

    /// Returns the ids in their order: the first seals.
    pub fn ids(&self) -> Vec<KeyId> {
        self.0.iter().filter_map(|line| line.key).collect()
    }

    /// Returns the key that was added last, and not yet promoted.
    pub fn added(&self) -> Option<KeyId> {
        let added = |line: &&Line| line.key.is_some() && line.text.ends_with(ADDED);
        self.0.iter().rev().find(added).and_then(|line| line.key)
    }

    /// Adds a key, which seals only if it is alone.
    pub fn add(&mut self, key: &Key) {
        if let Some(mut text) = key.to_text() {
            let after = self.0.iter().rposition(|line| line.key.is_some());
            if after.is_some() {
                // Allocated in full: growing would leave an unwiped copy behind.
                let mut marked = Zeroizing::new(String::with_capacity(text.len() + ADDED.len()));
                marked.push_str(&text);
                marked.push_str(ADDED);
                text = marked;
            }
            let key = Some(key.id());
            let at = after.map_or(self.0.len(), |after| after + 1);
            self.0.insert(at, Line { text, key });
        }
    }

    /// Makes a key the first.
    pub fn promote(&mut self, id: KeyId) {
        // Nor is the one that seals now new any more, also if it was put there by hand.
        let sealing = self.ids().first().copied();
        for line in &mut self.0 {
            if line.key.is_some() && [Some(id), sealing].contains(&line.key) {
                let unmarked = line.text.strip_suffix(ADDED).map(str::len);
                line.text.truncate(unmarked.unwrap_or(usize::MAX));
            }
        }
        if let (Some(line), Some(first)) = (self.take(id), self.0.iter().position(has_key)) {
            self.0.insert(first, line);
        }
    }

    pub fn retire(&mut self, id: KeyId) {
        self.take(id);
    }

    fn take(&mut self, id: KeyId) -> Option<Line> {
        let at = self.0.iter().position(|line| line.key == Some(id))?;
        Some(self.0.remove(at))
    }

    /// Returns the text, if a ring reads exactly these keys in it.
    pub fn to_text(&self) -> Result<Zeroizing<String>, Error> {
        let mut text = Zeroizing::new(String::new());
        for line in &self.0 {
            text.push_str(&line.text);
            text.push('\n');
        }
        let ring: KeyRing = text.parse()?;
        if !ring.ids().eq(self.ids()) {
            let why = "expected a server to read the keys that were meant: nothing was changed";
            return Err(Error::InvalidKey(why.into()));
        }
        Ok(text)
    }
}

fn has_key(line: &Line) -> bool {
    line.key.is_some()
}

fn comment(line: &str) -> String {
    match line.split_once('#') {
        Some((_, comment)) => format!(" #{comment}"),
        None => String::new(),
    }
}

/// Shows no key.
impl fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ids()).finish()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use sealwax::Key;

    use super::{ADDED, KeyFile};

    /// The rest is in tests/command.json.
    #[test]
    fn a_key_that_was_added_is_marked_until_it_seals() {
        let [old, added] = [(); 2].map(|()| Key::generate().unwrap());
        let [a, b] = [&old, &added].map(|key| key.to_text().unwrap().to_string());
        let mut file = KeyFile::parse(&format!("# of notes\r\n\n{a} # of May")).unwrap();
        file.add(&added);
        let expected = format!("# of notes\n\n{a} # of May\n{b}{ADDED}\n");
        assert_eq!(file.to_text().unwrap().as_str(), expected);
        let mut file = KeyFile::parse(&expected).unwrap();
        assert_eq!(file.added(), Some(added.id()));
        file.promote(added.id());
        assert_eq!(file.added(), None);
        assert!(file.to_text().unwrap().contains(&format!("\n{b}\n")));
        // Marked, and put first by hand.
        let mut by_hand = KeyFile::parse(&format!("{a}{ADDED}\n{b}{ADDED}\n")).unwrap();
        by_hand.promote(added.id());
        assert_eq!(by_hand.added(), None);
    }

    #[test]
    fn a_text_in_which_a_ring_reads_another_key_is_not_written() {
        let keys = [(); 2].map(|()| Key::generate().unwrap());
        let [shown, hidden] = keys.each_ref().map(|key| key.to_text().unwrap());
        let mut file = KeyFile::parse(&shown).unwrap();
        file.0[0].text = format!("{} {}", shown.as_str(), hidden.as_str()).into();
        let error = file.to_text().unwrap_err();
        assert!(error.to_string().contains("nothing was changed"), "{error}");
    }
}
