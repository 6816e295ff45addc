//! Keys that are read from a file, and followed when it changes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::{AUDIENCE, secret};
use sealwax::{Codec, CodecBuilder, Error, Key, KeyRing, KeysFile};

/// Longer than any machine takes.
const LONG: Duration = Duration::from_secs(60);

fn key(byte: u8) -> Key {
    Key::from_secret(&secret::<32>(byte)).unwrap()
}

fn ring(keys: &[u8]) -> KeyRing {
    KeyRing::new(keys.iter().copied().map(key)).unwrap()
}

fn text(keys: &[u8]) -> String {
    let text = |byte: &u8| key(*byte).to_text().unwrap().to_string();
    keys.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// A folder of one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sealwax-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn replace(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

fn followed(path: &Path) -> (Codec, Receiver<Result<KeyRing, Error>>) {
    let (send, reads) = channel();
    let file = KeysFile::new(path)
        .every(Duration::from_millis(5))
        .on_read(move |_, read| send.send(read.clone()).unwrap_or_default());
    let codec = CodecBuilder::from_file(file, AUDIENCE).unwrap();
    (codec.build().unwrap(), reads)
}

#[test]
fn a_codec_follows_its_file_and_keeps_its_keys_while_the_file_is_bad() {
    let folder = Folder::new("follows");
    let path = folder.0.join("keys");
    fs::write(&path, text(&[1])).unwrap();
    let (codec, reads) = followed(&path);
    assert_eq!(codec.ring(), ring(&[1]));

    replace(&path, &text(&[1, 2]));
    assert_eq!(reads.recv_timeout(LONG).unwrap().unwrap(), ring(&[1, 2]));
    assert_eq!(codec.ring(), ring(&[1, 2]));

    let half = &text(&[2, 1])[..80];
    for (bad, said) in [
        (Some(half), "key 2 of the ring: expected a key text"),
        (None, "No such file"),
    ] {
        match bad {
            Some(bad) => replace(&path, bad),
            None => fs::remove_file(&path).unwrap(),
        }
        let error = reads.recv_timeout(LONG).unwrap().unwrap_err();
        assert_eq!(error.code(), "invalid_key");
        let message = error.to_string();
        let begins = format!("keys file {}: {said}", path.display());
        assert!(message.starts_with(&begins), "{message}");
        assert!(!message.contains(&half[5..30]), "a key in {message}");
        assert_eq!(codec.ring(), ring(&[1, 2]));
        // It is read again, and said once.
        std::thread::sleep(Duration::from_millis(40));
        assert!(reads.try_recv().is_err());
    }
    replace(&path, &text(&[1, 2]));
    assert_eq!(reads.recv_timeout(LONG).unwrap().unwrap(), ring(&[1, 2]));
    replace(&path, &text(&[2]));
    assert_eq!(reads.recv_timeout(LONG).unwrap().unwrap(), ring(&[2]));
    assert!(reads.try_recv().is_err());

    let clone = codec.clone();
    drop(codec);
    replace(&path, &text(&[2, 3]));
    assert_eq!(reads.recv_timeout(LONG).unwrap().unwrap(), ring(&[2, 3]));
    drop(clone);
    let ended = reads.recv_timeout(LONG).unwrap_err();
    assert_eq!(ended, std::sync::mpsc::RecvTimeoutError::Disconnected);
}

#[test]
#[cfg(unix)]
fn a_mounted_secret_is_followed_through_its_links() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("mounted");
    let at = |name: &str| folder.0.join(name);
    for (name, keys) in [("one", &[1][..]), ("two", &[2, 1])] {
        fs::create_dir(at(name)).unwrap();
        fs::write(at(name).join("keys"), text(keys)).unwrap();
    }
    symlink("one", at("..data")).unwrap();
    symlink("..data/keys", at("keys")).unwrap();
    let (codec, reads) = followed(&at("keys"));
    symlink("two", at("..data_tmp")).unwrap();
    fs::rename(at("..data_tmp"), at("..data")).unwrap();
    assert_eq!(reads.recv_timeout(LONG).unwrap().unwrap(), ring(&[2, 1]));
    drop(codec);
}

#[test]
fn a_bad_file_is_an_error_at_the_start() {
    let missing = KeysFile::new("/nowhere/keys");
    let error = CodecBuilder::from_file(missing, AUDIENCE).unwrap_err();
    assert!(error.to_string().starts_with("keys file /nowhere/keys: "));
    let error = KeyRing::read(std::env::temp_dir()).unwrap_err();
    assert_eq!(error.code(), "invalid_key");
    // Where SEALWAX_KEYS_FILE was taken for SEALWAX_KEYS.
    let error = KeyRing::read(text(&[1])).unwrap_err();
    let expected =
        "keys file: expected a path, found the text of a key: that belongs in SEALWAX_KEYS";
    assert_eq!(error.to_string(), expected);
    let folder = Folder::new("full");
    let path = folder.0.join("keys");
    for (length, is_read) in [(65_536, true), (65_537, false)] {
        fs::write(&path, text(&[1]) + &"#".repeat(length - 53)).unwrap();
        assert_eq!(KeyRing::read(&path).is_ok(), is_read, "{length} bytes");
    }
    for every in [Duration::ZERO, Duration::from_secs(86_401), Duration::MAX] {
        let file = KeysFile::new(&path).every(every);
        let error = CodecBuilder::from_file(file, AUDIENCE).unwrap_err();
        assert_eq!(error.code(), "invalid_argument", "{every:?}");
    }
    fs::write(&path, text(&[1])).unwrap();
    let daily = KeysFile::new(&path).every(Duration::from_secs(86_400));
    assert!(CodecBuilder::from_file(daily, AUDIENCE).is_ok());
}

