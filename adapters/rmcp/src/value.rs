//! Authors' values as JSON.

use sealwax::Error;
use sealwax_mcp::Failed;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::foreign::wrong;

pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| {
        let error = said(error);
        Error::InvalidArgument(
            format!("payload: expected a value that JSON can hold: {error}").into(),
        )
    })
}

/// Writes an answer to a question of the engine.
pub(crate) fn answer<T: Serialize + ?Sized>(value: &T) -> Result<String, Failed> {
    json(value).map_err(wrong)
}

/// Reads a value that was opened.
pub(crate) fn read<T: DeserializeOwned>(value: &str, expected: &'static str) -> Result<T, Error> {
    serde_json::from_str(value).map_err(|_| Error::Malformed(expected))
}

/// Quotes foreign text for a message: a JSON string of at most 64 characters, in ASCII. The text may repeat what
/// a client sent, which must neither break a line of the log nor fill it.
pub(crate) fn said(text: impl ToString) -> String {
    let text: String = text.to_string().chars().take(64).collect();
    let units = Value::from(text).to_string();
    let ascii = units.encode_utf16().map(|unit| match u8::try_from(unit) {
        Ok(byte @ b' '..=b'~') => char::from(byte).to_string(),
        _ => format!("\\u{unit:04x}"),
    });
    ascii.collect()
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn foreign_text_neither_breaks_a_line_nor_fills_it() {
        assert_eq!(said("a\n\"b\""), r#""a\n\"b\"""#);
        assert_eq!(said("é\u{2028}😀"), r#""\u00e9\u2028\ud83d\ude00""#);
        assert_eq!(said("x".repeat(1000)), format!("\"{}\"", "x".repeat(64)));
    }
}
