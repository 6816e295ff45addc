//! The canonical form of arguments by other means: a strict reader on serde, and a crate for RFC 8785.

use std::cell::Cell;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Returns the canonical form; `None` if it is refused.
pub fn canonical(text: &str, only: Option<&[&str]>) -> Option<String> {
    let text = if text.is_empty() { "null" } else { text };
    let skipping = Cell::new(false);
    let strict = Strict {
        levels: 100,
        only,
        skipping: &skipping,
    };
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = strict.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    match &value {
        Value::Object(object) if only.is_some() && object.is_empty() => None,
        Value::Null if only.is_none() => Some(String::new()),
        Value::Object(_) => serde_json_canonicalizer::to_string(&value).ok(),
        Value::Array(_) if only.is_none() => serde_json_canonicalizer::to_string(&value).ok(),
        _ => None,
    }
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    levels: usize,
    /// The members to read at the outermost level.
    only: Option<&'a [&'a str]>,
    /// Whether the reader is in another member.
    skipping: &'a Cell<bool>,
}

impl Strict<'_> {
    fn inside<E: serde::de::Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1);
        let levels = levels.ok_or_else(|| E::custom("levels"))?;
        Ok(Self {
            levels,
            only: None,
            ..self
        })
    }

    fn number<E: serde::de::Error>(self, number: f64, value: Value) -> Result<Value, E> {
        if number.abs() < 9_007_199_254_740_992.0 || self.skipping.get() {
            return Ok(value);
        }
        Err(E::custom("inexact"))
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "2^53 is exact, and below it each integer"
)]
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
        self.number(value as f64, value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        self.number(value as f64, value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        self.number(value, value.into())
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
        let inside = self.inside()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if self.only.is_some_and(|only| !only.contains(&&*key)) {
                self.skipping.set(true);
                entries.next_value_seed(inside)?;
                self.skipping.set(false);
                continue;
            }
            let value = entries.next_value_seed(inside)?;
            if object.insert(key, value).is_some() && !self.skipping.get() {
                return Err(A::Error::custom("duplicate"));
            }
        }
        Ok(Value::Object(object))
    }
}
