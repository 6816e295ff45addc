"""The package's page on PyPI: each of its examples runs."""

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
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
ENVIRONMENT = {**os.environ, "SEALWAX_KEYS": str(sealwax.Key.generate().to_text())}


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs(example: str) -> None:
    command = [sys.executable, "-c", example]
    subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, check=True)


@pytest.mark.parametrize("example", EXAMPLES)
def test_without_a_key_an_example_says_how_to_make_one(example: str) -> None:
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "SEALWAX_KEYS"}
    command = [sys.executable, "-c", example]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "`python -m sealwax keygen` makes a key" in ran.stderr.splitlines()[-1]


@pytest.mark.anyio
async def test_the_server_deletes_what_the_user_agreed_to(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(EXAMPLES[0])
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


def test_the_examples_are_typed(tmp_path: Path) -> None:
    files = [tmp_path / f"example_{number}.py" for number in range(len(EXAMPLES))]
    for file, example in zip(files, EXAMPLES, strict=True):
        file.write_text(example)
    command: list[str | Path] = [sys.executable, "-m", "mypy", "--strict", *files]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_there_is_one() -> None:
    assert len(EXAMPLES) == 1
    assert "guard.protect(server)" in EXAMPLES[0]
