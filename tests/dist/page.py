"""The table of docs/platforms.md, between its markers; `page.py` checks that it has every artefact, and none that failed."""

import dataclasses
import pathlib
import sys

from systems import ROOT

from targets import COMMANDS, TARGETS, Target  # isort: skip

PAGE = ROOT / "docs/platforms.md"
BEGIN, END = "<!-- make test-dist writes this table -->", "<!-- and ends here -->"
SDIST, NPM = "sdist of Python", "npm package"


def library(target: Target) -> str:
    return f"C library, `{target.triple}`"


def wheel(target: Target) -> str:
    return f"wheel, `{target.wheel}`"


def command(target: Target) -> str:
    return f"command, `{target.triple}`"


@dataclasses.dataclass(frozen=True)
class Row:
    """An artefact, and how it fared."""

    artefact: str
    file: pathlib.Path | None
    #: What its files say.
    read: str = "—"
    where: str = "nowhere"
    result: str = "—"
    failed: bool = False


#: As they stand in the table.
ARTEFACTS = [*map(library, TARGETS), *map(wheel, TARGETS), SDIST, *map(command, COMMANDS), NPM]
HEAD = ["| artefact | MB | read from its files | run on | what passed |", "|---|--:|---|---|---|"]


def line(row: Row) -> str:
    size = "—" if row.file is None else f"{row.file.stat().st_size / 1e6:.1f}"
    cells = (row.artefact, size, row.read, row.where, row.result)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def lines() -> dict[str, str]:
    """Return the lines of the table, by their artefacts."""
    table = PAGE.read_text().split(BEGIN)[1].split(END)[0].strip().splitlines()[len(HEAD) :]
    return {line.split(" | ")[0].removeprefix("| "): line for line in table}


def write(rows: list[Row]) -> None:
    """Renew the lines of these artefacts."""
    found = lines() | {row.artefact: line(row) for row in rows}
    table = "\n".join([*HEAD, *(found[artefact] for artefact in ARTEFACTS if artefact in found)])
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}")


def check() -> None:
    """Fail unless the committed table has a line for each artefact, and all of them passed."""
    found = lines()
    if list(found) != ARTEFACTS:
        sys.exit(f"{PAGE.name}: expected lines of {ARTEFACTS}, found {list(found)}: run make test-dist")
    if failed := [line for line in found.values() if "FAILED" in line]:
        sys.exit("\n".join([f"{PAGE.name}: expected that all passed, found", *failed]))
    print(f"{PAGE.name}: {len(found)} artefacts: 1 passed, 0 failed")


if __name__ == "__main__":
    check()
