"""Every "yes" of docs/systems.md has a test in systems.csv; and each of those is one, in the language of its column, and ran, where a
report is given.

Usage: python3 tests/published/systems.py [COLUMN=REPORT ...]

A report says which tests ran: JUnit's XML, as Node's test runner, pytest and tests/driver write it, or what `cargo test` or `go test
-v` printed.
A name is that of a test, the end of one behind a colon, or that of a file of tests, of which one at least has to run. The transcripts
of guard.json are tests of every language, on the kind of server that may stand in front. fleet_ledger.py, which `make demo` runs, has a
server in four.
"""

import ast
import csv
import itertools
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE, DATA = "docs/systems.md", "tests/published/systems.csv"
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


def promised():
    """Yield what the tables of the page promise, and for which language: all but a "no".

    A first cell has one thing, or several, as in "about: one; another"; a heading has one language or several.
    """
    heads = []
    for line in (ROOT / PAGE).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            heads = []
        elif not heads:
            heads = cells
        elif heads[0] == "what" and set(line) != {"|", "-"}:
            row = dict(zip(heads, cells, strict=True))
            about, colon, whats = row["what"].rpartition(": ")
            languages = [one for head in heads if row[head] != "no" for one in head.split(", ") if one in COLUMNS]
            things = [about + colon + what for what in whats.split("; ")]
            transports = row.get("transport", "").split(", ")
            yield from itertools.product(things, [row.get("revision", "")], transports, languages)


def named():
    """Return the language and the name of each test, once each "yes" of the page is seen to have one."""
    _, *rows = csv.reader((ROOT / DATA).read_text().splitlines())
    if differ := set(promised()) ^ {tuple(row[:-1]) for row in rows}:
        sys.exit(f"only one of {PAGE} and {DATA} has {sorted(differ)}")
    return [tuple(row[-2:]) for row in rows]


def main(*arguments):
    reports = {}
    for argument in arguments:
        column, report = argument.split("=", 1)
        reports.setdefault(column, set()).update(ran(report))
    tests = {column: defined(column) for column in COLUMNS}
    names = named()
    if len(names) < 100:
        sys.exit(f"{DATA}: expected the names of 100 tests and more, found {len(names)}")
    for column, name in names:
        if column != "Java" and name == "fleet_ledger.py" and (ROOT / "examples/demo" / name).exists():
            continue
        files = tests[column]
        if name not in files and not any(pattern.fullmatch(name) for pattern in files.values()):
            sys.exit(f"{DATA}: {column} has no test of the name: {name}")
        if column not in reports:
            continue
        if name in files:
            did_run = any(files[name].fullmatch(ran) for ran in reports[column])
        else:
            did_run = any(f": {ran}".endswith(f": {name}") for ran in reports[column])
        if not did_run:
            sys.exit(f"{DATA}: {column}'s test did not run, or did not pass: {name}")
    print(
        f"{len(names)} named, of which those in {', '.join(reports) or 'no language'} ran: {len(names)} passed, 0 failed"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
