//! A Valkey server for a test, which ends with the test.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The path of `valkey-server`; `make test-rust` sets it.
const BINARY: &str = "VALKEY_SERVER";

pub struct Valkey {
    child: Child,
    pub port: u16,
    folder: PathBuf,
}

impl Valkey {
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// Starts one with more settings, as on its command line.
    pub fn with(settings: &[&str]) -> Self {
        let folder = folder("valkey");
        // Another process may take a port that was free a moment ago.
        for _ in 0..20 {
            // Below those that the system gives to clients, so that it stays free while the server is down.
            let port = 10_000 + (RandomState::new().build_hasher().finish() % 22_000) as u16;
            if TcpListener::bind(("127.0.0.1", port)).is_err() {
                continue;
            }
            let mut child = spawn(port, &folder, settings);
            while child.try_wait().unwrap().is_none() {
                if answers(port) {
                    return Self {
                        child,
                        port,
                        folder,
                    };
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        panic!("expected a Valkey to start");
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Runs a command, as an operator types it.
    pub fn ask<T: redis::FromRedisValue>(&self, command: &str) -> T {
        let client = redis::Client::open(self.url()).unwrap();
        let mut words = command.split(' ');
        let mut asked = redis::cmd(words.next().unwrap());
        words.for_each(|word| {
            asked.arg(word);
        });
        asked.query(&mut client.get_connection().unwrap()).unwrap()
    }

    /// Sends the signal `STOP` or `CONT`.
    pub fn signal(&self, name: &str) {
        let args = [format!("-{name}"), self.child.id().to_string()];
        assert!(Command::new("kill").args(args).status().unwrap().success());
    }
}

impl Drop for Valkey {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn spawn(port: u16, folder: &Path, settings: &[&str]) -> Child {
    let binary = std::env::var_os(BINARY).unwrap_or_else(|| {
        panic!("{BINARY}: expected the path of a valkey-server: run `make test-rust`")
    });
    let port = port.to_string();
    let mut command = Command::new(binary);
    command.args([
        "--port",
        &port,
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--dir",
    ]);
    let command = command.arg(folder).args(settings).stdout(Stdio::null());
    command.spawn().unwrap()
}

/// Returns whether it answers. A node of a cluster that finds its second port taken listens, and then ends.
fn answers(port: u16) -> bool {
    let ask = || -> std::io::Result<usize> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        stream.write_all(b"PING\r\n")?;
        stream.read(&mut [0; 8])
    };
    ask().is_ok_and(|read| read > 0)
}

/// Creates a new folder.
pub fn folder(name: &str) -> PathBuf {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let own = LAST.fetch_add(1, Ordering::Relaxed);
    let folder = format!("sealwax-{name}-{}-{own}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
