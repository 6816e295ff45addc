"""Write the Go module into the repository that `go get` reads: `go.py FOLDER`.

It has what is committed in bindings/go, the source that `make go` has made of the portable module, and the licences.
A commit there is one of this repository, with its time and its version as the tag. If the tag is there, it stays.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import crate_notices

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCE = ROOT / "bindings/go"
#: What needs this repository: of the tests, all but the examples of the documentation.
OURS = re.compile(r"Makefile|\.gitignore|(?!example)\w+_test\.go")
#: The same files give the same commit, whoever runs this.
NAME = {"NAME": "Sealwax", "EMAIL": "sealwax@users.noreply.github.com"}
GIT = {**os.environ, **{f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in NAME.items()}}


def git(*arguments: str, folder: pathlib.Path, **environment: str) -> str:
    call = subprocess.run(
        ["git", *arguments], cwd=folder, check=True, stdout=subprocess.PIPE, text=True, env={**GIT, **environment}
    )
    return call.stdout.strip()


def files() -> list[pathlib.Path]:
    """Return what the module has: what is committed, and what is generated."""
    names = git("ls-files", folder=SOURCE).splitlines()
    generated = git("ls-files", "--others", "--ignored", "--exclude-standard", folder=SOURCE).splitlines()
    made = [name for name in generated if name.endswith(".go")]
    if not made:
        sys.exit("bindings/go has no generated source: run `make go`")
    paths = [pathlib.Path(name) for name in [*names, *made]]
    return [path for path in paths if not OURS.fullmatch(path.name) and "interoppeer" not in path.parts]


def write(folder: pathlib.Path) -> None:
    for name in files():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCE / name, target)
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        shutil.copyfile(ROOT / name, folder / name)
    notices = crate_notices.notices("sealwax-c", "--target", "wasm32-wasip1")
    (folder / "THIRD-PARTY-NOTICES").write_text(notices)


def release(folder: pathlib.Path) -> None:
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert version
    tag = f"v{version[1]}"
    if not (folder / ".git").exists():
        folder.mkdir(parents=True, exist_ok=True)
        git("init", "--quiet", "--initial-branch=main", folder=folder)
    if git("tag", "--list", tag, folder=folder):
        sys.exit(f"{tag} is there already: a version is never written again")
    commit, date = git("log", "-1", "--format=%H %cI", folder=ROOT).split()
    git("rm", "-r", "--quiet", "--ignore-unmatch", ".", folder=folder)
    write(folder)
    git("add", "--all", "--force", folder=folder)
    message = f"Sealwax {tag}\n\nOf bindings/go in github.com/sealwax/sealwax, commit {commit}."
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    git("commit", "--quiet", "--message", message, folder=folder, **dates)
    git("tag", "--annotate", tag, "--message", f"Sealwax {tag}", folder=folder, **dates)
    print(f"{tag} in {folder}: push its branch and the tag")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    release(pathlib.Path(sys.argv[1]))
