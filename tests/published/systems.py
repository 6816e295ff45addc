"""Every test that docs/systems.md names is a test, in the language of its column; and ran, where a report is given.

Usage: python3 tests/published/systems.py [COLUMN=REPORT ...]

A report says which tests ran: JUnit's XML, as Node's test runner and pytest write it, or what `cargo test` printed.
A name of the table is that of a test, the end of one behind a colon, or that of a file of tests, of which one at least has to run.
"""

import ast
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/systems.md"
JS = re.compile(r"""\b(?:test|it|describe)\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"([^"\n]*)"|`([^`]*)`)""")
RUST = re.compile(r"#\[(?:tokio::)?test(?:\([^)]*\))?\]\s*(?:#\[[^\]]*\]\s*)*(?:async )?fn (\w+)")
PRINTED = re.compile(r"^test (?:\w+::)*(\w+) \.\.\. ok$", re.MULTILINE)


def of_js(text):
    """Return the names of the tests of a file; what a template fills in stands for anything."""
    for literal, double, template in JS.findall(text):
        name = literal.replace("\\'", "'") or double or template
        for part in {name, name.partition(": ")[2]} - {""}:
            yield ".+".join(map(re.escape, re.split(r"\$\{[^}]*\}", part)))


def of_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name


COLUMNS = {
    "TypeScript": ("pkg/test", "*.test.mjs", of_js),
    "Python": ("bindings/python/tests/mcp", "test_*.py", of_python),
    "Rust": ("adapters/rmcp/tests", "*.rs", RUST.findall),
}


def defined(column):
    """Return a pattern of the tests' names for each file of a column."""
    folder, kind, names = COLUMNS[column]
    files = [file for file in sorted((ROOT / folder).rglob(kind)) if "node_modules" not in file.parts]
    found = {file.name: sorted(set(names(file.read_text()))) for file in files}
    return {file: re.compile("|".join(tests)) for file, tests in found.items() if tests}


def ran(report):
    """Return the names of the tests that ran and passed."""
    text = pathlib.Path(report).read_text()
    if not text.lstrip().startswith("<"):
        return set(PRINTED.findall(text))
    cases = ET.fromstring(text).iter("testcase")
    passed = (case for case in cases if all(case.find(how) is None for how in ("failure", "error", "skipped")))
    # Of a test with parameters, pytest adds them in brackets.
    return {re.sub(r"\[.*\]$", "", case.get("name", "")) for case in passed}


def named():
    """Yield the column and the name of each test in the page's tables."""
    columns = []
    for line in (ROOT / PAGE).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if "TypeScript" in cells:
            columns = cells
        elif line.startswith("| "):
            for column, cell in zip(columns, cells, strict=True):
                if column in COLUMNS:
                    yield from ((column, name) for name in re.findall("`([^`]+)`", cell))


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
