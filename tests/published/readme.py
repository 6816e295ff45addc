"""Every example of the README stands, to the letter, in a file that the tests run.

The Rust ones run as they stand in the README, as the crate's own documentation; but for those on
rmcp, which are marked `ignore` there, for the crate does without it. Where an example leaves lines
out, a comment of `…` alone says so.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN_BY_THE_TESTS = {
    "ts": ["pkg/examples/quickstart.mjs", "examples/notes.ts", "examples/sessions.ts"],
    "python": ["bindings/python/examples/quickstart.py", "examples/notes.py", "examples/sessions.py"],
    "c": ["bindings/c/examples/quickstart.c"],
    "rust,ignore": ["examples/notes.rs", "examples/sessions.rs"],
}
LEFT_OUT = re.compile(r"^ *(?://|#) …\n", re.MULTILINE)


def main():
    readme = (ROOT / "README.md").read_text()
    blocks = re.findall(r"^```([\w,]+)\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    languages = {language for language, _ in blocks}
    if missing := (set(RUN_BY_THE_TESTS) | {"rust"}) - languages:
        sys.exit(f"the README has no example in {missing}")
    checked = 0
    for language, block in blocks:
        if language in RUN_BY_THE_TESTS:
            files = {name: (ROOT / name).read_text() for name in RUN_BY_THE_TESTS[language]}
            parts = [part.strip("\n") for part in LEFT_OUT.split(block)]
            if not any(all(part in text for part in parts) for text in files.values()):
                sys.exit(f"README.md and {' or '.join(files)} differ at:\n{block}")
            checked += 1
    print(f"{checked} passed, 0 failed")


if __name__ == "__main__":
    main()
