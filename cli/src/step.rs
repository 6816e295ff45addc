//! What a run is given, what it asks for, and what comes of it.

use std::collections::BTreeMap;
use std::fmt;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use sealwax_mcp::ledger::{Command, redis};
use serde::{Serialize, Serializer};
use zeroize::Zeroizing;

/// What a user asked for.
#[derive(Clone, Default)]
pub struct Request {
    /// How the user calls the program, such as `npx sealwax`: for advice.
    pub program: String,
    /// The words of the command, such as `ledger end`.
    pub command: String,
    /// Options and arguments by the names of `commands.json`, with its defaults; a flag has any text.
    pub options: BTreeMap<String, String>,
    /// `SEALWAX_KEYS`, `SEALWAX_KEYS_FILE`, `SEALWAX_SECRET`, `SEALWAX_SECRET_FALLBACKS` and `SEALWAX_LEDGER`, where they are set.
    pub environment: BTreeMap<String, String>,
    /// The clock's time, in Unix milliseconds.
    pub now_ms: u64,
}

/// What a program does next.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Step {
    /// Find this out.
    Ask(Ask),
    /// Write, wait, and print to stdout, in this order.
    Done(Done),
    /// Print to stderr, and exit with this status.
    Failed {
        /// 1 for a refusal, 2 for any other failure.
        status: u8,
        /// Without a line ending at the end.
        stderr: String,
    },
}

/// A question to the outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Ask {
    /// All of stdin, up to 4 MiB: [`Answer::Bytes`].
    Stdin {
        /// What to type, on a terminal.
        stdin: &'static str,
    },
    /// What a file holds: [`Answer::Bytes`], or [`Answer::Absent`].
    File {
        /// Its path.
        file: String,
        /// Whether it will be replaced: a symbolic link is [`Answer::Link`] then.
        replaced: bool,
    },
    /// The answer of a Redis or a Valkey to a command: [`Answer::Store`], or [`Answer::Absent`] for nil. All go over one
    /// connection, each within 5 seconds.
    Redis {
        /// `redis://`, `rediss://` or `unix://`; if it is none that the client can read, [`Answer::Invalid`].
        redis: String,
        /// The command.
        send: Vec<String>,
    },
    /// The first value of a query to a file of SQLite: [`Answer::Store`] with one text, or with none if there is no row.
    Query {
        /// The path of the file, which is only read; if there is none, [`Answer::Absent`].
        sqlite: String,
        /// The statement.
        query: String,
        /// Its parameters.
        parameters: Vec<String>,
    },
    /// The reply of the ledger in a file of SQLite, which is made if it is missing: [`Answer::Store`] with texts.
    Run {
        /// The path of the file.
        sqlite: String,
        /// The command.
        run: Command,
    },
}

/// The answer to an [`Ask`].
#[derive(Clone)]
pub enum Answer {
    /// What was read.
    Bytes(Zeroizing<Vec<u8>>),
    /// What a store answered.
    Store(redis::Answer),
    /// There is none.
    Absent,
    /// The file is a symbolic link.
    Link,
    /// The URL is none of a store.
    Invalid,
    /// It could not be found out.
    Failed {
        /// Why, in words without a credential.
        why: String,
        /// What to do, if the program knows it.
        tip: Option<String>,
    },
}

/// A command that succeeded.
#[derive(Default, Serialize)]
pub struct Done {
    /// A file to replace, or to make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Write>,
    /// The seconds to wait.
    pub wait: u64,
    /// The output; in base64 in documents.
    #[serde(serialize_with = "base64")]
    pub stdout: Zeroizing<Vec<u8>>,
}

/// A file to replace in one step: by a file beside it that is renamed. It keeps its mode
/// and its owner; a new one is its owner's alone.
#[derive(Serialize)]
pub struct Write {
    /// Its path.
    pub path: String,
    /// What it holds.
    #[serde(serialize_with = "text")]
    pub text: Zeroizing<String>,
}

/// These hold keys and payloads, and show nothing of them.
macro_rules! opaque {
    ($($name:ident)*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

opaque! { Request Answer Done Write }

impl Done {
    /// Prints a line.
    pub(crate) fn line(text: impl fmt::Display) -> Self {
        Self {
            stdout: Zeroizing::new(format!("{text}\n").into_bytes()),
            ..Self::default()
        }
    }
}

fn base64<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&BASE64_STANDARD.encode(bytes))
}

fn text<S: Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(text)
}
