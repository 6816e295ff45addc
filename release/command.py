"""Builds the command for a target, lays it out, and packs it: `command.py TRIPLE`."""

import shutil
import sys

import archive
import cargo
import crate_notices
import notices
import targets

#: The pages and completions, as pages.py has written them.
PAGES = cargo.BUILD / "release-pages"


def main(triple: str) -> None:
    target = targets.find(triple)
    built = cargo.build(target, "sealwax-cli", "--bin=sealwax", [])

    folder = cargo.BUILD / "release-command" / triple
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PAGES, folder)
    for file in (built / target.command, *cargo.ROOT.glob("LICENSE-*"), cargo.ROOT / "cli/README.md"):
        shutil.copy(file, folder)
    crates = crate_notices.notices("sealwax-cli", "--target", triple)
    (folder / "THIRD-PARTY-NOTICES").write_text(crates + notices.runtime(target, static=True))

    name = f"sealwax-{cargo.VERSION}-{triple}"
    archive.pack(folder, name, cargo.BUILD / f"dist/{name}{target.archive}")


if __name__ == "__main__":
    main(sys.argv[1])
