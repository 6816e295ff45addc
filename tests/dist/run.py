"""Tries what `make dist` has made, as its users would, and writes the table of docs/platforms.md.

`run.py DIST FOLDER [PART…]`: of the artefacts in DIST, unpacked and installed in FOLDER; only those whose name has a PART.
"""

import os
import pathlib
import re
import shutil
import sys
import time
from collections.abc import Callable

import c_library
import program
import packages
import page
import python_wheel
from systems import ROOT, Target, of, output

from targets import TARGETS  # isort: skip

UV = ROOT / "build/uv/bin/uv"
ZIG = [str(ROOT / "build/venv-dist/bin/python"), "-m", "ziglang", "cc"]
VERSION = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)  # type: ignore[union-attr]
#: What a trial returns: what the file tells, where it ran, what passed.
Trial = Callable[[pathlib.Path], tuple[str, str, str]]


class Run:
    """All trials, one after another."""

    def __init__(self, dist: pathlib.Path, folder: pathlib.Path, parts: list[str]) -> None:
        self.dist, self.folder, self.parts = dist, folder, parts
        self.rows: list[page.Row] = []
        vectors = sorted((ROOT / "tests/vectors").glob("*.json"))
        vectors = [path for path in vectors if path.name not in ("guard.json", "ledger.json")]
        self.vectors = output([sys.executable, ROOT / "bindings/c/tests/vectors.py", *vectors])

    def row(self, artefact: str, pattern: str, trial: Trial) -> None:
        if self.parts and not any(part in artefact for part in self.parts):
            return
        started = time.monotonic()
        files = list(self.dist.glob(pattern))
        if len(files) != 1:
            row = page.Row(artefact, None, result=f"FAILED: expected one file {pattern}", failed=True)
        else:
            try:
                read, where, result = trial(files[0])
                row = page.Row(artefact, files[0], read, where or "nowhere", result)
            except AssertionError as fault:
                print(fault, file=sys.stderr)
                told = str(fault).splitlines()[0]
                row = page.Row(artefact, files[0], result=f"FAILED: {told}", failed=True)
        self.rows.append(row)
        seconds = time.monotonic() - started
        print(f"{artefact}: {row.read}; {row.where}: {row.result} ({seconds:.0f} s)", flush=True)

    def unpacked(self, archive: pathlib.Path) -> pathlib.Path:
        """Unpack an archive, which holds one folder."""
        folder = self.folder / "unpacked" / archive.name
        shutil.unpack_archive(archive, folder)
        (root,) = folder.iterdir()
        return root

    def libraries(self) -> None:
        for target in TARGETS:

            def trial(archive: pathlib.Path, target: Target = target) -> tuple[str, str, str]:
                system = of(target)
                programs = self.folder / "c" / target.triple
                library = c_library.Library(target, self.unpacked(archive), programs, ZIG)
                read, passed = c_library.trial(library, system, self.vectors)
                return read, system.name if system else "", passed

            archive = f"libsealwax-{VERSION}-{target.triple}{target.archive}"
            self.row(f"C library, `{target.triple}`", archive, trial)

    def wheels(self) -> None:
        for target in TARGETS:

            def trial(archive: pathlib.Path, target: Target = target) -> tuple[str, str, str]:
                (library,) = (self.folder / "unpacked").glob(f"libsealwax-*-{target.triple}*/*/{target.shared}")
                folder = self.folder / "wheel" / target.triple
                return python_wheel.trial(target, archive, library, folder, UV, of(target))

            self.row(f"wheel, `{target.wheel}`", f"sealwax-{VERSION}-py3-none-*{target.wheel}*.whl", trial)
        self.row("sdist of Python", f"sealwax-{VERSION}.tar.gz", lambda archive: (
            "—", "natively", packages.sdist(archive, self.folder / "sdist", UV),
        ))

    def commands(self) -> None:
        for target in TARGETS:
            # On Linux one file serves both C libraries.
            if target.triple.endswith("linux-gnu"):
                continue

            def trial(archive: pathlib.Path, target: Target = target) -> tuple[str, str, str]:
                system = of(target)
                read, passed = program.trial(target, self.unpacked(archive), python_wheel.GIVEN, VERSION, system)
                return read, system.name if system else "", passed

            self.row(f"command, `{target.triple}`", f"sealwax-{VERSION}-{target.triple}{target.archive}", trial)

    def others(self) -> None:
        self.row("npm package", f"sealwax-{VERSION}.tgz", lambda archive: (
            "—", f"Node {output(['node', '--version']).strip()}", packages.npm(archive, self.folder / "npm"),
        ))


def main(dist: pathlib.Path, folder: pathlib.Path, parts: list[str]) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run = Run(dist, folder, parts)
    run.libraries()
    run.wheels()
    run.commands()
    run.others()
    if not parts:
        page.write(run.rows)
    print(page.table(run.rows))
    failed = [row.artefact for row in run.rows if row.failed]
    for artefact in failed:
        print(f"FAILED: {artefact}", file=sys.stderr)
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute(), sys.argv[3:]))
