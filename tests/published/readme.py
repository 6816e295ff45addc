"""Holds README.md and docs/ to what they promise, without building anything.

- README.md has at most 1,000 words. Like the pages of the other packages it has only absolute addresses, for it is the one on npm.
- It names the command of the main job, that of the tests, and what these leave out on a machine that lacks a program.
- Its server is an example that the tests run. (All TypeScript and Python of the pages runs in snippets.py.)
- Every example in Rust, C and CMake stands, to the letter, in a file that the tests run: as `rust` one that runs as
  documentation, as `rs` a part of a server. Where a part leaves lines out, a comment of `…` alone says so.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PACKAGES = [ROOT / name / "README.md" for name in (".", "src", "mcp", "cli", "adapters/rmcp", "bindings/python")]
RUN_BY_THE_TESTS = {
    "ts": ["examples/confirm.mts", "examples/ask.mts"],
    "rust": ["src/README.md", "adapters/rmcp/examples", "adapters/rmcp/tests/official/testing.rs"],
    "rs": ["examples/notes.rs", "examples/sessions.rs", "adapters/rmcp/src/principal.rs"],
    "c": ["examples/quickstart.c"],
    "cmake": ["examples/cmake/CMakeLists.txt"],
}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IN_DOCUMENTATION = re.compile(r"^//[!/] ?", re.MULTILINE)
LEFT_OUT = re.compile(r"^ *(?://|#) …\n", re.MULTILINE)
RELATIVE = re.compile(r"\]\((?!https://|#)([^)]+)\)")


COMMANDS = ["make quickstart", "make test"]
LEFT_OUT_WITHOUT = ["Go", "Maven", "Chromium", "PHP", "Ruby", "LuaJIT", "valgrind", "pkg-config", "g++"]
# What needs none of these: the C tests but for a few.
C_TESTS = ["test-plain", "test-sanitized", "test-valgrind", "test-example"]


def c_tests_that_need(program):
    """Return the commands of the C tests that run a program of the system."""
    make = ["make", "--directory", ROOT / "bindings/c", "--dry-run", *C_TESTS]
    told = subprocess.run(make, check=True, capture_output=True, text=True).stdout
    return [line for line in told.splitlines() if program in line]


def stands_in_a_file(language, block):
    parts = [part.strip("\n") for part in LEFT_OUT.split(block)]
    places = [ROOT / name for name in RUN_BY_THE_TESTS[language]]
    files = [file for place in places for file in (place.iterdir() if place.is_dir() else [place])]
    texts = [text for file in files for text in (file.read_text(), IN_DOCUMENTATION.sub("", file.read_text()))]
    return any(all(part in text for part in parts) for text in texts)


def main():
    readme = README.read_text()
    if (words := len(readme.split())) > 1000:
        sys.exit(f"README.md: expected 1,000 words at most, found {words}")
    shown = "\n".join(text for language, text in BLOCK.findall(readme) if language == "sh")
    if missing := [command for command in COMMANDS if not re.search(rf"^{command}\b", shown, re.MULTILINE)]:
        sys.exit(f"README.md: expected the commands {COMMANDS}, found none of {missing}")
    if missing := [program for program in LEFT_OUT_WITHOUT if program not in readme]:
        sys.exit(f"README.md: expected what the tests leave out without {missing}")
    if found := c_tests_that_need("pkg-config"):
        sys.exit("expected the C tests to do without pkg-config, found:\n" + "\n".join(found))
    for page in PACKAGES:
        if found := RELATIVE.findall(BLOCK.sub("", page.read_text())):
            sys.exit(f"{page.relative_to(ROOT)}: expected absolute addresses only, found {found}")
    checked = dict.fromkeys(RUN_BY_THE_TESTS, 0)
    for page in [README, *sorted((ROOT / "docs").rglob("*.md"))]:
        for language, block in BLOCK.findall(page.read_text()):
            # Those in TypeScript on the other pages are programs of their own; one of Rust names its file, and cargo_new.py runs it.
            is_program = (language == "ts" and page != README) or block.startswith("// src/bin/")
            if language not in checked or is_program:
                continue
            if not stands_in_a_file(language, block):
                name = page.relative_to(ROOT)
                sys.exit(f"{name}: none of {', '.join(RUN_BY_THE_TESTS[language])} has:\n{block}")
            checked[language] += 1
    if missing := [language for language, count in checked.items() if not count]:
        sys.exit(f"expected an example in {', '.join(missing)}")
    print(f"{sum(checked.values())} passed, 0 failed")


if __name__ == "__main__":
    main()
