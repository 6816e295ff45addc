"""Runs the TypeScript and Python programs of README.md, docs/ and the Python package's page, as a reader would.

Usage: python3 tests/published/snippets.py WORK NODE TSC MODULES MYPY PYTHON

WORK is a folder to write them to; NODE is 22.18 or later; MODULES is the node_modules, and PYTHON the interpreter, with the
packages and the SDKs installed. On a page a block that begins with an import begins a program, and the blocks of that
language that follow continue it. All have to pass `mypy --strict`, and what `tsc --init` sets in a folder that `npm init`
made. A program runs with a key and with nothing on stdin, in pytest if it has tests of it, and has to end by itself. The clients among them call the servers
before them.
"""

import base64
import hashlib
import json
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "bindings/python/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Those of docs/recipes are servers: tests/recipes runs them.
PAGES = [page for page in PAGES if page.parent.name != "recipes"]
SUFFIXES = {"ts": ".mts", "python": ".py"}
#: What the pages call their programs.
NAMED = {"README_1": "confirm", "README_2": "ask", "docs_start_python_1": "confirm", "docs_start_python_2": "ask"}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BEGINS = re.compile(r"(?:(?://|#)[^\n]*\n)*(?:import|from) ")
# Of npm 11: before it there was no type.
PACKAGE = {"name": "work", "version": "1.0.0", "main": "index.js", "type": "commonjs"}
# What tsc --init tells to set for Node.
TSCONFIG = {"extends": "./tsconfig.json", "compilerOptions": {"types": ["node"], "noEmit": True}, "include": ["*.mts"]}
# The state, its acceptance, and its refusal; stderr stands beside them.
TOLD = re.compile(r"sw1\.[\w-]{80,}\s.*Note 7 deleted.*^Invalid or expired requestState$", re.MULTILINE | re.DOTALL)
# Of pytest.
TESTS = re.compile(r"^(?:async )?def test_", re.MULTILINE)
LIMIT = 120


def programs(page):
    """Return the programs of a page, as (language, text)."""
    found = []
    for language, text in BLOCK.findall(page.read_text()):
        if language not in SUFFIXES:
            continue
        if BEGINS.match(text):
            found.append([language, text])
            continue
        started = next((program for program in reversed(found) if program[0] == language), None)
        if started is None:
            sys.exit(f"{page.relative_to(ROOT)}: expected a program before:\n{text}")
        started[1] += "\n" + text
    return found


def key():
    """Return a new key text, as SPEC.md has it: the programs read SEALWAX_KEYS as their users do."""
    secret = secrets.token_bytes(32)
    checksum = hashlib.sha256(b"sealwax/v1/key" + secret).digest()[:4]
    return "swk1_" + base64.urlsafe_b64encode(secret + checksum).decode().rstrip("=")


def checked(what, command, **settings):
    """Run a command, and end with what it printed if it fails."""
    run = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT, check=False, **settings
    )
    if run.returncode:
        sys.exit(f"{what}: exit status {run.returncode}\n{run.stdout}")
    return run.stdout


def main(work, node, tsc, modules, mypy, python):
    work = pathlib.Path(work).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (work / "package.json").write_text(json.dumps(PACKAGE))
    (work / "tsconfig.node.json").write_text(json.dumps(TSCONFIG))
    (work / "node_modules").symlink_to(pathlib.Path(modules).resolve())
    files = {}
    for page in PAGES:
        for number, (language, text) in enumerate(programs(page), 1):
            name = "_".join(page.relative_to(ROOT).with_suffix("").parts).replace("-", "_")
            name = f"{name}_{number}"
            file = work / f"{NAMED.get(name, name)}{SUFFIXES[language]}"
            file.write_text(text)
            files[file] = f"{page.relative_to(ROOT)}, program {number}"
    if {file.suffix for file in files} != set(SUFFIXES.values()):
        sys.exit(f"expected programs of both languages, found {[file.name for file in files]}")

    tsc = pathlib.Path(tsc).resolve()
    checked("tsc --init", [tsc, "--init"], cwd=work)
    checked("tsc", [tsc, "--project", "tsconfig.node.json"], cwd=work)
    of_python = [file for file in files if file.suffix == ".py"]
    checked("mypy", [mypy, "--strict", "--python-executable", python, *of_python], cwd=work)
    node = pathlib.Path(node).resolve()
    environment = {**os.environ, "SEALWAX_KEYS": key(), "PATH": f"{node.parent}:{os.environ['PATH']}"}
    told = {}
    for file, title in files.items():
        command = [node if file.suffix == ".mts" else python, file]
        if TESTS.search(file.read_text()):
            command = [python, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", file]
        told[file.name] = checked(title, command, stdin=subprocess.DEVNULL, env=environment, cwd=work)
    for client in ["ask.mts", "ask.py"]:
        if not TOLD.search(told[client]):
            sys.exit(f"{client}: expected {TOLD.pattern}, found:\n{told[client]}")
    print(f"{len(files)} programs: {len(files)} passed, 0 failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
