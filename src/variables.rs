//! Which variables of the environment have the keys.

use std::fmt;

use crate::{Error, KeyRing};

/// What the environment says of the keys. An empty value is none.
#[derive(Clone, Copy, Default)]
pub struct Variables<'a> {
    /// `SEALWAX_KEYS`: the text of a ring.
    pub keys: Option<&'a str>,
    /// `SEALWAX_KEYS_FILE`: the path of a file that has one.
    pub keys_file: Option<&'a str>,
    /// `SEALWAX_SECRET`: a secret that a key is derived from.
    pub secret: Option<&'a str>,
    /// `SEALWAX_SECRET_FALLBACKS`: earlier ones, separated by white space.
    pub secret_fallbacks: Option<&'a str>,
}

impl<'a> Variables<'a> {
    /// Reads variables as `environ` has them: each `NAME=value` and a NUL. Others than these four are passed over.
    #[must_use]
    pub fn read(environment: &'a str) -> Self {
        let mut found = Self::default();
        for (name, value) in environment
            .split('\0')
            .filter_map(|one| one.split_once('='))
        {
            let place = match name {
                "SEALWAX_KEYS" => &mut found.keys,
                "SEALWAX_KEYS_FILE" => &mut found.keys_file,
                "SEALWAX_SECRET" => &mut found.secret,
                "SEALWAX_SECRET_FALLBACKS" => &mut found.secret_fallbacks,
                _ => continue,
            };
            *place = Some(value);
        }
        found
    }

    /// Returns whether none has a value.
    #[must_use]
    pub fn are_absent(&self) -> bool {
        let all = [
            self.keys,
            self.keys_file,
            self.secret,
            self.secret_fallbacks,
        ];
        all.into_iter().flatten().all(str::is_empty)
    }

    /// Returns the ring; `None` if it is in the file.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] unless one variable has the keys, and as [`KeyRing::from_str`](std::str::FromStr::from_str) and
    /// [`KeyRing::derive`].
    pub fn ring(self) -> Result<Option<KeyRing>, Error> {
        let there = |value: Option<&'a str>| value.filter(|value| !value.is_empty());
        let [keys, file] = [self.keys, self.keys_file].map(there);
        let [secret, fallbacks] = [self.secret, self.secret_fallbacks].map(there);
        match (keys, file, secret) {
            (Some(keys), None, None) if fallbacks.is_none() => keys
                .parse()
                .map(Some)
                .map_err(|error| of("SEALWAX_KEYS", &error)),
            (None, Some(_), None) if fallbacks.is_none() => Ok(None),
            (None, None, Some(secret)) => {
                let ring = KeyRing::derive(secret, fallbacks.unwrap_or_default());
                ring.map(Some).map_err(|error| of("SEALWAX_SECRET", &error))
            }
            (None, None, None) => invalid(
                "SEALWAX_KEYS is not set, nor is SEALWAX_KEYS_FILE or SEALWAX_SECRET: `sealwax keygen`, \
                 `npx sealwax keygen` or `python -m sealwax keygen` makes a key",
            ),
            _ => invalid(
                "expected SEALWAX_KEYS, SEALWAX_KEYS_FILE or SEALWAX_SECRET with its fallbacks, found more than \
                 one: remove the others",
            ),
        }
    }
}

impl fmt::Debug for Variables<'_> {
    /// Without what they say, which is secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Variables")
    }
}

fn of(variable: &str, error: &Error) -> Error {
    Error::InvalidKey(format!("{variable}: {error}").into())
}

fn invalid<T>(why: &'static str) -> Result<T, Error> {
    Err(Error::InvalidKey(why.into()))
}
