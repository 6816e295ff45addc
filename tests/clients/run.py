"""Run other people's clients against the servers of `examples/`, over HTTP and stdio.

    run.py SEALWAX NODE FOLDER NAME=COMMAND...

SEALWAX is the command, NODE is 24 or later, FOLDER is where the clients are installed; COMMAND starts an example, whose
name stands for `{}`. Over HTTP there are two replicas of each behind a proxy, which sees what a client sends. What was
seen has to be what the table of docs/systems.md says; the run prints the rows as they should be.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples/demo"))

from proxy import RoundRobin
from servers import Server, keygen

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs/systems.md"
AT_ONCE = 4
NOTES = ["add_to_basket", "delete_note", "new_basket"]
COUNTER = ["begin", "count", "end", "read", "write"]


class Watch(RoundRobin):
    """A proxy that records the headers of requests."""

    def __init__(self, servers: list[Server]) -> None:
        super().__init__(servers, lambda server, method: None)
        self.revisions: set[str] = set()
        self.sessions: list[str] = []

    def forward(self, request: BaseHTTPRequestHandler) -> None:
        # Not of a GET: Codex looks for an authorization server with a revision of its own.
        if request.command == "POST":
            self.revisions |= {it for it in [request.headers.get("MCP-Protocol-Version")] if it}
            self.sessions += [it for it in [request.headers.get("Mcp-Session-Id")] if it]
        # A client may leave before it has read everything.
        with suppress(ConnectionError):
            super().forward(request)


@dataclass
class Client:
    """A client of clients.toml, in its environment."""

    name: str
    package: str
    program: str
    pages: list[int]
    beside: list[str] = field(default_factory=list)
    transports: list[str] = field(default_factory=lambda: ["HTTP", "stdio"])

    def install(self, node: str, folder: Path) -> None:
        kind, program = self.program.split("/")
        where = folder / Path(program).stem / kind
        wanted, stamp = " ".join([self.package, *self.beside]), where / ".installed"
        if not stamp.exists() or stamp.read_text() != wanted:
            shutil.rmtree(where, ignore_errors=True)
            where.mkdir(parents=True)
            if kind == "npm":
                (where / "package.json").write_text('{ "private": true, "type": "module" }')
                npm = ["npm", "install", "--silent", "--no-audit", "--no-fund"]
                subprocess.run([*npm, *wanted.split()], cwd=where, check=True)
            else:
                subprocess.run([sys.executable, "-m", "venv", where / "venv"], check=True)
                pip = [where / "venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
                subprocess.run([*pip, "install", *wanted.split()], check=True)
            stamp.write_text(wanted)
        shutil.copytree(HERE / kind, where, dirs_exist_ok=True)
        self._where = where
        self._command = [node if kind == "npm" else str(where / "venv/bin/python"), program]

    def send(self, key: str, *server: str) -> dict:
        """Have it do its errand at a server, and return what it saw."""
        env = {**os.environ, "SEALWAX_KEYS": key}
        options = {"capture_output": True, "text": True, "timeout": 300, "stdin": subprocess.DEVNULL}
        done = subprocess.run([*self._command, *server], cwd=self._where, env=env, **options)
        if found := re.search(r"^SEEN (.*)$", done.stdout, re.MULTILINE):
            return json.loads(found[1])
        return {"failed": (done.stdout + done.stderr)[-2000:]}


def faults(client: Client, seen: dict) -> list[str]:
    """Return the expectations at the server of notes that a client did not meet."""
    if "failed" in seen:
        return [seen["failed"]]
    expected = {"tools": NOTES, "items": ["milk"]}
    expected |= {"text": "This is note 7."} if "text" in seen else {}
    expected |= {"pages": client.pages} if client.pages else {}
    found = {**seen, "tools": sorted(seen["tools"])}
    return [f"{what}: expected {it}, found {found.get(what)}" for what, it in expected.items() if found.get(what) != it]


def in_session(seen: dict) -> list[str]:
    """Return the failures at the counter, whose replicas keep no session."""
    if "failed" in seen:
        return [seen["failed"]]
    wrong = [f"tools: found {seen[name]}" for name in ("tools", "again") if sorted(seen[name]) != COUNTER]
    if "-32043" not in seen["refused"] and "session" not in seen["refused"].lower():
        wrong.append(f"refused: expected the want of a session, found {seen['refused']}")
    return wrong


@dataclass
class Visit:
    """One client at the servers of one language."""

    client: Client
    transport: str
    language: str

    def go(self, command: str, notes: list[Server], counter: list[Server], key: str) -> str:
        """Return the cell of the table, or the failures."""
        revisions, calls = set(), 0
        if self.transport == "stdio":
            seen = self.client.send(key, "stdio", *shlex.split(command))
            wrong = faults(self.client, seen)
        else:
            with Watch(notes) as watch:
                seen = self.client.send(key, "http", watch.url)
                wrong, revisions = faults(self.client, seen), watch.revisions
            with Watch(counter) as watch:
                wrong += in_session(self.client.send(key, "http", watch.url))
                calls = len(watch.sessions)
        if wrong:
            return " ".join("; ".join(wrong).split())
        did = {"resources": "text" in seen, "pages": sum(self.client.pages) == 25, "session": calls > 1}
        # Later revisions have no sessions, and the example on stdio has none.
        every = {"resources": True, "pages": True, "session": bool(revisions) and max(revisions) < "2026-07-28"}
        done = "all" if did == every else ", ".join(["tools", *(name for name, it in did.items() if it)])
        return done + "".join(f" ({revision})" for revision in sorted(revisions))


def absolute(command: str) -> str:
    """Return a command that can be run in any folder."""
    return shlex.join(os.path.abspath(part) if "/" in part else part for part in shlex.split(command))


#: Of a transport that no client was tried on.
NONE = "\N{EN DASH}"


def main(sealwax: str, node: str, folder: str, *servers: str) -> int:
    told = tomllib.loads((HERE / "clients.toml").read_text())["client"]
    clients = [Client(**it) for it in told]
    for client in clients:
        client.install(str(Path(node).resolve()), Path(folder).resolve())
    languages = {name: absolute(command) for name, command in (server.split("=", 1) for server in servers)}
    key = keygen(sealwax)
    with ExitStack() as stack, ThreadPoolExecutor(AT_ONCE) as pool:
        started = {
            (language, example): [
                stack.enter_context(Server(language, shlex.split(command.format(example)), {"SEALWAX_KEYS": key}))
                for _ in range(2)
            ]
            for language, command in languages.items()
            for example in ("notes", "sessions")
        }
        visits = [Visit(client, way, name) for client in clients for way in client.transports for name in languages]
        cells = pool.map(
            lambda it: it.go(
                languages[it.language].format("notes"),
                started[it.language, "notes"],
                started[it.language, "sessions"],
                key,
            ),
            visits,
        )
        # What was seen with each transport: of all languages the same.
        seen: dict[str, dict[str, set[str]]] = {}
        for it, cell in zip(visits, cells, strict=True):
            package, version = re.fullmatch(r"(.+?)(?:\[\w+])?(?:==|@)([\d.]+)", it.client.package).groups()
            row = seen.setdefault(f"| {it.client.name} | `{package}` {version} |", {"HTTP": set(), "stdio": set()})
            row[it.transport].add(cell)
    rows = [row + "".join(f" {' / '.join(sorted(it)) or NONE} |" for it in ways.values()) for row, ways in seen.items()]
    told_there = DOCS.read_text().splitlines()
    wrong = [row for row in rows if row not in told_there]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{len(rows) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
