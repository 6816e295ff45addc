"""Run the suites that the SDKs' packages ship, with every server protected and without, and compare each test.

    run.py FOLDER WHEEL [SUITE...]

FOLDER is where they are downloaded and built, WHEEL the Python package. A SUITE is `mcp`, `fastmcp` or `rmcp`; all of
them unless named. The packages come from PyPI and crates.io. `differ.toml` says which tests must come out otherwise
with a guard, and why. Nothing of npm's package can be run: it ships no tests.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
AT_ONCE = max(2, os.cpu_count() or 2)
#: Many tests have time limits that a busy machine may miss: those that differ are run again, alone.
TRIES = 2

#: The outcome of each test, by its name.
Outcomes = dict[str, str]


def run(*command: str | Path, **how: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(part) for part in command], text=True, **how)  # type: ignore[call-overload]
    if how.get("check") is None and done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout or ''}{done.stderr or ''}")
    return done


def mirror(source: Path, target: Path) -> None:
    """Make one folder like another; files that did not change keep their times, so that cargo builds nothing again."""
    for file in [it for it in source.rglob("*") if it.is_file()]:
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() or copy.read_bytes() != file.read_bytes():
            shutil.copy(file, copy)
    for copy in [it for it in target.rglob("*") if it.is_file()]:
        if not (source / copy.relative_to(target)).exists():
            copy.unlink()


class PythonSuite:
    """The tests in a source package on PyPI."""

    def __init__(self, name: str, folder: Path, wheel: Path) -> None:
        self.name, self._folder = name, folder / name
        self._python = self._folder / "venv/bin/python"
        requirements = HERE / f"{name}.txt"
        version = re.search(rf"^{name}\S*==(\S+)$", requirements.read_text(), re.MULTILINE)[1]
        self._folder.mkdir(parents=True, exist_ok=True)
        pip = [self._python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        if not self._python.exists():
            run(sys.executable, "-m", "venv", self._folder / "venv")
        run(*pip, "install", "--requirement", requirements)
        run(*pip, "install", "--force-reinstall", "--no-deps", wheel)
        self._source = self._folder / f"{name}-{version}"
        if not self._source.exists():
            only = ["--no-deps", "--no-binary", name, "--dest", self._folder]
            run(*pip, "download", *only, f"{name}=={version}", stdout=subprocess.DEVNULL)
            with tarfile.open(f"{self._source}.tar.gz") as package:
                package.extractall(self._folder, filter="data")

    def outcomes(self, count: Path | None) -> Outcomes:
        return self._pytest("all", count, "tests", "-n", str(AT_ONCE))

    def alone(self, tests: list[str], count: Path | None) -> Outcomes:
        """Run each test in a process of its own: one that fails may take others of its module with it."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found: Outcomes = {}
            for part in pool.map(lambda numbered: self._pytest(str(numbered[0]), count, numbered[1]), enumerate(tests)):
                found |= part
        return found

    def _pytest(self, run_name: str, count: Path | None, *which: str) -> Outcomes:
        file = self._folder / f"outcomes-{run_name}.json"
        file.unlink(missing_ok=True)
        # Source lines in tracebacks: Python 3.11.7 fails to parse some.
        options = ["-p", "no:cacheprovider", "--tb=native", "--color=no", "-p", "protected", "--outcomes", file]
        options += OPTIONS[self.name]
        said = run(
            *[self._python, "-m", "pytest", "-q", *options, *which],
            **{"cwd": self._source, "env": environment(count, PYTHONPATH=f"{HERE}:{self._source / 'examples'}")},
            **{"check": False, "capture_output": True, "timeout": 3600},
        )
        if run_name == "all":
            (self._folder / f"log-{'protected' if count else 'bare'}.txt").write_text(said.stdout + said.stderr)
        if not file.exists():
            sys.exit(f"{self.name}: pytest did not finish\n{said.stdout[-4000:]}{said.stderr[-4000:]}")
        return json.loads(file.read_text())


