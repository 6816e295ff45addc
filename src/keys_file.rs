//! A key ring in a file, and its watch: the codec takes the file's keys when they change.

use std::fmt;
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;

use crate::codec::Inner;
use crate::key_source::{FromEnv, from_env};
use crate::{Codec, CodecBuilder, Environment as _, Error, KeyRing, System};

type OnRead = dyn Fn(&Path, &Result<KeyRing, Error>) + Send + Sync;

/// A file of keys, such as a mounted secret, that a codec [follows](CodecBuilder::from_file): a thread reads
/// it again every 5 seconds, until the last clone of the codec is dropped.
///
/// The file has the text of a ring. Replace it in one step (write another file, rename it), as
/// `sealwax keys` does. While it is missing or bad, the codec keeps the keys that it has.
///
/// ```
/// use sealwax::{CodecBuilder, Key, KeysFile};
/// use std::time::Duration;
///
/// # let path = std::env::temp_dir().join(format!("sealwax-{}", std::process::id()));
/// std::fs::write(&path, &*Key::generate()?.to_text().unwrap()).unwrap();
/// let file = KeysFile::new(&path).every(Duration::from_secs(1));
/// let codec = CodecBuilder::from_file(file, "https://mcp.example.com")?.build()?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone)]
pub struct KeysFile {
    path: PathBuf,
    every: Duration,
    on_read: Arc<OnRead>,
}

impl KeysFile {
    /// Returns the file of this path, read again every 5 seconds, with a log on stderr.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            every: Duration::from_secs(5),
            on_read: Arc::new(log),
        }
    }

    /// Sets the time between two reads.
    #[must_use]
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// Calls `on_read` instead of writing a line on stderr: with the ring when the codec takes new keys, or
    /// when the file is good again; with the error when it is bad, once for each error.
    #[must_use]
    pub fn on_read(
        mut self,
        on_read: impl Fn(&Path, &Result<KeyRing, Error>) + Send + Sync + 'static,
    ) -> Self {
        self.on_read = Arc::new(on_read);
        self
    }

    /// Begins the watch of a codec that has the file's keys.
    pub(crate) fn watch(self, codec: &Codec) -> Result<(), Error> {
        let codec = Arc::downgrade(&codec.0);
        thread::Builder::new()
            .name("sealwax-keys".into())
            .spawn(move || self.follow(&codec))
            .map(drop)
            .map_err(|_| Error::argument("keys file: expected a thread to watch it, found none"))
    }

    fn follow(&self, codec: &Weak<Inner>) {
        let mut fault = None;
        loop {
            thread::sleep(self.every);
            let Some(codec) = codec.upgrade().map(Codec) else {
                return;
            };
            let read = KeyRing::read(&self.path);
            let found = read.as_ref().err().map(Error::to_string);
            let is_news = match &read {
                Ok(ring) => codec.set_keys(ring.clone()) || fault.is_some(),
                Err(_) => fault != found,
            };
            if is_news {
                // The watch outlives what its listener does.
                let heard = AssertUnwindSafe(|| (self.on_read)(&self.path, &read));
                let _ = catch_unwind(heard);
            }
            fault = found;
        }
    }
}

impl fmt::Debug for KeysFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeysFile")
            .field("path", &self.path)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}

impl Codec {
    /// Returns a codec with the keys of the environment and the default limits: those of
    /// `SEALWAX_KEYS_FILE`, which it [follows](crate::KeysFile), those of `SEALWAX_KEYS`, or those that are
    /// [derived](KeyRing::derive) from `SEALWAX_SECRET`.
    ///
    /// # Errors
    ///
    /// Those of [`KeyRing::from_env`] and [`new`](Self::new).
    pub fn from_env(audience: impl Into<String>) -> Result<Self, Error> {
        CodecBuilder::from_env(audience)?.build()
    }
}

impl CodecBuilder {
    /// Returns a builder of a codec that follows a file of keys.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if the file cannot be read now, or holds no valid ring; [`Error::InvalidArgument`] for a time
    /// between two reads of 0, or of over a day.
    pub fn from_file(file: KeysFile, audience: impl Into<String>) -> Result<Self, Error> {
        if file.every.is_zero() || file.every > Duration::from_secs(86_400) {
            return Err(Error::argument(
                "keys file: expected a time between two reads of over 0 and at most a day",
            ));
        }
        let builder = Codec::builder(KeyRing::read(&file.path)?, audience);
        Ok(builder.then(move |codec| file.watch(codec)))
    }

    /// Returns a builder of a codec with the keys of the environment, as [`Codec::from_env`] does.
    ///
    /// # Errors
    ///
    /// Those of [`KeyRing::from_env`].
    pub fn from_env(audience: impl Into<String>) -> Result<Self, Error> {
        match from_env()? {
            FromEnv::File(path) => Self::from_file(KeysFile::new(path), audience),
            FromEnv::Ring(ring) => Ok(Codec::builder(ring, audience)),
        }
    }
}

/// Writes a line on stderr, in the form of a guard's.
fn log(path: &Path, read: &Result<KeyRing, Error>) {
    let (level, code, message) = match read {
        Ok(ring) => {
            let ids: Vec<_> = ring.ids().map(|id| id.to_string()).collect();
            let (path, sealing, all) = (path.display(), &ids[0], ids.join(" "));
            let message = format!("keys file {path}: {sealing} seals, {all} open");
            ("INFO", "keys_changed", message)
        }
        Err(error) => {
            let message = format!("{error}; the present keys stay in use");
            ("WARN", error.code(), message)
        }
    };
    let time = i64::try_from(System.now_ms()).unwrap_or_default();
    let time = Timestamp::from_millisecond(time).unwrap_or_default();
    let message = serde_json::to_string(&message).unwrap_or_default();
    // Nobody may read stderr any more: `eprintln!` panics then.
    let line = format!("{time:.3} {level} sealwax: {code} message={message}");
    let _ = writeln!(io::stderr(), "{line}");
}
