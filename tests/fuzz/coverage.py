"""Prints how many lines of src/, mcp/src/ and bindings/c/src a report of llvm-cov says were reached."""

import collections
import pathlib
import sys

ROOT = str(pathlib.Path(__file__).resolve().parents[2]) + "/"
FOLDERS = ("src/format", "src", "mcp/src/ledger", "mcp/src/document", "mcp/src", "cli/src", "bindings/c/src")


def main() -> None:
    report = pathlib.Path(sys.argv[1]).read_text().splitlines()
    totals = collections.Counter()
    missed = collections.Counter()
    # A row: file, regions, missed, cover, functions, missed, cover, lines, missed, cover, …
    for row in map(str.split, report):
        folder = next(
            (folder for folder in FOLDERS if row and row[0].removeprefix(ROOT).startswith(folder + "/")), None
        )
        if folder and row[7].isdigit():
            totals[folder] += int(row[7])
            missed[folder] += int(row[8])
    for folder in FOLDERS:
        if lines := totals[folder]:
            print(
                f"{folder:18} {lines - missed[folder]:6} of {lines:6} lines, {100 - 100 * missed[folder] / lines:.1f} %"
            )


if __name__ == "__main__":
    main()
