"""Every "yes" of docs/systems.md has a test; and every test that it names is one, in the language of its column, and ran, where a
report is given.

Usage: python3 tests/published/systems.py [COLUMN=REPORT ...]

A report says which tests ran: JUnit's XML, as Node's test runner, pytest and tests/driver write it, or what `cargo test` or `go test
-v` printed.
A page's table for the reader is followed by one of the same things with the names of tests, folded in `<details>`. A name is that of
a test, the end of one behind a colon, or that of a file of tests, of which one at least has to run. The transcripts of guard.json are
tests of every language, on the kind of server that may stand in front.
"""

import ast
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/systems.md"
JS = re.compile(r"""\b(?:test|it|describe)\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"([^"\n]*)"|`([^`]*)`)""")
RUST = re.compile(r"#\[(?:tokio::)?test(?:\([^)]*\))?\]\s*(?:#\[[^\]]*\]\s*)*(?:async )?fn (\w+)")
PRINTED = re.compile(r"^(?:test (?:\w+::)*(\w+) \.\.\. ok$|--- PASS: (Test\w+) )", re.MULTILINE)


def of_js(text):
    """Return the names of the tests of a file; what a template fills in stands for anything."""
    for literal, double, template in JS.findall(text):
        name = literal.replace("\\'", "'") or double or template
        for part in {name, name.partition(": ")[2]} - {""}:
            texts = re.split(r"\$\{[^}]*\}", part)
            if any(texts):  # else it would stand for every name
                yield ".+".join(map(re.escape, texts))


def of_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name


JAVA = re.compile(r"@(?:Test|TestFactory)\s+(?:[\w<>]+ )*(\w+)\(\)")

GO = re.compile(r"^func (Test\w+)\(t \*testing\.T\)", re.MULTILINE)

TRANSCRIPTS = json.loads((ROOT / "tests/vectors/guard.json").read_text())["transcripts"]

COLUMNS = {
    "TypeScript": ("pkg/test", "*.test.mjs", of_js),
    "Python": ("bindings/python/tests/mcp", "test_*.py", of_python),
    "Rust": ("adapters/rmcp/tests", "*.rs", RUST.findall),
    "Go": ("bindings/go", "*_test.go", GO.findall),
    "Java": ("bindings/java/sealwax-mcp/src/test", "*.java", JAVA.findall),
}


def defined(column):
    """Return a pattern of the tests' names for each file of a column."""
    folder, kind, names = COLUMNS[column]
    files = [file for file in sorted((ROOT / folder).rglob(kind)) if "node_modules" not in file.parts]
    found = {file.name: sorted(set(names(file.read_text()))) for file in files}
    found["guard.json"] = [rf"(?:\w+: )?{re.escape(one['name'])}" for one in TRANSCRIPTS]
    return {file: re.compile("|".join(tests)) for file, tests in found.items() if tests}


def ran(report):
    """Return the names of the tests that ran and passed."""
    text = pathlib.Path(report).read_text()
    if not text.lstrip().startswith("<"):
        return {rust or go for rust, go in PRINTED.findall(text)}
    cases = ET.fromstring(text).iter("testcase")
    passed = (case for case in cases if all(case.find(how) is None for how in ("failure", "error", "skipped")))
    # Of a test with parameters, pytest adds them in brackets, as Maven does their numbers.
    return {re.sub(r"\[.*\]$", "", case.get("name", "")) for case in passed}


def tables():
    """Yield the rows of each table with columns of languages, by their columns, and whether the table is folded."""
    columns, rows, folded = [], [], False
    for line in [*(ROOT / PAGE).read_text().splitlines(), ""]:
        folded = line == "<details>" or (folded and line != "</details>")
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            if rows and {"what", *COLUMNS} <= set(columns):
                yield rows, folded
            columns, rows = [], []
        elif not columns:
            columns = cells
        elif set(line) != {"|", "-"}:
            rows.append(dict(zip(columns, cells, strict=True)))


def things(rows):
    """Yield each row for each of its transports, as what it is about and its cells.

    A first cell that is empty is that of the row above; one that begins with "…" goes on with the last that does not.
    """
    whole = what = ""
    for row in rows:
        what = row["what"] or what
        whole = whole if what.startswith("…") else what
        for transport in row.get("transport", "").split(", "):
            yield (whole, what, row.get("revision"), transport), row


def named():
    """Yield the column and the name of each test, once each "yes" of the reader's tables is seen to have one."""
    promised = None
    for rows, folded in tables():
        if not folded:
            promised = dict(things(rows))
            continue
        tested = dict(things(rows))
        if differ := promised.keys() ^ tested.keys():
            sys.exit(f"{PAGE}: only one of a table and the table of its tests has {sorted(differ)}")
        for thing, row in tested.items():
            for column in COLUMNS:
                names = re.findall("`([^`]+)`", row[column])
                if bool(names) == (promised[thing][column] == "no"):
                    sys.exit(f"{PAGE}: {thing}, {column}: found {promised[thing][column]!r} and the tests {names}")
                yield from ((column, name) for name in names)
        promised = None
    if promised:
        sys.exit(f"{PAGE}: expected the tests of {sorted(promised)}")


def main(*arguments):
    reports = {}
    for argument in arguments:
        column, report = argument.split("=", 1)
        reports.setdefault(column, set()).update(ran(report))
    tests = {column: defined(column) for column in COLUMNS}
    names = list(named())
    if len(names) < 100:
        sys.exit(f"{PAGE}: expected the names of 100 tests and more, found {len(names)}")
    for column, name in names:
        files = tests[column]
        if name not in files and not any(pattern.fullmatch(name) for pattern in files.values()):
            sys.exit(f"{PAGE}: {column} has no test of the name: {name}")
        if column not in reports:
            continue
        if name in files:
            did_run = any(files[name].fullmatch(ran) for ran in reports[column])
        else:
            did_run = any(f": {ran}".endswith(f": {name}") for ran in reports[column])
        if not did_run:
            sys.exit(f"{PAGE}: {column}'s test did not run, or did not pass: {name}")
    print(
        f"{len(names)} named, of which those in {', '.join(reports) or 'no language'} ran: {len(names)} passed, 0 failed"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
