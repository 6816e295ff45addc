//! The canonical form (RFC 8785) of a request's arguments; refuses JSON that languages read
//! differently.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;

use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::error::Error;

pub(super) const MAX_LEVELS: usize = 100;
/// 2⁵³: from here on, neighbouring integers are equal as doubles.
const FIRST_INEXACT: u64 = 1 << 53;

/// Returns the canonical form of a JSON text; no bytes for an empty text or `null`. With `only`,
/// returns that of an object of the members so named, and checks no other member.
pub(crate) fn canonical(text: &str, only: Option<&[&str]>) -> Result<Vec<u8>, Error> {
    let refused = |why| Error::argument(format!("arguments: {why}"));
    let (value, plain) = read(text, only).map_err(refused)?;
    if only.is_some() && value.as_object().is_none_or(Map::is_empty) {
        return Err(Error::argument(
            "arguments: expected an object with at least one of the named members",
        ));
    }
    if value.is_null() {
        return Ok(Vec::new());
    }
    if !(value.is_object() || value.is_array()) {
        return Err(Error::argument(
            "arguments: expected an object or none, found a text, a number or a boolean: give them as \
             they are, not as JSON within JSON",
        ));
    }
    // For a plain value serde_json writes the canonical form, in a third of the time. In
    // WebAssembly the 4 kB of a second writer matter more.
    if cfg!(not(target_family = "wasm")) && plain {
        return serde_json::to_vec(&value).map_err(|error| refused(error.to_string()));
    }
    serde_json_canonicalizer::to_vec(&value).map_err(|error| refused(error.to_string()))
}

/// Reads a value, and returns whether it is plain.
fn read(text: &str, only: Option<&[&str]>) -> Result<(Value, bool), String> {
    let text = if text.is_empty() { "null" } else { text };
    let reading = Reading {
        text: text.as_bytes().as_ptr_range(),
        only,
        skipping: Cell::new(false),
        plain: Cell::new(true),
        refused: Cell::new(None),
    };
    let strict = Strict {
        levels: MAX_LEVELS,
        reading: &reading,
    };
    // From bytes, as the canonicalizer reads: a second reader is 20 kB of WebAssembly.
    let mut reader = serde_json::Deserializer::from_slice(text.as_bytes());
    let value = strict.deserialize(&mut reader);
    let value = value.and_then(|value| reader.end().map(|()| value));
    match reading.refused.get() {
        Some(why) => Err(why.into()),
        None => Ok((value.map_err(|e| e.to_string())?, reading.plain.get())),
    }
}

/// Reads a value of at most `levels` levels.
#[derive(Clone, Copy)]
struct Strict<'a> {
    levels: usize,
    reading: &'a Reading<'a>,
}

/// The input and the findings of a read.
struct Reading<'a> {
    /// The address range of the text.
    text: Range<*const u8>,
    /// The members to read at the outermost level.
    only: Option<&'a [&'a str]>,
    /// Whether the reader is in another member, which may be anything.
    skipping: Cell<bool>,
    /// Whether all numbers are integers and all keys ASCII, which sort alike in UTF-8 and UTF-16.
    plain: Cell<bool>,
    /// The reason to refuse it. A serde_json error with a text is 4 kB of WebAssembly.
    refused: Cell<Option<&'static str>>,
}

impl Strict<'_> {
    fn refuse(self, why: &'static str) {
        let refused = &self.reading.refused;
        refused.set(refused.get().or(Some(why)));
    }

    fn inside(self) -> Self {
        if self.levels == 0 {
            self.refuse("expected at most 100 levels");
        }
        let levels = self.levels.saturating_sub(1);
        Self { levels, ..self }
    }

    fn skips(self, key: &str) -> bool {
        self.levels == MAX_LEVELS && self.reading.only.is_some_and(|only| !only.contains(&key))
    }

    fn number<E>(self, within: bool, value: impl Into<Value>) -> Result<Value, E> {
        if !within && !self.reading.skipping.get() {
            self.refuse("expected numbers of magnitude below 2^53: pass a larger one as a string");
        }
        Ok(value.into())
    }
}

/// Reads a key of an object in a text; `None` is a key of serde_json's own. With its feature
/// `arbitrary_precision`, which any crate of the program may enable, a number is a map of such a
/// key and its digits. A key of the client lies within the text, or was copied out of it.
struct KeyIn<'a>(&'a Range<*const u8>);

impl<'de> DeserializeSeed<'de> for KeyIn<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeyIn<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Some(key.into()))
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(self.0.contains(&key.as_ptr()).then(|| key.into()))
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        self.number(value.unsigned_abs() < FIRST_INEXACT, value)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        self.number(value < FIRST_INEXACT, value)
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        self.reading.plain.set(false);
        #[expect(clippy::cast_precision_loss, reason = "a power of two is exact")]
        self.number(value.abs() < FIRST_INEXACT as f64, value)
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self.inside())? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key_seed(KeyIn(&self.reading.text))? {
            let Some(key) = key else {
                // Refused: 6 kB of WebAssembly, for a feature that the npm package does not enable.
                if cfg!(target_family = "wasm") {
                    return self.visit_f64(f64::NAN);
                }
                let digits: String = entries.next_value()?;
                return self.visit_f64(digits.parse().unwrap_or(f64::NAN));
            };
            if self.skips(&key) {
                self.reading.skipping.set(true);
                entries.next_value_seed(self.inside())?;
                self.reading.skipping.set(false);
                continue;
            }
            if object.contains_key(&key) && !self.reading.skipping.get() {
                self.refuse("expected each key once in an object");
            }
            let plain = self.reading.plain.get() && key.is_ascii();
            self.reading.plain.set(plain);
            object.insert(key, entries.next_value_seed(self.inside())?);
        }
        self.inside();
        // Another crate of the program may have enabled serde_json's `preserve_order`.
        object.sort_keys();
        Ok(Value::Object(object))
    }
}
