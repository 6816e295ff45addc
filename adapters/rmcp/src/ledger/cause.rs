//! The cause of a failure, for the log: its code. A foreign message may hold an address or a password.

use std::error::Error;
use std::io;

/// Returns the code of a failure, or of what caused it: a code of the system's such as `ECONNREFUSED`, or one with which
/// a message begins, such as `NOAUTH`.
pub(crate) fn code(error: &(dyn Error + 'static)) -> Option<String> {
    let mut next = Some(error);
    while let Some(error) = next {
        let found = match error.downcast_ref::<io::Error>() {
            Some(error) => system(error.kind()).map(Into::into),
            None => None,
        };
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
    use super::code;
    use std::error::Error;
    use std::fmt;
    use std::io;

    #[derive(Debug)]
    struct Wrapped(&'static str, Option<io::ErrorKind>);

    impl fmt::Display for Wrapped {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Wrapped {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            static CAUSE: std::sync::OnceLock<io::Error> = std::sync::OnceLock::new();
            self.1.map(|kind| CAUSE.get_or_init(|| kind.into()) as _)
        }
    }

    #[test]
    fn a_cause_is_told_by_its_code_alone() {
        let refused = Some(io::ErrorKind::ConnectionRefused);
        for (error, found) in [
            (
                Wrapped("cannot reach redis://:s3cret@db", refused),
                Some("ECONNREFUSED"),
            ),
            (
                Wrapped("NOAUTH Authentication required", None),
                Some("NOAUTH"),
            ),
            (Wrapped("WRONGPASS: s3cret", None), Some("WRONGPASS")),
            (Wrapped("Password s3cret was refused", None), None),
            (Wrapped("A", None), None),
        ] {
            assert_eq!(code(&error).as_deref(), found, "{error}");
        }
    }
}
