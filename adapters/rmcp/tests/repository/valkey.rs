//! A Valkey server for a test, which ends with the test.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use redis::{Client, RedisResult};
use tempfile::TempDir;

pub struct Valkey {
    child: Child,
    pub port: u16,
    _folder: TempDir,
}

impl Valkey {
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// Starts one with more settings, as on its command line.
    pub fn with(settings: &[&str]) -> Self {
        let binary = std::env::var_os("VALKEY_SERVER");
        let binary = binary.expect("the path of a valkey-server, which `make test-rust` sets");
        let folder = TempDir::new().unwrap();
        // Another process may take a port that was free a moment ago.
        for _ in 0..20 {
            // A node of a cluster needs a port 10,000 above, too.
            let port = 10_000 + (RandomState::new().build_hasher().finish() % 22_000) as u16;
            if TcpListener::bind(("127.0.0.1", port)).is_err() {
                continue;
            }
            let port_text = port.to_string();
            let ours = [
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--port",
                &port_text,
                "--dir",
            ];
            let mut command = Command::new(&binary);
            let command = command.args(ours).arg(folder.path()).args(settings);
            let mut child = command.stdout(Stdio::null()).spawn().unwrap();
            while child.try_wait().unwrap().is_none() {
                if answers(port).is_ok() {
                    return Self {
                        child,
                        port,
                        _folder: folder,
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
        let client = Client::open(self.url()).unwrap();
        let mut asked = redis::Cmd::new();
        asked.arg(command.split(' ').collect::<Vec<_>>());
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
    }
}

/// A node of a cluster that finds its second port taken listens, and then ends.
fn answers(port: u16) -> RedisResult<()> {
    let client = Client::open(format!("redis://127.0.0.1:{port}/"))?;
    let mut connection = client.get_connection_with_timeout(Duration::from_secs(20))?;
    match redis::cmd("PING").exec(&mut connection) {
        // Of one that wants a password.
        Err(refused) if refused.code() == Some("NOAUTH") => Ok(()),
        answer => answer,
    }
}
