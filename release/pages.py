"""Writes the manual pages and completions of the command, which prints them itself: `pages.py COMMAND FOLDER`."""

import json
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

COMMANDS = pathlib.Path(__file__).resolve().parents[1] / "cli/commands.json"
#: Where each shell looks for them, by the names of clap_complete.
COMPLETIONS = {
    "bash": "sealwax.bash",
    "elvish": "sealwax.elv",
    "fish": "sealwax.fish",
    "powershell": "_sealwax.ps1",
    "zsh": "_sealwax",
}


def words(commands: list[dict[str, Any]]) -> Iterator[list[str]]:
    for command in commands:
        yield [command["name"]]
        yield from ([command["name"], *more] for more in words(command.get("commands", [])))


def main(command: str, folder: pathlib.Path) -> None:
    pages = [[], *words(json.loads(COMMANDS.read_text())["commands"])]
    files = {f"man/{'-'.join(['sealwax', *page])}.1": ["man", *page] for page in pages}
    files |= {f"completions/{name}": ["completions", shell] for shell, name in COMPLETIONS.items()}
    for name, arguments in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(subprocess.check_output([command, *arguments]))


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
