"""The table of docs/platforms.md, between its markers."""

import dataclasses
import pathlib

from systems import ROOT

PAGE = ROOT / "docs/platforms.md"
BEGIN, END = "<!-- make test-dist writes this table -->", "<!-- and ends here -->"


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
    left_out: bool = False


def table(rows: list[Row]) -> str:
    lines = ["| artefact | MB | read from its files | run on | what passed |", "|---|--:|---|---|---|"]
    for row in rows:
        size = "—" if row.file is None else f"{row.file.stat().st_size / 1e6:.1f}"
        cells = (row.artefact, size, row.read, row.where, row.result)
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)


def write(rows: list[Row]) -> None:
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(rows)}\n\n{END}{after}")
