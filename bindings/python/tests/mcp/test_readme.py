"""The package's page on PyPI: its example runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

import sealwax

README = Path(__file__).parents[2] / "README.md"
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
ENVIRONMENT = {**os.environ, "SEALWAX_KEYS": str(sealwax.Key.generate().to_text())}


def test_the_example_runs_and_says_how_to_make_a_key() -> None:
    command = [sys.executable, "-c", EXAMPLE]
    subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, check=True)
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "SEALWAX_KEYS"}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "`python -m sealwax keygen` makes a key" in ran.stderr.splitlines()[-1]


@pytest.mark.anyio
async def test_the_server_deletes_what_the_user_agreed_to(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(EXAMPLE)
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept" if len(asked) == 1 else "decline", content={})

    server = StdioServerParameters(
        command=sys.executable, args=[str(tmp_path / "server.py")], env=ENVIRONMENT
    )
    async with Client(server, mode="2026-07-28", elicitation_callback=answer) as client:
        told = [await client.call_tool("delete_note", {"id": id}) for id in (7, 8)]
        forged = client.session.call_tool("delete_note", {"id": 7}, request_state='{"asked":7}')
        with pytest.raises(MCPError) as raised:
            await forged
    assert asked == ["Delete note 7?", "Delete note 8?"]
    assert [one.structured_content for one in told] == [
        {"result": "Note 7 deleted"},
        {"result": "Note 8 kept"},
    ]
    assert "Invalid or expired requestState" in str(raised.value)


def test_the_example_is_typed(tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    file.write_text(EXAMPLE)
    command = [sys.executable, "-m", "mypy", "--strict", str(file)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
