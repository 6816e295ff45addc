//! A codec of the operating system, with the keys that its environment names.

use std::env;
use std::ffi::OsString;

use zeroize::Zeroizing;

use crate::{Codec, CodecBuilder, Error, KeyRing, KeysFile, System};

impl KeyRing {
    /// Reads the ring from the environment: from the file that `SEALWAX_KEYS_FILE` names, or else from
    /// `SEALWAX_KEYS`. [`Codec::from_env`] also follows the file's changes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if neither variable is set, or both, or there is no valid ring.
    pub fn from_env() -> Result<Self, Error> {
        match from_env()? {
            FromEnv::File(path) => Self::read(path),
            FromEnv::Text(text) => text.parse(),
        }
    }
}

/// Where the environment says that the keys are.
enum FromEnv {
    File(OsString),
    Text(Zeroizing<String>),
}

fn from_env() -> Result<FromEnv, Error> {
    let invalid = |why: &'static str| Error::InvalidKey(why.into());
    let file = env::var_os("SEALWAX_KEYS_FILE").filter(|path| !path.is_empty());
    let text = env::var_os("SEALWAX_KEYS").filter(|text| !text.is_empty());
    match (file, text) {
        (Some(_), Some(_)) => Err(invalid(
            "expected SEALWAX_KEYS or SEALWAX_KEYS_FILE, found both: remove one",
        )),
        (Some(path), None) => Ok(FromEnv::File(path)),
        (None, Some(text)) => match text.into_string() {
            Ok(text) => Ok(FromEnv::Text(Zeroizing::new(text))),
            Err(_) => Err(invalid("SEALWAX_KEYS: expected UTF-8")),
        },
        (None, None) => Err(invalid(
            "SEALWAX_KEYS is not set, nor is SEALWAX_KEYS_FILE: `sealwax keygen`, `npx sealwax keygen` \
             or `python -m sealwax keygen` makes a key",
        )),
    }
}

impl Codec {
    /// Returns a codec with the keys of the environment and the default limits: those of
    /// `SEALWAX_KEYS_FILE`, which it [follows](crate::KeysFile), or else those of `SEALWAX_KEYS`.
    ///
    /// # Errors
    ///
    /// Those of [`KeyRing::from_env`] and [`new`](Self::new).
    pub fn from_env(audience: impl Into<String>) -> Result<Self, Error> {
        CodecBuilder::from_env(audience)?.build()
    }

    /// Returns a codec with the default limits.
    ///
    /// `audience` names the service, best by its public address: tokens of one service never open
    /// at another, even under shared keys. Every replica needs the same one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an audience that is empty or over 1,024 bytes.
    pub fn new(ring: KeyRing, audience: impl Into<String>) -> Result<Self, Error> {
        Self::builder(ring, audience).build()
    }
}

impl CodecBuilder {
    /// Returns a builder of a codec with the keys of the environment, as [`Codec::from_env`] does.
    ///
    /// # Errors
    ///
    /// Those of [`KeyRing::from_env`].
    pub fn from_env(audience: impl Into<String>) -> Result<Self, Error> {
        match from_env()? {
            FromEnv::File(path) => Self::from_file(KeysFile::new(path), audience),
            FromEnv::Text(text) => Ok(Codec::builder(text.parse()?, audience)),
        }
    }

    /// Builds the codec.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an audience that is empty or over 1,024 bytes, or a limit
    /// out of its range.
    pub fn build(self) -> Result<Codec, Error> {
        self.build_in(System)
    }
}
