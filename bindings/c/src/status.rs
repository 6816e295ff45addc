//! The core's errors as numbers.

use std::ffi::{CStr, c_char};

use sealwax_core::Error;

/// The outcome of a call: SEALWAX_OK, or another of the numbers above.
pub type Status = i32;

/// Success.
pub const SEALWAX_OK: i32 = 0;
/// A wrong argument of the caller; the message says what was expected.
pub const SEALWAX_INVALID_ARGUMENT: i32 = 10;
/// A required pointer was NULL.
pub const SEALWAX_NULL_POINTER: i32 = 11;
/// A text is not UTF-8.
pub const SEALWAX_NOT_UTF8: i32 = 12;
/// The buffer is too small; `*len` is the required size, and nothing else was written.
pub const SEALWAX_BUFFER_TOO_SMALL: i32 = 13;
/// An unusable key text or key ring.
pub const SEALWAX_INVALID_KEY: i32 = 20;
/// The system gave no randomness, so nothing was sealed.
pub const SEALWAX_ENTROPY_UNAVAILABLE: i32 = 30;
/// A bug in sealwax itself.
pub const SEALWAX_INTERNAL_ERROR: i32 = 31;
/// A token or a payload over its limit.
pub const SEALWAX_TOO_LARGE: i32 = 40;
/// A later version of the format, or a kind of token unknown to version 1.
pub const SEALWAX_UNSUPPORTED: i32 = 41;
/// Not a token of this format, or not in its canonical spelling.
pub const SEALWAX_MALFORMED: i32 = 42;
/// A token of another kind, or a handle of another type, than expected.
pub const SEALWAX_WRONG_PURPOSE: i32 = 43;
/// Sealed under a key that is not in the ring.
pub const SEALWAX_UNKNOWN_KEY: i32 = 50;
/// Forged, altered, or bound to something else; these cannot be told apart.
pub const SEALWAX_UNAUTHENTIC: i32 = 51;
/// Authentic, but issued to another principal.
pub const SEALWAX_PRINCIPAL_MISMATCH: i32 = 52;
/// Issued further in the future than the allowed clock tolerance.
pub const SEALWAX_NOT_YET_VALID: i32 = 60;
/// Past its lifetime or the given maximum age.
pub const SEALWAX_EXPIRED: i32 = 61;

/// Returns the code of a status: the same text in every language, such as "expired"; static.
///
/// SEALWAX_NULL_POINTER and SEALWAX_NOT_UTF8 are "invalid_argument" too, so that all languages have
/// the same codes. An unknown status is "internal_error".
#[unsafe(no_mangle)]
pub extern "C" fn sealwax_code(status: Status) -> *const c_char {
    code(status).as_ptr()
}

/// Returns whether a status is a refusal of a token (40 and up). Other errors are mistakes or
/// failures of the server, and must not make a client discard its session.
#[unsafe(no_mangle)]
pub extern "C" fn sealwax_is_refusal(status: Status) -> bool {
    status >= SEALWAX_TOO_LARGE
}

fn code(status: Status) -> &'static CStr {
    match status {
        SEALWAX_OK => c"ok",
        SEALWAX_INVALID_ARGUMENT | SEALWAX_NULL_POINTER | SEALWAX_NOT_UTF8 => c"invalid_argument",
        SEALWAX_BUFFER_TOO_SMALL => c"buffer_too_small",
        SEALWAX_INVALID_KEY => c"invalid_key",
        SEALWAX_ENTROPY_UNAVAILABLE => c"entropy_unavailable",
        SEALWAX_TOO_LARGE => c"too_large",
        SEALWAX_UNSUPPORTED => c"unsupported",
        SEALWAX_MALFORMED => c"malformed",
        SEALWAX_WRONG_PURPOSE => c"wrong_purpose",
        SEALWAX_UNKNOWN_KEY => c"unknown_key",
        SEALWAX_UNAUTHENTIC => c"unauthentic",
        SEALWAX_PRINCIPAL_MISMATCH => c"principal_mismatch",
        SEALWAX_NOT_YET_VALID => c"not_yet_valid",
        SEALWAX_EXPIRED => c"expired",
        _ => c"internal_error",
    }
}

pub(crate) fn of(error: &Error) -> Status {
    match error {
        Error::InvalidArgument(_) => SEALWAX_INVALID_ARGUMENT,
        Error::InvalidKey(_) => SEALWAX_INVALID_KEY,
        Error::EntropyUnavailable => SEALWAX_ENTROPY_UNAVAILABLE,
        Error::TooLarge { .. } => SEALWAX_TOO_LARGE,
        Error::Unsupported(_) => SEALWAX_UNSUPPORTED,
        Error::Malformed(_) => SEALWAX_MALFORMED,
        Error::WrongPurpose { .. } => SEALWAX_WRONG_PURPOSE,
        Error::UnknownKey(_) => SEALWAX_UNKNOWN_KEY,
        Error::Unauthentic => SEALWAX_UNAUTHENTIC,
        Error::PrincipalMismatch => SEALWAX_PRINCIPAL_MISMATCH,
        Error::NotYetValid { .. } => SEALWAX_NOT_YET_VALID,
        Error::Expired { .. } => SEALWAX_EXPIRED,
        _ => SEALWAX_INTERNAL_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealwax_core::Key;

    #[test]
    fn codes_and_refusals_are_the_cores() {
        let (issued_at, at, now) = (2, 0, 1);
        let errors = [
            Error::InvalidArgument("".into()),
            Error::InvalidKey("".into()),
            Error::EntropyUnavailable,
            Error::TooLarge {
                what: "token",
                found: 2,
                limit: 1,
            },
            Error::Unsupported(""),
            Error::Malformed(""),
            Error::WrongPurpose {
                expected: String::new(),
                found: String::new(),
            },
            Error::UnknownKey(Key::generate().expect("randomness").id()),
            Error::Unauthentic,
            Error::PrincipalMismatch,
            Error::NotYetValid { issued_at, now },
            Error::Expired { at, now },
        ];
        for error in errors {
            let status = of(&error);
            assert_eq!(code(status).to_str(), Ok(error.code()));
            assert_eq!(sealwax_is_refusal(status), error.is_refusal(), "{error:?}");
        }
    }
}
