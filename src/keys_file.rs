//! A key ring in a file, and its watch: the codec takes the file's keys when they change.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use zeroize::Zeroizing;

use crate::{Environment as _, Error, KeyRing, System};

/// A file is larger than 16 keys and what may be said of them, or it is no file of keys.
const MAX_LEN: usize = 1 << 16;

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
    pub(crate) path: PathBuf,
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

    /// Begins the watch for a codec that has the file's keys: until it is dropped, `take` gives it other
    /// ones, and returns whether they are.
    pub(crate) fn watch<T: Send + Sync + 'static>(
        self,
        codec: Weak<T>,
        take: fn(&T, KeyRing) -> bool,
    ) -> Result<(), Error> {
        thread::Builder::new()
            .name("sealwax-keys".into())
            .spawn(move || self.follow(&codec, take))
            .map(drop)
            .map_err(|_| Error::argument("keys file: expected a thread to watch it, found none"))
    }

    fn follow<T>(&self, codec: &Weak<T>, take: fn(&T, KeyRing) -> bool) {
        let mut fault = None;
        loop {
            thread::sleep(self.every);
            let Some(codec) = codec.upgrade() else {
                return;
            };
            let read = KeyRing::read(&self.path);
            let found = read.as_ref().err().map(Error::to_string);
            let is_news = match &read {
                Ok(ring) => take(&codec, ring.clone()) || fault.is_some(),
                Err(_) => fault != found,
            };
            if is_news {
                (self.on_read)(&self.path, &read);
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

impl KeyRing {
    /// Reads the ring in a file.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if the file cannot be read, or holds no valid ring.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let invalid = |why: &dyn fmt::Display| {
            let path = path.display();
            Error::InvalidKey(format!("keys file {path}: {why}").into())
        };
        let file = File::open(path).map_err(|error| invalid(&error))?;
        // Allocated in full: growing would leave an unwiped copy behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_LEN + 1));
        file.take(MAX_LEN as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| invalid(&error))?;
        if bytes.len() > MAX_LEN {
            return Err(invalid(&"expected at most 65,536 bytes, found more"));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| invalid(&"expected UTF-8"))?;
        text.parse().map_err(|error: Error| invalid(&error))
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
    eprintln!("{time:.3} {level} sealwax: {code} message={message}");
}
