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

impl KeyFile {
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// Reads key texts between white space and commas. `#` begins a comment, which ends with its line.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (mut lines, mut keys) = (Vec::new(), Vec::new());
        for line in text.lines() {
            let code = line.split('#').next().unwrap_or_default();
            let words: Vec<_> = code
                .split(|c: char| c == ',' || c.is_ascii_whitespace())
                .filter(|word| !word.is_empty())
                .collect();
            for (at, word) in words.iter().enumerate() {
                let key: Key = word.parse().map_err(|error| {
                    Error::InvalidKey(format!("key {} of the ring: {error}", keys.len() + 1).into())
                })?;
                let text = match (words.len(), at + 1 == words.len()) {
                    (1, _) => line.to_owned(),
                    // The last of several has the comment.
                    (_, true) => format!("{word}{}", comment(line)),
                    (_, false) => (*word).to_owned(),
                };
                lines.push(Line::of(text, Some(key.id())));
                keys.push(key);
            }
            if words.is_empty() {
                lines.push(Line::of(line.to_owned(), None));
            }
        }
        // A ring's own rules: how many, and each once.
        KeyRing::new(keys)?;
        Ok(Self(lines))
    }

    /// Returns the ids in their order: the first seals.
    pub fn ids(&self) -> Vec<KeyId> {
        self.0.iter().filter_map(|line| line.key).collect()
    }

    /// Adds a key, which seals only if it is alone.
    pub fn add(&mut self, key: &Key) {
        if let Some(text) = key.to_text() {
            let after = self.0.iter().rposition(|line| line.key.is_some());
            let line = Line::of(text.to_string(), Some(key.id()));
            self.0
                .insert(after.map_or(self.0.len(), |after| after + 1), line);
        }
    }

    /// Makes a key the first.
    pub fn promote(&mut self, id: KeyId) {
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

    pub fn to_text(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::new());
        for line in &self.0 {
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }
}

impl Line {
    fn of(text: String, key: Option<KeyId>) -> Self {
        let text = Zeroizing::new(text);
        Self { text, key }
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

    use super::KeyFile;

    #[test]
    fn comments_stay_with_their_keys_and_at_their_places() {
        let keys = [(); 3].map(|()| Key::generate().unwrap());
        let [a, b, c] = keys
            .each_ref()
            .map(|key| key.to_text().unwrap().to_string());
        let text = format!(
            "# of notes, swk1_no key\r\n\n {a}, {b}  # of May\n# the next is new\n{c} # of June\n# end"
        );
        let mut file = KeyFile::parse(&text).unwrap();
        assert_eq!(file.ids(), keys.each_ref().map(Key::id));
        file.promote(keys[2].id());
        let expected = format!(
            "# of notes, swk1_no key\n\n{c} # of June\n{a}\n{b} # of May\n# the next is new\n# end\n"
        );
        assert_eq!(file.to_text().as_str(), expected);
        file.retire(keys[1].id());
        let added = Key::generate().unwrap();
        file.add(&added);
        let d = added.to_text().unwrap();
        let expected = format!(
            "# of notes, swk1_no key\n\n{c} # of June\n{a}\n{}\n# the next is new\n# end\n",
            d.as_str()
        );
        assert_eq!(file.to_text().as_str(), expected);
        assert_eq!(KeyFile::parse(&expected).unwrap().ids().len(), 3);
    }

    #[test]
    fn what_is_no_ring_is_refused() {
        let key = Key::generate().unwrap().to_text().unwrap();
        let twice = format!("{}\n{}", key.as_str(), key.as_str());
        for text in ["", "# none", "nonsense", twice.as_str()] {
            KeyFile::parse(text).unwrap_err();
        }
    }
}
