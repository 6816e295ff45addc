"""Packs a folder into an archive that depends on nothing but the files in it, and on the time of the commit."""

import gzip
import os
import pathlib
import stat
import tarfile
import time
import zipfile

#: Seconds since 1970: the Makefile has them from the commit.
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))


def pack(folder: pathlib.Path, name: str, archive: pathlib.Path) -> None:
    """Pack the folder, called `name` in the archive: of the kind that the archive's name says."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    found = sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    files = {f"{name}/{file.relative_to(folder).as_posix()}": file for file in found}
    pack_zip(files, archive) if archive.suffix == ".zip" else pack_tar(files, archive)


def pack_zip(files: dict[str, pathlib.Path], archive: pathlib.Path) -> None:
    with zipfile.ZipFile(archive, "w") as packed:
        for name, file in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(EPOCH)[:6])
            entry.create_system = 3
            entry.external_attr = (stat.S_IFREG | mode(file)) << 16
            packed.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)


def pack_tar(files: dict[str, pathlib.Path], archive: pathlib.Path) -> None:
    with (
        archive.open("wb") as out,
        gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=EPOCH) as compressed,
        tarfile.open(mode="w", fileobj=compressed, format=tarfile.GNU_FORMAT) as packed,
    ):
        for name, file in files.items():
            entry = packed.gettarinfo(file, name)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime, entry.mode = EPOCH, mode(file)
            with file.open("rb") as content:
                packed.addfile(entry, content if entry.isreg() else None)


def mode(file: pathlib.Path) -> int:
    """Return the rights that everybody has, whatever the umask is here."""
    return 0o755 if file.stat().st_mode & stat.S_IXUSR else 0o644
