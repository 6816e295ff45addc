"""Tries what `make dist` has made, as its users would, and writes the table of docs/platforms.md.

`run.py DIST FOLDER [PART…]`: of the artefacts in DIST, unpacked and installed in FOLDER; only those whose name has a PART.
"""

import pathlib
import re
import shutil
import sys
import time
from collections.abc import Callable

import c_library
import packages
import page
import program
import python_wheel
from systems import ROOT, Target, of, output, root_folder, where

from targets import COMMANDS, TARGETS  # isort: skip

UV = ROOT / "build/uv/bin/uv"
ZIG = [str(ROOT / "build/venv-dist/bin/python"), "-m", "ziglang", "cc"]
VERSION = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)  # type: ignore[union-attr]
#: What a trial returns: what the files say, where it ran, what passed.
Told = tuple[str, str, str]


class Run:
    """All trials, one after another."""

    def __init__(self, dist: pathlib.Path, folder: pathlib.Path, parts: list[str]) -> None:
        self.dist, self.folder, self.parts = dist, folder, parts
        self.rows: list[page.Row] = []
        vectors = [ROOT / "tests/vectors" / name for name in ("more.json", "v1.json")]
        self.vectors = output([sys.executable, ROOT / "bindings/c/tests/vectors.py", *vectors])

    def row(self, artefact: str, pattern: str, trial: Callable[[pathlib.Path], Told]) -> None:
        """Try the one file of the pattern."""
        if self.parts and not any(part in artefact for part in self.parts):
            return
        started, file = time.monotonic(), None
        try:
            file = self.file(pattern)
            row = page.Row(artefact, file, *trial(file))
        except Exception as fault:
            print(fault, file=sys.stderr)
            told = [*str(fault).splitlines(), ""][0]
            row = page.Row(artefact, file, result=f"FAILED: {type(fault).__name__} {told}", failed=True)
        self.rows.append(row)
        seconds = time.monotonic() - started
        print(f"{artefact}: {row.read}; {row.where}: {row.result} ({seconds:.0f} s)", flush=True)

    def file(self, pattern: str) -> pathlib.Path:
        files = list(self.dist.glob(pattern))
        if len(files) != 1:
            raise FileNotFoundError(f"expected one file {pattern}, found {len(files)}")
        return files[0]

    def unpacked(self, pattern: str) -> pathlib.Path:
        """Unpack an archive, which holds one folder."""
        archive = self.file(pattern)
        folder = self.folder / "unpacked" / archive.name
        if not folder.exists():
            shutil.unpack_archive(archive, folder)
        (root,) = folder.iterdir()
        return root

    def library(self, target: Target) -> Told:
        programs = self.folder / "c" / target.triple
        library = c_library.Library(target, self.unpacked(archive("libsealwax", target)), programs, ZIG)
        read, passed = c_library.trial(library, of(target), self.vectors)
        return read, where(target), passed

    def wheel(self, target: Target, wheel: pathlib.Path) -> Told:
        library = self.unpacked(archive("libsealwax", target)) / target.shared
        return python_wheel.trial(target, wheel, library, self.folder / "wheel" / target.triple, UV, of(target))

    def command(self, target: Target) -> Told:
        root = self.unpacked(archive("sealwax", target))
        # The tests of the wheel have installed pytest.
        read, passed = program.trial(target, root, python_wheel.GIVEN, VERSION, of(target))
        return read, where(target), passed

    def sdist(self, sdist: pathlib.Path) -> Told:
        return "—", "natively", packages.sdist(sdist, self.folder / "sdist", UV)

    def npm(self, package: pathlib.Path) -> Told:
        node = output(["node", "--version"]).strip()
        return "—", f"natively, Node {node[1:]}", packages.npm(package, self.folder / "npm")

    def all(self) -> None:
        for target in TARGETS:
            self.row(page.library(target), archive("libsealwax", target), lambda _, target=target: self.library(target))
        for target in TARGETS:
            pattern = f"sealwax-{VERSION}-py3-none-*{target.wheel}*.whl"
            self.row(page.wheel(target), pattern, lambda wheel, target=target: self.wheel(target, wheel))
        self.row(page.SDIST, f"sealwax-{VERSION}.tar.gz", self.sdist)
        for target in COMMANDS:
            self.row(page.command(target), archive("sealwax", target), lambda _, target=target: self.command(target))
        self.row(page.NPM, f"sealwax-{VERSION}.tgz", self.npm)


def archive(name: str, target: Target) -> str:
    return f"{name}-{VERSION}-{target.triple}{target.archive}"


def main(dist: pathlib.Path, folder: pathlib.Path, parts: list[str]) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run = Run(dist, folder, parts)
    with root_folder():
        run.all()
    page.write(run.rows)
    failed = [row.artefact for row in run.rows if row.failed]
    for artefact in failed:
        print(f"FAILED: {artefact}", file=sys.stderr)
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute(), sys.argv[3:]))
