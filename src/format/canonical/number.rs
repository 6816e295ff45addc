//! Numbers: as ECMAScript writes a double (RFC 8785, 3.2.2.3).

use serde_json::Value;

use super::{NO_JSON, Read, Reader};

const INEXACT: &str = "expected numbers of magnitude below 2^53: pass a larger one as a string";
/// 2⁵³: from here on, neighbouring integers are equal as doubles.
const FIRST_INEXACT: f64 = 9_007_199_254_740_992.0;
/// Integers of so many digits are below it, and canonical as they are.
const EXACT_DIGITS: usize = 15;

impl Reader<'_> {
    pub(super) fn number(&mut self) -> Read<bool> {
        let begin = self.at;
        let is_negative = self.take(b'-');
        let starts_with_0 = self.peek() == Some(b'0');
        let digits = self.digits()?;
        if starts_with_0 && digits > 1 {
            return Err(NO_JSON);
        }
        let mut is_integer = true;
        if self.take(b'.') {
            is_integer = false;
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            is_integer = false;
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        if is_integer && digits <= EXACT_DIGITS && !(is_negative && starts_with_0) {
            return Ok(true);
        }
        self.double(begin)?;
        Ok(true)
    }

    /// Writes the number that begins there as a double.
    fn double(&mut self, begin: usize) -> Read<()> {
        // By serde_json, because the engine's documents are read so: the standard library's reader
        // is 8 kB of WebAssembly more.
        let number: Result<Value, _> = serde_json::from_slice(&self.text[begin..self.at]);
        let number = number.ok().and_then(|number| number.as_f64());
        let number = number.filter(|number| number.is_finite()).ok_or(INEXACT)?;
        if self.skipping {
            return Ok(());
        }
        if number.abs() >= FIRST_INEXACT {
            return Err(INEXACT);
        }
        let mut buffer = ryu_js::Buffer::new();
        let written = buffer.format_finite(number).as_bytes();
        self.output.replace(begin..self.at, written);
        Ok(())
    }

    /// Reads one digit or more, and returns their number.
    fn digits(&mut self) -> Read<usize> {
        let digits = self.rest().iter();
        let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        if digits == 0 {
            Err(NO_JSON)
        } else {
            Ok(digits)
        }
    }
}
