"""Unpacks Debian packages, with all that they depend on, into a folder: `debian.py ARCHITECTURE FOLDER PACKAGE…`.

Nothing is installed and no script of a package runs, so it takes no root, and packages of any architecture lie beside
those of the system. It takes a Debian or Ubuntu system's `apt-get` and `dpkg-deb`, and the system's own mirror.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

#: The keyring, and the suite with its components, of each system.
SOURCES = {
    # The first with riscv64 and with a Wine that has `bcryptprimitives.dll`.
    "Debian": ("debian-archive-keyring.gpg", "trixie main"),
    # Its mirrors have no architecture but 64-bit and 32-bit x86.
    "Ubuntu": ("ubuntu-archive-keyring.gpg", "noble main universe"),
}
#: Links of a merged /usr, which `base-files` has on a real system.
MERGED = ("bin", "lib", "lib64", "sbin")


def unpack(architecture: str, folder: pathlib.Path, packages: list[str]) -> None:
    """Unpack the packages into the folder, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in MERGED:
        (folder / "usr" / name).mkdir(parents=True)
        (folder / name).symlink_to(f"usr/{name}")
    with tempfile.TemporaryDirectory() as state:
        for archive in downloaded(architecture, pathlib.Path(state), packages):
            # dpkg-deb would replace the links; tar keeps a link to a folder.
            files = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE)
            subprocess.run(
                ["tar", "--extract", "--keep-directory-symlink", "--no-same-owner", "--directory", folder],
                stdin=files.stdout,
                check=True,
            )
            if files.wait() != 0:
                sys.exit(f"cannot read {archive}")


def downloaded(architecture: str, state: pathlib.Path, packages: list[str]) -> list[pathlib.Path]:
    """Download the packages and what they depend on, as onto an empty system."""
    for name in ("lists/partial", "cache/archives/partial"):
        (state / name).mkdir(parents=True)
    (state / "status").touch()
    (state / "sources.list").write_text(source())
    settings = {
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
        "Debug::NoLocking": "true",
        "Dir::Cache": state / "cache",
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "Dir::Etc::SourceList": state / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State": state,
        "Dir::State::lists": state / "lists",
        "Dir::State::status": state / "status",
    }
    apt = ["apt-get", "-qq", *(f"--option={name}={value}" for name, value in settings.items())]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run(
        [*apt, "--assume-yes", "--download-only", "install", *packages],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return sorted((state / "cache/archives").glob("*.deb"))


def source() -> str:
    """Return a line for apt, with the address that this system has its packages from."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)", "Created-By: Packages"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for line in sorted(listed.splitlines()):
        origin, address = line.split(" ", 1)
        if origin in SOURCES and "security" not in address:
            keyring, suite = SOURCES[origin]
            return f"deb [signed-by=/usr/share/keyrings/{keyring}] {address} {suite}\n"
    sys.exit("expected a Debian or Ubuntu system, whose apt-get has run `update` once")


if __name__ == "__main__":
    unpack(sys.argv[1], pathlib.Path(sys.argv[2]).absolute(), sys.argv[3:])
