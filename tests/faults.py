"""Makes each fault of faults.toml, of which some test has to fail: one of data in the core, a quick one of its language in a guard.

Usage: python3 tests/faults.py DIR PYTHON [EVERY [GROUP ...]]. DIR is scratch space that may be kept between runs; PYTHON has a Valkey. Of
EVERY faults only the first is made. GROUP is one of those in faults.toml; all are looked for in the sources.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from guards import COMPILES, GUARDS, Guard

ROOT = pathlib.Path(__file__).resolve().parent.parent

#: How many are tried at a time.
SHARES = 2

#: The tests that read data: a crate, a test binary of it, and modules of that.
CODEC = ("sealwax", "codec", ["vectors", "requests", "sealers", "sessions", "keys"])
GUARD = ("sealwax-mcp", "guard", ["exchange", "documents", "machines", "wire"])
LEDGER = ("sealwax-mcp", "guard", ["ledger", "ledger_vectors", "exchange"])
CANONICAL = ("sealwax", "codec", ["canonical"])
KEYS_FILE = ("sealwax", "codec", ["keys_file"])
CLONES = ("sealwax", "codec", ["clones"])
ANSWERS = ("sealwax-mcp", "guard", ["answers"])
#: Files with tests of their own.
OWN = {
    **dict.fromkeys(
        (f"src/format/canonical/{name}.rs" for name in ("mod", "number", "object", "output", "string")), CANONICAL
    ),
    "src/environment.rs": CLONES,
    "src/keys_file.rs": KEYS_FILE,
    "src/system.rs": CLONES,
    "mcp/src/reply/answer.rs": ANSWERS,
    "mcp/src/message/token_fields.rs": ANSWERS,
}


class Fault(NamedTuple):
    """A text of a file, its faulty replacement, and the tests that have to fail; none of a script of the ledger."""

    group: str
    file: str
    right: str
    wrong: str
    tests: tuple[str, str, list[str]] | Guard | None

    def __str__(self) -> str:
        return f"{self.file}: {self.right}  ->  {self.wrong}"


def all_faults() -> list[Fault]:
    groups = tomllib.loads(pathlib.Path(__file__).with_suffix(".toml").read_text())
    tests = {"ledger": LEDGER, "scripts": None, **GUARDS}
    return [
        Fault(group, file, right, wrong, tests.get(group) or (tests_of(file) if group == "core" else None))
        for group, faults in groups.items()
        for file, right, wrong in faults
    ]


def tests_of(file: str) -> tuple[str, str, list[str]]:
    return OWN.get(file) or (GUARD if file.startswith("mcp/") else CODEC)


def tests_fail(copy: pathlib.Path, crate: str, binary: str, modules: list[str]) -> bool:
    names = [f"{module}::" for module in modules]
    command = ["cargo", "test", "--quiet", "--offline", f"--package={crate}", f"--test={binary}", "--", *names]
    # Nobody debugs these, and they are linked hundreds of times.
    environment = {**os.environ, "CARGO_PROFILE_DEV_DEBUG": "0"}
    run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    if run.returncode != 0 and "test result: FAILED" not in run.stdout:
        raise OSError(f"it does not compile:\n{run.stderr[-2000:]}")
    if run.returncode != 0 or binary != "guard":
        return run.returncode != 0
    build = ["cargo", "build", "--quiet", "--offline", f"--package={crate}", "--example=engine-scenario"]
    subprocess.run(build, cwd=copy, env=environment, check=True)
    engine = copy / "target/debug/examples/engine-scenario"
    play = [sys.executable, ROOT / "tests/driver/run.py", "engine", engine]
    return subprocess.run(play, capture_output=True, check=False).returncode != 0


def scripts_fail(copy: pathlib.Path, python: str) -> bool:
    run = subprocess.run([python, copy / "tests/ledger/scripts.py"], capture_output=True, text=True, check=False)
    if run.returncode != 0 and " failed\n" not in run.stdout:
        raise OSError(f"the scripts were not tried:\n{run.stderr[-2000:]}")
    return run.returncode != 0


def is_seen(copy: pathlib.Path, python: str, fault: Fault) -> bool:
    if isinstance(fault.tests, Guard):
        return bool(fault.tests.failure(copy))
    return tests_fail(copy, *fault.tests) if fault.tests else scripts_fail(copy, python)


def prepared(copy: pathlib.Path) -> pathlib.Path:
    """Copy the core to a folder, without the other packages of the workspace."""
    # Tests of an earlier run may have gone; and what it compiled last has a fault, so that all of these are newer.
    shutil.rmtree(copy / "tests", ignore_errors=True)
    for name in ["src", "mcp", "tests"]:
        shutil.copytree(ROOT / name, copy / name, copy_function=shutil.copy, dirs_exist_ok=True)
    shutil.copy(ROOT / "Cargo.lock", copy)
    shutil.copy(ROOT / "README.md", copy)
    manifest = (ROOT / "Cargo.toml").read_text()
    members = manifest[manifest.index("members =") :].split("\n", 1)[0]
    (copy / "Cargo.toml").write_text(manifest.replace(members, 'members = ["mcp"]'))
    return copy


def ready(scratch: pathlib.Path, python: str, group: str) -> pathlib.Path:
    """Return a copy of what the faults of a group are made in, whose tests pass without any."""
    copy = scratch / group
    if group in GUARDS:
        GUARDS[group].prepared(copy)
        failure = GUARDS[group].failure(copy, COMPILES)
    else:
        prepared(copy)
        whole = [(*CODEC[:2], CODEC[2] + CANONICAL[2] + CLONES[2]), (*GUARD[:2], GUARD[2] + LEDGER[2] + ANSWERS[2])]
        fail = any(tests_fail(copy, *tests) for tests in whole) or scripts_fail(copy, python)
        failure = "run them by themselves" if fail else ""
    if failure:
        sys.exit(f"the tests of {group} fail without any fault: {failure}")
    return copy


def unseen(scratch: pathlib.Path, python: str, faults: list[Fault]) -> list[str]:
    """Make each of the faults; return messages about those that no test sees."""
    copies: dict[str, pathlib.Path] = {}
    found = []
    for fault in faults:
        group = fault.group if fault.group in GUARDS else "core"
        if group not in copies:
            copies[group] = ready(scratch, python, group)
        copy = copies[group]
        file = copy / fault.file
        source = (ROOT / fault.file).read_text()
        file.write_text(source.replace(fault.right, fault.wrong))
        try:
            if not is_seen(copy, python, fault):
                found.append(f"no test sees {fault}")
        except OSError as error:
            found.append(f"{fault}: {error}")
        file.write_text(source)
    return found


def main(scratch: pathlib.Path, python: str, every: str = "1", *groups: str) -> None:
    faults = all_faults()
    assert {fault.group for fault in faults}.issuperset(groups), groups
    missed = [f"{it.file} has no longer: {it.right}" for it in faults if it.right not in (ROOT / it.file).read_text()]
    if not missed:
        tried = [fault for fault in faults if not groups or fault.group in groups][:: int(every)]
        # A compiler often works on one core only; but a second folder compiles all dependencies first.
        at_once = SHARES if len(tried) > 50 else 1
        with ThreadPoolExecutor() as threads:
            shares = [
                threads.submit(unseen, scratch / f"faults-{n}", python, tried[n::at_once]) for n in range(at_once)
            ]
            missed = [fault for share in shares for fault in share.result()]
        print(f"{len(tried) - len(missed)} passed, {len(missed)} failed; all {len(faults)} are in the sources")
        if not missed:
            for name, seen in Counter(fault.group for fault in tried).items():
                print(f"figure: {seen} in {name}")
    for fault in missed:
        print(fault)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), *sys.argv[2:])
