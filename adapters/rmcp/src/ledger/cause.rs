//! The cause of a failure, for the log: its code. A foreign message may hold an address or a password.

use std::error::Error;
use std::io;
use std::sync::Arc;

/// Returns the code of a failure, or of what caused it: a code of the system's such as `ECONNREFUSED`, or one with which
/// a message begins, such as `NOAUTH`.
pub(crate) fn code(error: &(dyn Error + 'static)) -> Option<String> {
    let mut next = Some(error);
    while let Some(error) = next {
        // The crate `redis` has its cause in an `Arc`, which is an error of its own.
        let found = match error.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
            Some(shared) => shared.downcast_ref::<io::Error>(),
            None => error.downcast_ref(),
        };
        let found = found.and_then(|error| system(error.kind()));
        let found = found.map(Into::into);
        if let Some(code) = found.or_else(|| leading(&error.to_string())) {
            return Some(code);
        }
        next = error.source();
    }
    None
}

/// The names that the other languages give.
fn system(kind: io::ErrorKind) -> Option<&'static str> {
    Some(match kind {
        io::ErrorKind::ConnectionRefused => "ECONNREFUSED",
        io::ErrorKind::ConnectionReset => "ECONNRESET",
        io::ErrorKind::ConnectionAborted => "ECONNABORTED",
        io::ErrorKind::BrokenPipe => "EPIPE",
        io::ErrorKind::TimedOut => "ETIMEDOUT",
        io::ErrorKind::HostUnreachable => "EHOSTUNREACH",
        io::ErrorKind::NetworkUnreachable => "ENETUNREACH",
        io::ErrorKind::NotConnected => "ENOTCONN",
        io::ErrorKind::PermissionDenied => "EACCES",
        io::ErrorKind::NotFound => "ENOENT",
        io::ErrorKind::StorageFull => "ENOSPC",
        io::ErrorKind::ReadOnlyFilesystem => "EROFS",
        io::ErrorKind::UnexpectedEof => "EOF",
        _ => return None,
    })
}

/// Returns the first word, if it looks like a code.
fn leading(text: &str) -> Option<String> {
    let word = text.split([' ', ':']).next()?;
    let looks = (3..=41).contains(&word.len())
        && word.starts_with(|first: char| first.is_ascii_uppercase())
        && (word.bytes())
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    looks.then(|| word.into())
}

#[cfg(test)]
mod tests {
    use std::io;

    use redis::RedisError;

    use super::code;

    #[test]
    fn a_cause_is_told_by_its_code_alone() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let refused = code(&RedisError::from(refused));
        assert_eq!(refused.as_deref(), Some("ECONNREFUSED"));
        for (text, found) in [
            ("NOAUTH Authentication required", Some("NOAUTH")),
            ("WRONGPASS: s3cret", Some("WRONGPASS")),
            ("Password s3cret was refused", None),
            ("A", None),
        ] {
            assert_eq!(code(&io::Error::other(text)).as_deref(), found, "{text}");
        }
    }
}
