//! A request's arguments in RFC 8785 form, and the refusal of whatever languages read
//! differently.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::Error;

const MAX_LEVELS: usize = 100;
/// 2⁵³: from here on neighbouring integers become one another where numbers are doubles.
const LIMIT: u64 = 1 << 53;
/// Whether some crate of the program turned on serde_json's `arbitrary_precision`: a number is its
/// text then, and is handed over as a map of one member.
const NUMBERS_COME_AS_MAPS: bool = size_of::<Number>() == size_of::<String>();
const NUMBER_KEY: &str = "$serde_json::private::Number";

/// The canonical form of a JSON text; of an empty text, or of `null`, nothing.
pub(crate) fn canonical(text: &str) -> Result<Vec<u8>, Error> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let refused = |error| Error::argument(format!("arguments: {error}"));
    // From bytes, as the canonicalizer reads: a second reader is 20 kB more of WebAssembly.
    let mut reader = serde_json::Deserializer::from_slice(text.as_bytes());
    let plain = Cell::new(true);
    let strict = Strict {
        levels: MAX_LEVELS,
        plain: &plain,
    };
    let value = strict.deserialize(&mut reader).map_err(refused)?;
    reader.end().map_err(refused)?;
    if value.is_null() {
        return Ok(Vec::new());
    }
    // Where serde_json writes the canonical form anyway, in a third of the time; in WebAssembly
    // the 4 kB of a second writer count for more.
    if cfg!(not(target_family = "wasm")) && plain.get() {
        return serde_json::to_vec(&value).map_err(refused);
    }
    serde_json_canonicalizer::to_vec(&value).map_err(refused)
}

/// Reads a value of at most `levels` levels, and finds out whether it is plain: no numbers but
/// integers, and no keys but ASCII ones, which sort alike in UTF-8 and in UTF-16.
#[derive(Clone, Copy)]
struct Strict<'a> {
    levels: usize,
    plain: &'a Cell<bool>,
}

impl Strict<'_> {
    fn inside<E: serde::de::Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1);
        levels
            .map(|levels| Self { levels, ..self })
            .ok_or_else(|| E::custom(format!("expected at most {MAX_LEVELS} levels")))
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

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        within_limit(value.unsigned_abs() < LIMIT, value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        within_limit(value < LIMIT, value)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        self.plain.set(false);
        #[expect(clippy::cast_precision_loss, reason = "a power of two is exact")]
        within_limit(value.abs() < LIMIT as f64, value)
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if NUMBERS_COME_AS_MAPS && key == NUMBER_KEY {
                let text: String = entries.next_value()?;
                return self.visit_f64(text.parse().map_err(A::Error::custom)?);
            }
            if object.contains_key(&key) {
                return Err(A::Error::custom("expected each key once in an object"));
            }
            if !key.is_ascii() {
                self.plain.set(false);
            }
            object.insert(key, entries.next_value_seed(self.inside()?)?);
        }
        self.inside::<A::Error>()?;
        // Some crate of the program may have turned on serde_json's `preserve_order`.
        object.sort_keys();
        Ok(Value::Object(object))
    }
}

fn within_limit<E: serde::de::Error>(within: bool, value: impl Into<Value>) -> Result<Value, E> {
    if within {
        return Ok(value.into());
    }
    Err(E::custom(
        "expected numbers of magnitude below 2^53: pass a larger one as a string",
    ))
}

#[cfg(test)]
mod tests {
    use super::canonical;
    use alloc::string::String;

    fn text(json: &str) -> String {
        String::from_utf8(canonical(json).unwrap()).unwrap()
    }

    #[test]
    fn arrays_and_objects_have_a_hundred_levels_at_most() {
        for [open, close] in [["[", "]"], ["{\"a\":", "}"]] {
            let nested = |levels: usize, inside: &str| {
                canonical(&(open.repeat(levels) + inside + &close.repeat(levels)))
            };
            assert!(nested(100, "1").is_ok());
            for inside in ["1", "[]", "{}"] {
                assert!(
                    nested(if inside == "1" { 101 } else { 100 }, inside).is_err(),
                    "{inside}"
                );
            }
        }
    }

    #[test]
    fn a_number_in_disguise_is_an_object() {
        let disguised = r#"{"$serde_json::private::Number":"1"}"#;
        // With `arbitrary_precision`, serde_json itself cannot tell the two apart.
        let numbers_are_texts = size_of::<serde_json::Number>() > size_of::<u64>() * 2;
        assert_eq!(
            text(disguised),
            if numbers_are_texts { "1" } else { disguised }
        );
        assert_eq!(text("1.0"), "1");
    }

    #[test]
    fn what_is_plain_is_written_as_the_canonicalizer_does() {
        let plain = r#"{"z":[1,-2,{"b":null,"a":"\u001f\u007f\/\ud83d\ude02\b"}],"A":9007199254740991,"":true}"#;
        let value: serde_json::Value = serde_json::from_str(plain).unwrap();
        assert_eq!(
            canonical(plain).unwrap(),
            serde_json_canonicalizer::to_vec(&value).unwrap()
        );
    }

    #[test]
    fn keys_are_sorted_by_their_utf_16() {
        assert_eq!(
            text("{\"\u{fb33}\":1,\"\u{1f602}\":2}"),
            "{\"\u{1f602}\":2,\"\u{fb33}\":1}"
        );
    }
}