#[test]
fn what_was_read_of_a_file_is_a_ring_or_an_error_that_names_it() {
    let large = [b'#'; 65_537];
    for (read, said) in [
        (Ok(&b"\xff"[..]), "expected UTF-8"),
        (
            Ok(b"\xef\xbb\xbf"),
            "expected UTF-8 without a byte order mark, found one",
        ),
        (Ok(b""), "expected 1 to 16 keys, found none"),
        (Ok(&large), "expected at most 65,536 bytes, found more"),
        (Err("no such file"), "no such file"),
    ] {
        let error = KeyRing::of_file("/keys", read).unwrap_err().to_string();
        let begins = format!("keys file /keys: {said}");
        assert!(error.starts_with(&begins), "{error}");
    }
    let keys = text(&[1, 2]);
    let read = KeyRing::of_file("/keys", Ok(keys.as_bytes()));
    assert_eq!(read.unwrap(), ring(&[1, 2]));
    let error = KeyRing::of_file(&keys, Err("no such file")).unwrap_err();
    assert!(!error.to_string().contains(&keys[5..20]), "{error}");
}

#[test]
fn a_listener_that_panics_does_not_end_the_watch() {
    let folder = Folder::new("panics");
    let path = folder.0.join("keys");
    fs::write(&path, text(&[1])).unwrap();
    let (send, reads) = channel();
    let file = KeysFile::new(&path)
        .every(Duration::from_millis(5))
        .on_read(move |_, read| {
            send.send(read.is_ok()).unwrap_or_default();
            panic!("of a test");
        });
    let codec = CodecBuilder::from_file(file, AUDIENCE).unwrap().build();
    for keys in [&[1, 2][..], &[2, 1], &[2]] {
        replace(&path, &text(keys));
        assert!(reads.recv_timeout(LONG).unwrap());
    }
    drop(codec);
}

/// What is said on stderr is of a process: this test starts itself again. Nobody reads its second line, and it goes on.
#[test]
fn a_change_is_logged_unless_the_program_takes_it() {
    const FILE: &str = "FOLLOWED_KEYS";
    if let Ok(path) = std::env::var(FILE) {
        let file = KeysFile::new(path.as_str()).every(Duration::from_millis(5));
        let codec = CodecBuilder::from_file(file, AUDIENCE)
            .unwrap()
            .build()
            .unwrap();
        replace(Path::new(&path), &text(&[2, 1]));
        // The test has read the first line, and closed the pipe.
        std::io::stdin().read_line(&mut String::new()).unwrap();
        for keys in [&[2][..], &[3]] {
            replace(Path::new(&path), &text(keys));
            while codec.ring() != ring(keys) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        return;
    }
    let folder = Folder::new("logged");
    let path = folder.0.join("keys");
    fs::write(&path, text(&[1])).unwrap();
    let name = "keys_file::a_change_is_logged_unless_the_program_takes_it";
    let mut test = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", name])
        .env(FILE, &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let stderr = test.stderr.take().unwrap();
    BufReader::new(stderr).read_line(&mut said).unwrap();
    drop(test.stdin.take());
    assert!(test.wait().unwrap().success());
    let (one, two) = (key(1).id(), key(2).id());
    let message = format!("{two} seals, {two} {one} open\"\n");
    assert!(
        said.contains(" INFO sealwax: keys_changed message=\"keys file "),
        "{said}"
    );
    assert!(said.ends_with(&message), "{said}");
}

/// The environment is of a process: this test starts itself again in each.
#[test]
fn the_environment_names_a_file_or_has_the_keys() {
    const EXPECTED: &str = "EXPECTED_KEYS";
    if let Ok(expected) = std::env::var(EXPECTED) {
        let found = match Codec::from_env(AUDIENCE) {
            Ok(codec) => format!("{:?}", codec.ring()),
            Err(error) => error.to_string(),
        };
        assert!(found.starts_with(&expected), "{found}");
        assert_eq!(
            KeyRing::from_env().is_ok(),
            Codec::from_env(AUDIENCE).is_ok()
        );
        return;
    }
    let folder = Folder::new("environment");
    let path = folder.0.join("keys");
    fs::write(&path, text(&[1, 2])).unwrap();
    let file = path.to_str().unwrap();
    let other = text(&[3]);
    for (file, keys, expected) in [
        (file, "", format!("{:?}", ring(&[1, 2]))),
        ("", &other, format!("{:?}", ring(&[3]))),
        (
            "",
            "",
            "SEALWAX_KEYS is not set, nor is SEALWAX_KEYS_FILE".into(),
        ),
        ("/nowhere/keys", "", "keys file /nowhere/keys: ".into()),
    ] {
        let name = "keys_file::the_environment_names_a_file_or_has_the_keys";
        let test = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env("SEALWAX_KEYS_FILE", file)
            .env("SEALWAX_KEYS", keys)
            .env(EXPECTED, &expected)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&test.stdout).into_owned();
        assert!(test.status.success() && said.contains("1 passed"), "{said}");
    }
}
