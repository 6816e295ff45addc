"""Where the log goes if nobody said: to stderr, with time and level, one line each."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

#: A logger that warns, in a process whose logging was set up so.
PROGRAM = """
import logging, sys
from sealwax import _log
{set_up}
logger = logging.getLogger("sealwax.mcp")
_log.write(logger, logging.WARNING, "sealwax: 100%d " + "x" * 200, {{"code": "expired"}})
"""
LINE = f"sealwax: 100%d {'x' * 200}"
BY_DEFAULT = re.compile(rf"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{3}}Z WARN {LINE}\n")
#: As sealwax writes it; as the program does.
DEFAULT, NOTHING = BY_DEFAULT, re.compile("")
SHOWN = re.compile(rf"WARNING expired {LINE}\n")


@pytest.mark.parametrize(
    ("set_up", "expected"),
    [
        ("", DEFAULT),
        ("from mcp.server import MCPServer; MCPServer('x')", DEFAULT),
        ("sys.modules['rich'] = None; from mcp.server import MCPServer; MCPServer('x')", DEFAULT),
        ("from fastmcp import FastMCP; FastMCP('x')", DEFAULT),
        ("logging.basicConfig(format='%(levelname)s %(sealwax_code)s %(message)s')", SHOWN),
        ("logging.basicConfig(filename='/dev/null', format='%(message)s')", NOTHING),
        ("logging.getLogger('sealwax').addHandler(logging.NullHandler())", NOTHING),
        ("logging.getLogger('sealwax').setLevel(logging.ERROR)", NOTHING),
        ("logging.disable()", NOTHING),
        ("sys.stderr.close()", NOTHING),
        ("sys.stderr = None", NOTHING),
    ],
)
def test_where_a_line_goes(set_up: str, expected: re.Pattern[str]) -> None:
    program = PROGRAM.format(set_up=set_up)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "")
    assert expected.fullmatch(run.stderr)


@pytest.mark.parametrize(
    ("set_up", "is_shown"),
    [("", True), ("logging.getLogger().setLevel(logging.ERROR)", False)],
)
def test_that_keys_changed_is_shown_unless_the_program_chose_a_level(
    set_up: str, is_shown: bool
) -> None:
    program = PROGRAM.format(set_up=set_up).replace("WARNING", "INFO")
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (" INFO sealwax: " in run.stderr) == is_shown
