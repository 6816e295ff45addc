//! Where a server's keys are: in a file, or in the environment.

use std::env::{self, VarError};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use zeroize::Zeroizing;

use crate::key_ring::MAX_FILE;
use crate::{Error, KeyRing, Variables};

impl KeyRing {
    /// Reads the ring in a file.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if the file cannot be read, or holds no valid ring.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let read = bytes(path).map_err(|error| error.to_string());
        let read = read.as_ref().map(|bytes| bytes.as_slice());
        Self::of_file(&path.to_string_lossy(), read.map_err(String::as_str))
    }

    /// Reads the ring from the environment: from the file that `SEALWAX_KEYS_FILE` names, from `SEALWAX_KEYS`, or, by
    /// [`derive`](Self::derive), from `SEALWAX_SECRET` and `SEALWAX_SECRET_FALLBACKS`.
    /// [`Codec::from_env`](crate::Codec::from_env) also follows the file's changes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if none of them is set, or more than one, or there is no valid ring.
    pub fn from_env() -> Result<Self, Error> {
        match from_env()? {
            FromEnv::File(path) => Self::read(path),
            FromEnv::Ring(ring) => Ok(ring),
        }
    }
}

/// Reads a file, or one byte more of it than it may have.
fn bytes(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    // Allocated in full: growing would leave an unwiped copy behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_FILE + 1));
    let file = File::open(path)?;
    file.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Where the environment says that the keys are.
pub(crate) enum FromEnv {
    File(OsString),
    Ring(KeyRing),
}

pub(crate) fn from_env() -> Result<FromEnv, Error> {
    let text = |name: &str| match env::var(name) {
        Ok(text) => Ok(Some(Zeroizing::new(text))),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => {
            Err(Error::InvalidKey(format!("{name}: expected UTF-8").into()))
        }
    };
    let [keys, secret, secret_fallbacks] = [
        text("SEALWAX_KEYS")?,
        text("SEALWAX_SECRET")?,
        text("SEALWAX_SECRET_FALLBACKS")?,
    ];
    // A path may be any bytes.
    let file = env::var_os("SEALWAX_KEYS_FILE").unwrap_or_default();
    let variables = Variables {
        keys: keys.as_deref().map(String::as_str),
        keys_file: Some(&file.to_string_lossy()),
        secret: secret.as_deref().map(String::as_str),
        secret_fallbacks: secret_fallbacks.as_deref().map(String::as_str),
    };
    let ring = variables.ring()?;
    Ok(ring.map_or(FromEnv::File(file), FromEnv::Ring))
}
