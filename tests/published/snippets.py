"""Runs the TypeScript and Python programs of README.md and docs/, after the strictest check of their types.

Usage: python3 tests/published/snippets.py WORK TSC MODULES MYPY PYTHON

WORK is a folder to write them to; MODULES is the node_modules, and PYTHON the interpreter, with the packages and the SDKs
installed. On a page a block that begins with an import begins a program, and the blocks of that language that follow
continue it. A program runs with a key and with nothing on stdin, and has to end by itself. The server of the README
is called by an official client too.
"""

import base64
import hashlib
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SUFFIXES = {"ts": ".ts", "python": ".py"}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BEGINS = re.compile(r"(?:(?://|#)[^\n]*\n)*(?:import|from) ")
TSCONFIG = """{ "compilerOptions": { "strict": true, "noUncheckedIndexedAccess": true, "target": "es2022",
  "lib": ["es2022", "dom"], "types": ["node"], "module": "nodenext" }, "include": ["*.ts"] }"""
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


def main(work, tsc, modules, mypy, python):
    work = pathlib.Path(work).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (work / "package.json").write_text('{ "private": true, "type": "module" }\n')
    (work / "tsconfig.json").write_text(TSCONFIG)
    (work / "node_modules").symlink_to(pathlib.Path(modules).resolve())
    files = {}
    for page in PAGES:
        for number, (language, text) in enumerate(programs(page), 1):
            name = "_".join(page.relative_to(ROOT).with_suffix("").parts).replace("-", "_")
            file = work / f"{name}_{number}{SUFFIXES[language]}"
            file.write_text(text)
            files[file] = f"{page.relative_to(ROOT)}, program {number}"
    if {file.suffix for file in files} != set(SUFFIXES.values()):
        sys.exit(f"expected programs of both languages, found {[file.name for file in files]}")

    checked("tsc", [tsc, "--project", str(work)])
    of_python = [file for file in files if file.suffix == ".py"]
    checked("mypy", [mypy, "--strict", "--python-executable", python, *of_python], cwd=work)
    environment = {**os.environ, "SEALWAX_KEYS": key()}
    for file, title in files.items():
        command = ["node", file.with_suffix(".js")] if file.suffix == ".ts" else [python, file]
        checked(title, command, stdin=subprocess.DEVNULL, env=environment, cwd=work)

    client = work / "client.mjs"
    shutil.copy(ROOT / "tests/published/client.mjs", client)
    told = checked("client of the README's server", ["node", client, work / "README_1.js"], env=environment, cwd=work)
    if told.splitlines() != ["Delete note 7?", "Note 7 deleted", "-32602"]:
        sys.exit(f"the README's server: expected a question, its end, and a refusal, found:\n{told}")
    print(f"{len(files)} programs: {len(files) + 1} passed, 0 failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
