"""The table of docs/platforms.md, between its markers; `page.py` checks that it has every artefact, and none that failed."""

import dataclasses
import pathlib
import sys

from systems import ROOT

from targets import TARGETS, Target  # isort: skip

PAGE = ROOT / "docs/platforms.md"
BEGIN, END = "<!-- make test-dist writes this table -->", "<!-- and ends here -->"
SDIST, NPM = "sdist of Python", "npm package"
#: On Linux one command serves both C libraries.
COMMANDS = [target for target in TARGETS if not target.triple.endswith("linux-gnu")]


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


def table(rows: list[Row]) -> str:
    lines = ["| artefact | MB | read from its files | run on | what passed |", "|---|--:|---|---|---|"]
    for row in rows:
        size = "—" if row.file is None else f"{row.file.stat().st_size / 1e6:.1f}"
        cells = (row.artefact, size, row.read, row.where, row.result)
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)


def write(rows: list[Row]) -> None:
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(rows)}\n\n{END}{after}")


def check() -> None:
    """Fail unless the committed table has a line for each artefact, and all of them passed."""
    lines = PAGE.read_text().split(BEGIN)[1].split(END)[0].strip().splitlines()[2:]
    found = [line.split(" | ")[0].removeprefix("| ") for line in lines]
    expected = [library(target) for target in TARGETS] + [wheel(target) for target in TARGETS]
    expected += [SDIST, *map(command, COMMANDS), NPM]
    if found != expected:
        sys.exit(f"{PAGE.name}: expected lines of {expected}, found {found}: run make test-dist")
    if failed := [line for line in lines if "FAILED" in line]:
        sys.exit("\n".join([f"{PAGE.name}: expected that all passed, found", *failed]))
    print(f"{PAGE.name}: {len(found)} artefacts")


if __name__ == "__main__":
    check()
