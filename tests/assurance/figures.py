"""Writes the figures in the table of docs/assurance.md: what a command found, with the day and the commit.

    figures.py            writes them from figures.csv
    figures.py --check    fails where the table has others
    figures.py COMMAND... runs commands as the table names them, such as `counts more`, and keeps in figures.csv what they print
                          behind `figure: `: of lines that begin with a number, the sum for the same words; where no line has
                          it, how many tests passed

The first row of a command is what it found last, others are what was found once. `?` is behind a commit that this history has not: the
pages of the time (`git show a9bf4b8e^:docs/assurance`) have its day.
"""

import csv
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/assurance/figures.csv"
PAGE = ROOT / "docs/assurance.md"
# cargo-vet has a sentence of its own, and so have tests of C, the threads of Python and the ledger's evaluation.
SENTENCE = r"figure: |Vetting Succeeded \(|no memory: |evaluate: |^(?=\d+ (?:forks|threads))"
FIGURE = re.compile(rf"(?:{SENTENCE})(?:([\d,]+) )?([^\n)]+)", re.MULTILINE)
# Of cargo and pytest, and of Node.
PASSED = re.compile(r"\b(\d+) passed\b|^\S pass (\d+)", re.MULTILINE)


def output(*words: str) -> str:
    run = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(words)} failed:\n{run.stdout}")
    return run.stdout


def measured(command: str) -> str:
    name, *rest = command.split()
    if name == "cargo":
        said = output(name, *rest, "--", "--nocapture")
    elif name == "make":
        said = output(name, *rest)
    else:
        folder = "release/supply" if name == "supply" else f"tests/assurance/{name}"
        said = output("make", "-C", folder, *rest)
    sums: dict[str, int | None] = {}
    for number, words in FIGURE.findall(said):
        sums[words] = (sums.get(words) or 0) + int(number.replace(",", "")) if number else None
    if not sums:
        sums["tests passed"] = sum(int(one or other) for one, other in PASSED.findall(said))
    if sums.get("tests passed") == 0:
        sys.exit(f"{command} prints no figure")
    return ", ".join(words if number is None else f"{number:,} {words}" for words, number in sums.items())


def rows() -> list[list[str]]:
    with DATA.open(newline="") as file:
        return list(csv.reader(file))


def measure(commands: list[str]) -> None:
    own = [f":!{path.relative_to(ROOT)}" for path in (DATA, PAGE)]
    if output("git", "status", "--porcelain", "--untracked-files=no", "--", ".", *own):
        sys.exit("commit your changes: a figure is of a commit")
    data = rows()
    commit, day = output("git", "log", "-1", "--abbrev=8", "--format=%h %cs").split()
    for command in commands:
        at = next((at for at, row in enumerate(data) if row[0] == command), len(data))
        data[at : at + 1] = [[command, measured(command), day, commit]]
    with DATA.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(data)


def written(page: str) -> str:
    """Return the page with the figures of each row's commands."""
    left: dict[str, list[list[str]]] = {}
    for command, *figure in rows():
        left.setdefault(command, []).append(figure)

    def row(found: re.Match[str]) -> str:
        claim, command, _, rest = found[0].split(" | ")
        names = re.findall(r"`(.+?)`", command) or [command]
        figures = [one for name in names for one in left.pop(name, [])]
        cell = ". ".join(f"{figure}. {day}:{commit}" for figure, day, commit in figures)
        return " | ".join((claim, command, cell, rest))

    begin, end = page.index("|---|"), page.index("\n## Open findings")
    page = page[:begin] + re.sub(r"(?<=\n)\| .*", row, page[begin:end]) + page[end:]
    if left:
        sys.exit(f"no row of {PAGE.name} names {', '.join(left)}")
    return page


def main(args: list[str]) -> None:
    if args and args != ["--check"]:
        measure(args)
    old = PAGE.read_text()
    new = written(old)
    if args == ["--check"] and old != new:
        sys.exit(f"{PAGE.name} has other figures than {DATA.name}: run tests/assurance/figures.py")
    PAGE.write_text(new)


if __name__ == "__main__":
    main(sys.argv[1:])
