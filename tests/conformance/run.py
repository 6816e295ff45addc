"""Run every server scenario of the official conformance suite against servers with the guard and without.

    run.py NODE SUITE NAME=COMMAND...

NODE is 22 or later, SUITE the folder where the package is installed. Each COMMAND takes `--bare`, for a server without
the guard, and `--stateless`, for one that leaves the sessions of older revisions to the guard. The checks of each
scenario must come out alike, but for those that `differ.toml` names.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples/demo"))

from servers import Server

EXCEPTIONS = Path(__file__).with_name("differ.toml")
#: The number in 0.2.0-alpha.12, so that scenarios that a later suite drops are noticed.
SCENARIOS = 65
REVISIONS = ["2025-11-25", "2026-07-28"]
EXTENSIONS = "extensions"
MODES = {"stateful": [], "stateless": ["--stateless"]}
#: They mostly wait.
AT_ONCE = 8
#: Some checks wait for half a second, which a busy machine may miss: those that differ are run again, alone.
TRIES = 2

#: The outcomes of a scenario's checks: by their ids, each as often as it was made.
Outcome = dict[str, list[str]]


class Suite:
    """The conformance suite, as it is installed."""

    def __init__(self, node: str, folder: str) -> None:
        self._command = [node, f"{folder}/node_modules/.bin/conformance"]
        listed = self._run("list", "--server").stdout
        self.versions = {name: versions for name, versions in re.findall(r"- (\S+) \[(.*)\]", listed)}
        self.extensions = {name for name, versions in self.versions.items() if versions == "extension"}

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self._command, *arguments], capture_output=True, text=True, timeout=300)

    def run(self, url: str, leg: str, scenario: str | None = None) -> dict[str, Outcome]:
        """Run one scenario, or all that a revision has."""
        arguments = ["--scenario", scenario] if scenario else ["--suite", "all"]
        if leg != EXTENSIONS:
            arguments += ["--spec-version", leg]
        with tempfile.TemporaryDirectory() as folder:
            said = self._run("server", "--url", url, "--output-dir", folder, *arguments)
            outcomes = {}
            for file in sorted(Path(folder).glob("server-*/checks.json")):
                name = re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT.*$", r"\1", file.parent.name)
                outcomes[name] = outcome(json.loads(file.read_text()))
        if not outcomes:
            raise RuntimeError(f"the suite ran nothing against {url}:\n{said.stdout}{said.stderr}")
        only = self.extensions if leg == EXTENSIONS else set(outcomes) - self.extensions
        return {name: outcomes[name] for name in sorted(only & set(outcomes))}


def outcome(checks: list[dict[str, str]]) -> Outcome:
    found: Outcome = {}
    for check in checks:
        if check["status"] != "INFO":
            found.setdefault(check["id"], []).append(check["status"])
    return {name: sorted(statuses) for name, statuses in sorted(found.items())}


def differences(bare: Outcome, guarded: Outcome) -> dict[str, tuple[str, str]]:
    """Return the outcomes without the guard and with it of each check where they differ."""
    told = {name: (", ".join(bare.get(name, [])), ", ".join(guarded.get(name, []))) for name in bare | guarded}
    return {name: (one, other) for name, (one, other) in told.items() if one != other}


def failed(found: Outcome) -> list[str]:
    return [name for name, statuses in found.items() if "FAILURE" in statuses]


def sealed(url: str) -> bool:
    """Ask a server for a `requestState`, and return whether it is a token of Sealwax."""
    params = {
        "name": "test_input_required_result_request_state",
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": REVISIONS[-1],
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        },
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": REVISIONS[-1],
        "Mcp-Method": "tools/call",
        "Mcp-Name": params["name"],
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    with urllib.request.urlopen(urllib.request.Request(url, body.encode(), headers), timeout=60) as response:
        return '"requestState":"sw1.' in response.read().decode()


class Comparison:
    """One server of one SDK, in one mode, with the guard and without."""

    def __init__(self, suite: Suite, name: str, command: str, mode: str) -> None:
        self.name, self.mode = name, mode
        self.legs = [*REVISIONS, EXTENSIONS] if mode == "stateful" else REVISIONS
        self._suite = suite
        self._bare = Server(f"{name} bare", [*shlex.split(command), *MODES[mode], "--bare"], {})
        self._guarded = Server(f"{name} guarded", [*shlex.split(command), *MODES[mode]], {})

    def start(self, stack: ExitStack, pool: ThreadPoolExecutor) -> None:
        stack.enter_context(self._bare)
        stack.enter_context(self._guarded)
        if sealed(self._bare.url) or not sealed(self._guarded.url):
            raise RuntimeError(f"{self.name} {self.mode}: expected tokens of ours with the guard, and only there")
        self._runs = {
            leg: [pool.submit(self._suite.run, server.url, leg) for server in (self._bare, self._guarded)]
            for leg in self.legs
        }

    def wait(self) -> None:
        self.found = {leg: (bare.result(), guarded.result()) for leg, (bare, guarded) in self._runs.items()}

    def again(self, leg: str, scenario: str) -> None:
        """Run a scenario anew, on both."""
        for outcomes, server in zip(self.found[leg], (self._bare, self._guarded), strict=True):
            outcomes[scenario] = self._suite.run(server.url, leg, scenario)[scenario]


def judge(comparison: Comparison, exceptions: list[dict]) -> list[str]:
    """Return the violations."""
    wrong = []
    for leg in comparison.legs:
        for scenario in comparison.found[leg][1]:
            faults = verdict(comparison, leg, scenario, exceptions)
            for _ in range(TRIES if faults else 0):
                comparison.again(leg, scenario)
                faults = verdict(comparison, leg, scenario, exceptions)
                if not faults:
                    break
            wrong += faults
    return wrong


def verdict(comparison: Comparison, leg: str, scenario: str, exceptions: list[dict]) -> list[str]:
    bare, guarded = (outcomes.get(scenario, {}) for outcomes in comparison.found[leg])
    expected = {
        check: tuple(found)
        for it in exceptions
        if it["scenario"] == scenario and comparison.name in it["servers"] and comparison.mode in it["modes"]
        for check, found in it["checks"].items()
        if leg in it["revisions"]
    }
    found = differences(bare, guarded)
    place = f"{comparison.name} {comparison.mode} {leg} {scenario}"
    faults = [
        f"{place}: {check} is {one or 'absent'} without the guard, {other or 'absent'} with it"
        for check, (one, other) in found.items()
        if expected.get(check) != (one, other)
    ]
    faults += [f"{place}: differ.toml has {check}, which does not differ" for check in expected.keys() - found.keys()]
    if scenario.startswith("input-required-result-"):
        faults += [f"{place}: {check} fails with the guard" for check in failed(guarded)]
    return faults


def main(node: str, folder: str, *servers: str) -> int:
    suite = Suite(node, folder)
    if len(suite.versions) != SCENARIOS:
        print(f"expected {SCENARIOS} scenarios, found {len(suite.versions)}: {sorted(suite.versions)}")
        return 1
    exceptions = tomllib.loads(EXCEPTIONS.read_text())["differ"]
    pairs = [server.split("=", 1) for server in servers]
    comparisons = [Comparison(suite, name, command, mode) for name, command in pairs for mode in MODES]
    wrong: list[str] = []
    passed = 0
    with ExitStack() as stack:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for comparison in comparisons:
                comparison.start(stack, pool)
        for comparison in comparisons:
            comparison.wait()
            wrong += judge(comparison, exceptions)
            passed += report(comparison, suite)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{passed - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


def report(comparison: Comparison, suite: Suite) -> int:
    """Print the outcome; return how many checks were compared."""
    checks, alike, both = 0, [], set()
    for leg in comparison.legs:
        bare, guarded = comparison.found[leg]
        checks += sum(map(len, guarded.values()))
        both |= {name for name in guarded if failed(guarded[name]) and failed(bare[name])}
        alike += [name for name in guarded if not differences(bare[name], guarded[name])]
    run = sum(len(comparison.found[leg][1]) for leg in comparison.legs)
    missed = set(suite.versions) - set().union(*(comparison.found[leg][1] for leg in comparison.legs))
    if comparison.mode == "stateful" and missed:
        sys.exit(f"{comparison.name}: the suite left out {sorted(missed)}")
    print(f"{comparison.name} {comparison.mode}: {checks} checks in {run} scenarios, {len(alike)} of them alike")
    if both:
        print(f"  failed with the guard and without: {', '.join(sorted(both))}")
    return checks


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
