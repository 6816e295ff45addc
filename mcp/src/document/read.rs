//! Reads documents into their types.
//!
//! serde_json's own deserializer of a [`Value`] describes each mistake, and reads structs from arrays
//! too: that is 40 kB of WebAssembly.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::NO_DOCUMENT;
use crate::message::members::PrincipalParts;
use sealwax::{Error, Principal};

/// Reads a document: an object. Its nulls are left out, because they mean the same as nothing.
#[inline(never)]
pub(super) fn parse(document: &str) -> Result<Value, Error> {
    match value(document)? {
        document @ Value::Object(_) => Ok(document),
        _ => Err(NO_DOCUMENT),
    }
}

pub(super) fn value(json: &str) -> Result<Value, Error> {
    crate::message::json::read(json).ok_or(NO_DOCUMENT)
}

pub(super) fn read<'a, T: Deserialize<'a>>(document: &'a Value) -> Result<T, Error> {
    T::deserialize(Reader(document)).map_err(|_| NO_DOCUMENT)
}

#[inline(never)]
pub(super) fn principal(value: &Value) -> Result<Principal, Error> {
    PrincipalParts::read(Reader(value))
}

/// Reads a value. An error leaves nothing half read.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub &'a Value);

/// The adapter's mistake.
#[derive(Debug)]
pub(super) struct Mistake;

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&NO_DOCUMENT, f)
    }
}

impl std::error::Error for Mistake {}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl<'a> Reader<'a> {
    fn members(self) -> Option<impl Iterator<Item = (&'a str, Self)>> {
        let members = self.0.as_object()?.iter();
        // Absent and null mean the same.
        let given = members.filter(|(_, value)| !value.is_null());
        Some(given.map(|(name, value)| (name.as_str(), Self(value))))
    }
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => visitor.visit_u64(number),
                (_, Some(number)) => visitor.visit_i64(number),
                _ => Err(Mistake),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => {
                visitor.visit_seq(SeqDeserializer::new(items.iter().map(Reader)))
            }
            Value::Object(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_map(MapDeserializer::new(self.members().ok_or(Mistake)?))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.deserialize_map(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::String(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            _ => {
                let members = MapDeserializer::new(self.members().ok_or(Mistake)?);
                visitor.visit_enum(MapAccessDeserializer::new(members))
            }
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct identifier ignored_any
    }
}

impl<'a> IntoDeserializer<'a, Mistake> for Reader<'a> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
