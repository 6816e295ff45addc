"""Builds the C library for a target, lays it out, checks it, and packs it: `library.py TRIPLE`."""

import shutil
import subprocess
import sys

import archive
import cargo
import notices
import symbols
import targets


def main(triple: str) -> None:
    target = targets.find(triple)
    link = []
    if target.windows:
        # cargo-zigbuild drops rustc's own list, and without one MinGW's linkers export whatever is global.
        definitions = cargo.BUILD / "release-lists/sealwax.def"
        definitions.parent.mkdir(parents=True, exist_ok=True)
        definitions.write_text(symbols.definitions())
        link = [str(definitions)]
    built = cargo.build(target, "sealwax-c", "--lib", link)

    folder = cargo.BUILD / "release" / triple
    shutil.rmtree(folder, ignore_errors=True)
    install = ["make", "--silent", "-C", str(cargo.ROOT / "bindings/c"), "install-files"]
    subprocess.run(
        [*install, f"TRIPLE={triple}", f"LIBRARIES={built}", f"PREFIX={folder}", "DESTDIR="],
        check=True,
    )
    # Not on Windows: its tool does not read the imports that Rust puts into the archive.
    if not target.windows:
        cargo.strip(folder / "lib/libsealwax.a")
    with (folder / "share/licenses/sealwax/THIRD-PARTY-NOTICES").open("a") as file:
        file.write(notices.runtime(target, static=False))
    symbols.check(folder / target.shared)

    name = f"libsealwax-{cargo.VERSION}-{triple}"
    archive.pack(folder, name, cargo.BUILD / f"dist/{name}{target.archive}")


if __name__ == "__main__":
    main(sys.argv[1])