class RustSuite:
    """The tests in the crate of rmcp, with the guard compiled into a copy of it."""

    name = "rmcp"

    def __init__(self, folder: Path) -> None:
        told = run("cargo", "metadata", "--format-version=1", cwd=ROOT, stdout=subprocess.PIPE).stdout
        (package,) = (it for it in json.loads(told)["packages"] if it["name"] == "rmcp")
        self._source = folder / f"rmcp-{package['version']}"
        with tempfile.TemporaryDirectory() as made:
            shutil.copytree(Path(package["manifest_path"]).parent, made, dirs_exist_ok=True)
            self._put_guard_in(Path(made))
            mirror(Path(made), self._source)
        self._build(folder / "rmcp-target", [it for it in package["features"] if it not in ("local", "default")])

    def _put_guard_in(self, source: Path) -> None:
        """Make our crate a module of theirs: there alone can their handlers be wrapped where they are served."""
        module = source / "src/sealwax_rmcp"
        shutil.copytree(ROOT / "adapters/rmcp/src", module)
        (module / "lib.rs").rename(module / "mod.rs")
        for file in module.rglob("*.rs"):
            text = file.read_text().replace('#![doc = include_str!("../README.md")]\n', "")
            file.write_text(re.sub(r"(?<!\$)\bcrate::", "crate::sealwax_rmcp::", text))
        with (source / "src/lib.rs").open("a") as crate:
            crate.write("\nextern crate self as rmcp;\n#[allow(warnings)]\nmod sealwax_rmcp;\n")
        handler = source / "src/handler/server.rs"
        theirs, service = handler.read_text(), "impl<H: ServerHandler> Service<RoleServer> for H {"
        if theirs.count(service) != 1:
            sys.exit(f"rmcp: expected one `{service}`, found {theirs.count(service)}")
        ours = (HERE / "protected.rs").read_text()
        handler.write_text(theirs.replace(service, "impl<H: ServerHandler> Dispatch for H {") + ours)
        manifest = source / "Cargo.toml"
        known = tomllib.loads(manifest.read_text())["dependencies"].keys() | {"rmcp"}
        needed = tomllib.loads((ROOT / "adapters/rmcp/Cargo.toml").read_text())["dependencies"]
        shared = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["dependencies"]
        lines = ["\n[workspace]"]
        for name, about in needed.items():
            if name not in known:
                about = {"version": about} if isinstance(about, str) else about
                if "workspace" in about:
                    about = {"path": str(ROOT / shared[name]["path"])}
                lines += [f"[dependencies.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in about.items())]
        with manifest.open("a") as file:
            file.write("\n".join(lines) + "\n")

    def _build(self, target: Path, features: list[str]) -> None:
        env = {**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_PROFILE_DEV_DEBUG": "0"}
        command = ["cargo", "test", "--quiet", "--no-run", "--lib", "--tests", "--message-format=json"]
        built = run(*command, "--features", ",".join(features), cwd=self._source, env=env, capture_output=True)
        messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
        self._programs = {it["target"]["name"]: it["executable"] for it in messages if it.get("executable")}

    def outcomes(self, count: Path | None) -> Outcomes:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found: Outcomes = {}
            for part in pool.map(lambda name: self._program(name, count), self._programs):
                found |= part
        return found

    def alone(self, tests: list[str], count: Path | None) -> Outcomes:
        found: Outcomes = {}
        for test in tests:
            program, name = test.split("::", 1)
            found |= self._program(program, count, "--exact", name)
        return found

    def _program(self, name: str, count: Path | None, *which: str) -> Outcomes:
        env = environment(count, CARGO_MANIFEST_DIR=str(self._source))
        options = {"cwd": self._source, "env": env, "check": False, "capture_output": True, "timeout": 900}
        said = run(self._programs[name], *which, **options).stdout
        tests = re.findall(r"^test (\S+).* \.\.\. .*?(ok|FAILED|ignored)", said, re.MULTILINE)
        known = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}
        return {f"{name}::{test}": known[found] for test, found in tests}


def environment(count: Path | None, **more: str) -> dict[str, str]:
    """Return the environment of tests whose servers are protected, and counted in a file, or not."""
    return {**os.environ, **more, **({"SEALWAX_PROTECT": str(count)} if count else {})}


def plain(name: str) -> str:
    """Return the name of a test without its parameters."""
    return re.sub(r"\[.*\]$", "", name, flags=re.DOTALL)


def compare(suite: PythonSuite | RustSuite, exceptions: list[dict]) -> list[str]:
    """Run a suite twice; return the violations."""
    expected = {test for it in exceptions if it["suite"] == suite.name for test in it["tests"]}
    with tempfile.TemporaryDirectory() as folder:
        count = Path(folder) / "servers"
        bare, protected = suite.outcomes(None), suite.outcomes(count)
        servers = sum(map(int, count.read_text().split()))
        for _ in range(TRIES):
            if again := [name for name in differing(bare, protected) if plain(name) not in expected]:
                bare |= suite.alone(again, None)
                protected |= suite.alone(again, count)
    found = differing(bare, protected)
    wrong = [
        f"{suite.name}: {name} is {bare.get(name, 'absent')} without a guard, {protected.get(name, 'absent')} with it"
        for name in found
        if plain(name) not in expected
    ]
    stale = expected - set(map(plain, found))
    wrong += [f"{suite.name}: differ.toml has {name}, which does not differ" for name in sorted(stale)]
    both = sorted(name for name in bare if bare[name] == protected.get(name) and bare[name] in ("failed", "error"))
    if servers == 0:
        wrong.append(f"{suite.name}: no server was protected")
    print(
        f"{suite.name}: {len(bare)} tests, {dict(Counter(bare.values()))}; {len(found) - len(wrong)} differ, as they must"
    )
    print(*(f"  fails with a guard and without: {name}" for name in both), sep="\n", end="\n" if both else "")
    print(*wrong, sep="\n", end="\n" if wrong else "", flush=True)
    return wrong


def differing(bare: Outcomes, protected: Outcomes) -> list[str]:
    return [name for name in sorted(bare | protected) if bare.get(name) != protected.get(name)]


#: Tests of the packages' own repositories, and of parts that are no server, are left out.
OPTIONS = {
    "mcp": ["--ignore=tests/docs"],
    "fastmcp": [
        # The suite's own limit is five seconds.
        "--timeout=60",
        *("--ignore=tests/cli", "--ignore=tests/conformance", "--ignore=tests/downstream", "--ignore=tests/fs"),
        *("--ignore=tests/scripts", "--ignore=tests/server/auth", "--ignore=tests/test_issue_ranking.py"),
        *("--ignore=tests/test_maintenance_status.py", "--ignore=tests/utilities"),
    ],
}


def main(folder: str, wheel: str, *names: str) -> int:
    exceptions = tomllib.loads((HERE / "differ.toml").read_text())["differ"]
    wrong = []
    where = Path(folder).resolve()
    for name in names or [*OPTIONS, RustSuite.name]:
        suite = RustSuite(where) if name == RustSuite.name else PythonSuite(name, where, Path(wheel).resolve())
        wrong += compare(suite, exceptions)
    print(f"{len(names) or 3} suites: {len(wrong)} differences that are not expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
