"""The version, which stands in the root's `Cargo.toml`: `version.py 0.2.0` sets it, `version.py --check` checks.

Cargo, npm and Maven want it spelled again: where crates name each other, in `package.json`, in `pom.xml`, and in lock files.
"""

import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[1]
MANIFEST = ROOT / "Cargo.toml"
#: Workspaces, each with a lock file that has our crates.
WORKSPACES = (".", "tests/fuzz", "benches/rust")
#: Of what all registries spell alike: no pre-releases.
VERSION = r"\d+\.\d+\.\d+"
#: In the manifest: the version itself, and the crates that others depend on.
SPELLED = re.compile(rf'^((?:sealwax.* )?version = ")({VERSION})(?=")', re.MULTILINE)
#: In each of Maven's files, and in documents that name an artifact.
POM = re.compile(rf"(<artifactId>sealwax[\w-]*</artifactId>\s*<version>)({VERSION})(?=</version>)")
LOCKED = re.compile(r'^name = "(sealwax[^"]*|xtask)"\nversion = "([^"]+)"\ndependencies', re.MULTILINE)


def spelled() -> Iterator[tuple[str, str]]:
    """Yield each place and the version there: the one that all others follow comes first."""
    for name, version in SPELLED.findall(MANIFEST.read_text()):
        yield f"Cargo.toml, {name.split()[0]}", version
    for workspace in WORKSPACES:
        lock = f"{workspace}/Cargo.lock"
        for name, version in LOCKED.findall((ROOT / lock).read_text()):
            if version != "0.0.0":
                yield f"{lock}, {name}", version
    package, lock = (json.loads((ROOT / f"pkg/{name}.json").read_text()) for name in ("package", "package-lock"))
    for file in poms():
        for _, version in POM.findall(file.read_text()):
            yield str(file.relative_to(ROOT)), version
    yield "pkg/package.json", package["version"]
    yield "pkg/package-lock.json", lock["version"]
    yield "pkg/package-lock.json, packages", lock["packages"][""]["version"]


def poms() -> list[pathlib.Path]:
    """Return the files that name our artifacts of Maven."""
    call = ["git", "grep", "-l", "-E", "<artifactId>sealwax", "--", "*pom.xml", "*.md"]
    found = subprocess.run(call, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [ROOT / name for name in found.splitlines()]


def check() -> None:
    places = list(spelled())
    _, version = places[0]
    different = [f"{place}: {other}" for place, other in places if other != version]
    if different:
        sys.exit("\n".join([f"the version is {version}; `make version VERSION={version}` mends", *different]))
    print(f"{version} in {len(places)} places: 1 passed, 0 failed")


def write(version: str) -> None:
    if not re.fullmatch(VERSION, version):
        sys.exit(f"expected a version such as 0.2.0, found {version}")
    MANIFEST.write_text(SPELLED.sub(rf"\g<1>{version}", MANIFEST.read_text()))
    for file in poms():
        file.write_text(POM.sub(rf"\g<1>{version}", file.read_text()))
    for workspace in WORKSPACES:
        # Nothing else in the lock file changes.
        subprocess.run(["cargo", "update", "--quiet", "--workspace"], cwd=ROOT / workspace, check=True)
    npm = ["npm", "version", "--silent", "--no-git-tag-version", "--allow-same-version", "--ignore-scripts", version]
    subprocess.run(npm, cwd=ROOT / "pkg", check=True)
    check()


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments == ["--check"]:
        check()
    elif len(arguments) == 1:
        write(arguments[0])
    else:
        sys.exit(__doc__)
