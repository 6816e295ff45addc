"""The package's own front page: each of its examples runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sealwax

README = Path(__file__).parents[2] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs(example: str) -> None:
    environment = {**os.environ, "SEALWAX_KEYS": str(sealwax.Key.generate().to_text())}
    subprocess.run([sys.executable, "-c", example], env=environment, check=True)


def test_the_examples_are_typed(tmp_path: Path) -> None:
    files = [tmp_path / f"example_{number}.py" for number in range(len(EXAMPLES))]
    for file, example in zip(files, EXAMPLES, strict=True):
        file.write_text(example)
    command: list[str | Path] = [sys.executable, "-m", "mypy", "--strict", *files]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_there_is_one_for_each_way_in() -> None:
    assert len(EXAMPLES) == 4
    assert "guard.protect(server)" in EXAMPLES[1]
    assert "guard.asgi(" in EXAMPLES[2]
    assert "ledger=Redis(" in EXAMPLES[3]
