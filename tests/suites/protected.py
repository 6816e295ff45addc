"""A plugin of pytest: protects every server that a test makes, and records the outcome of each test.

    SEALWAX_PROTECT=COUNT python -m pytest -p protected --outcomes FILE

FILE is made: JSON of the outcomes ("passed", "failed", "skipped", "error") by the tests' names. Each process adds to
COUNT, on a line, how many servers it protected; without it, none is.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable
from typing import Any

import pytest

OUTCOMES = pytest.StashKey[dict[str, str]]()
#: How many constructors are running: a server made within one is a part of another, which is protected as a whole.
_making = 0
#: How many servers were protected.
_protected = 0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", help="where to write how each test came out")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[OUTCOMES] = {}
    config.pluginmanager.register(Recorder(config), "outcomes")
    if os.environ.get("SEALWAX_PROTECT"):
        protect_all()


class Recorder:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._found = config.stash[OUTCOMES]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # A later phase may fail what an earlier one let pass, and not the other way round.
        if report.outcome == "retried":
            return
        if report.when == "call" or report.outcome != "passed":
            before = self._found.get(report.nodeid, "passed")
            self._found[report.nodeid] = report.outcome if before == "passed" else before

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._found[report.nodeid] = "error"

    def pytest_sessionfinish(self) -> None:
        if file := os.environ.get("SEALWAX_PROTECT"):
            with open(file, "a", encoding="utf-8") as counted:
                counted.write(f"{_protected}\n")
        if (file := self._config.getoption("--outcomes")) and not hasattr(self._config, "workerinput"):
            with open(file, "w", encoding="utf-8") as written:
                json.dump(self._found, written)


def protect_all() -> None:
    """Protect each server in the function that makes it."""
    import sealwax
    from mcp.server import MCPServer
    from mcp.server.lowlevel import Server
    from sealwax.mcp import Guard

    def protect(server: Any) -> None:
        # As with the SDK's own: no server opens another's tokens.
        codec = sealwax.Codec(keys=sealwax.KeyRing([sealwax.Key.generate()]), audience="https://suite.example.com")
        global _protected
        _protected += 1
        try:
            Guard(codec=codec, principal="anonymous").protect(server)
        except sealwax.InvalidArgument as error:
            # A server with a policy of its own for requestState cannot have the guard.
            if "request_state_security" not in str(error):
                raise

    classes: list[Any] = [Server, MCPServer]
    try:
        from fastmcp import FastMCP
    except ImportError:
        pass
    else:
        classes.append(FastMCP)
    for kind in classes:
        kind.__init__ = followed(kind.__init__, protect)


def followed(make: Callable[..., None], protect: Callable[[Any], None]) -> Callable[..., None]:
    """Return a constructor that protects its server, unless that is a part of another."""

    @functools.wraps(make)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        global _making
        _making += 1
        try:
            make(self, *args, **kwargs)
        finally:
            _making -= 1
        if _making == 0:
            protect(self)

    return made
