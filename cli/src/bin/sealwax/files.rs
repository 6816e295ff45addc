//! Reads files, and replaces them.

use std::io::{self, Write as _};
use std::path::Path;
use std::{env, fs};

use sealwax_cli::Answer;
use tempfile::NamedTempFile;
use zeroize::Zeroizing;

use crate::unanswered;

pub fn read(path: &str, replaced: bool) -> Answer {
    if replaced && fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Answer::Link;
    }
    match fs::read(path) {
        Ok(bytes) => Answer::Bytes(Zeroizing::new(bytes)),
        Err(error) if replaced && error.kind() == io::ErrorKind::NotFound => Answer::Absent,
        Err(error) => unanswered(&error),
    }
}

/// Replaces a file in one step, so that whoever reads it has the old one or the new one. It keeps its mode and
/// its owner; a new one is its owner's alone.
pub fn replace(path: &str, text: &str) -> io::Result<()> {
    let path = env::current_dir()?.join(path);
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut beside = NamedTempFile::new_in(folder)?;
    beside.write_all(text.as_bytes())?;
    if let Ok(found) = fs::metadata(&path) {
        keep_owner(beside.as_file(), &found)?;
        beside.as_file().set_permissions(found.permissions())?;
    }
    beside.as_file().sync_all()?;
    beside.persist(&path)?;
    // The new name, too, survives a loss of power.
    #[cfg(unix)]
    fs::File::open(folder)?.sync_all()?;
    Ok(())
}

/// Where another user owns the file, such as that of the server, it stays theirs.
#[cfg(unix)]
fn keep_owner(file: &fs::File, found: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};

    let own = file.metadata()?;
    match (own.uid(), own.gid()) == (found.uid(), found.gid()) {
        true => Ok(()),
        false => fchown(file, Some(found.uid()), Some(found.gid())),
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &fs::File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}
