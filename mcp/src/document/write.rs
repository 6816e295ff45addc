//! Writes documents.

use serde::Serialize;

/// Writes a JSON object.
#[derive(Default)]
pub(super) struct Object(Vec<u8>);

impl Object {
    pub fn written(mut self) -> String {
        self.0.push(b'}');
        String::from_utf8(self.0).unwrap_or_default()
    }

    #[inline(never)]
    fn name(&mut self, member: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.write(member);
        self.0.push(b':');
    }

    /// Writes strings, numbers and structs of these, which always serialize.
    fn write(&mut self, value: &(impl Serialize + ?Sized)) {
        let _ = serde_json::to_writer(&mut self.0, value);
    }

    #[inline(never)]
    pub fn put(&mut self, member: &str, value: &(impl Serialize + ?Sized)) {
        self.name(member);
        self.write(value);
    }

    #[inline(never)]
    pub fn text(&mut self, member: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.put(member, text);
        }
    }

    #[inline(never)]
    pub fn number(&mut self, member: &str, number: Option<u64>) {
        self.name(member);
        match number {
            Some(number) => self.write(&number),
            None => self.0.extend_from_slice(b"null"),
        }
    }

    pub fn flag(&mut self, member: &str, is: bool) {
        if is {
            self.json(member, "true");
        }
    }

    #[inline(never)]
    pub fn json(&mut self, member: &str, json: &str) {
        self.name(member);
        self.0.extend_from_slice(json.as_bytes());
    }

    pub fn list(&mut self, member: &str, items: impl Iterator<Item = String>) {
        self.json(member, "[");
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.0.push(b',');
            }
            self.0.extend_from_slice(item.as_bytes());
        }
        self.0.push(b']');
    }
}
