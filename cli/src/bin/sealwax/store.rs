//! The stores of ledgers, by the crates `redis` and `rusqlite`.

use std::path::Path;
use std::time::Duration;

use redis::{Client, Connection, RedisError, RedisResult, Value};
use rusqlite::types::ValueRef;
use rusqlite::{OpenFlags, OptionalExtension as _, params_from_iter};
use sealwax_cli::Answer;
use sealwax_mcp::ledger::redis::Answer as StoreAnswer;
use sealwax_mcp::ledger::{Command, Sqlite};

use crate::unanswered;

/// The time limit to connect to a store, and for a command.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What a command is connected to.
#[derive(Default)]
pub struct Stores {
    redis: Option<Connection>,
    file: Option<rusqlite::Connection>,
}

impl Stores {
    pub fn redis(&mut self, url: &str, send: &[String]) -> Answer {
        let connection = match &mut self.redis {
            Some(connection) => connection,
            None => {
                if url.starts_with("rediss:") {
                    // Fails only if a provider is already installed.
                    let _ = rustls::crypto::ring::default_provider().install_default();
                }
                let Ok(client) = Client::open(url) else {
                    return Answer::Invalid;
                };
                match connect(&client) {
                    Ok(connection) => self.redis.insert(connection),
                    Err(error) => return unanswered(&error),
                }
            }
        };
        match redis::cmd(&send[0]).arg(&send[1..]).query(connection) {
            Ok(value) => answered(value).unwrap_or_else(|error| unanswered(&error)),
            Err(error) => match error.code() {
                Some(code) => {
                    let error = format!("{code} {}", error.detail().unwrap_or(""));
                    Answer::Store(StoreAnswer::Error(error))
                }
                None => unanswered(&error),
            },
        }
    }

    pub fn query(&mut self, path: &str, sql: &str, parameters: &[String]) -> Answer {
        if !Path::new(path).exists() {
            return Answer::Absent;
        }
        match self.queried(path, sql, parameters) {
            Ok(row) => Answer::Store(StoreAnswer::Texts(row.into_iter().collect())),
            Err(error) => unanswered(&error),
        }
    }

    fn queried(
        &mut self,
        path: &str,
        sql: &str,
        parameters: &[String],
    ) -> rusqlite::Result<Option<String>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let file = match &self.file {
            Some(file) => file,
            None => self
                .file
                .insert(rusqlite::Connection::open_with_flags(path, flags)?),
        };
        file.query_row(sql, params_from_iter(parameters), |row| {
            Ok(match row.get_ref(0)? {
                ValueRef::Integer(number) => number.to_string(),
                other => other.as_str()?.to_owned(),
            })
        })
        .optional()
    }
}

/// Runs a command on the ledger in a file.
pub fn run(path: &str, command: &Command) -> Answer {
    match Sqlite::open(path).and_then(|ledger| ledger.run(command)) {
        Ok(reply) => Answer::Store(StoreAnswer::Texts(reply)),
        Err(error) => unanswered(&error),
    }
}

fn connect(client: &Client) -> RedisResult<Connection> {
    let connection = client.get_connection_with_timeout(TIMEOUT)?;
    connection.set_read_timeout(Some(TIMEOUT))?;
    connection.set_write_timeout(Some(TIMEOUT))?;
    Ok(connection)
}

fn answered(value: Value) -> Result<Answer, RedisError> {
    Ok(Answer::Store(match value {
        Value::Nil => return Ok(Answer::Absent),
        Value::Int(number) => StoreAnswer::Number(number),
        Value::Array(_) => StoreAnswer::Texts(redis::from_redis_value(value)?),
        _ => StoreAnswer::Text(redis::from_redis_value(value)?),
    }))
}
