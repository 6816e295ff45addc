"""Every example of the README stands, to the letter, in a file that the tests run.

The Rust ones run as they stand in the README, as the crate's own documentation.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN_BY_THE_TESTS = {
    "ts": "pkg/examples/quickstart.mjs",
    "python": "bindings/python/examples/quickstart.py",
    "c": "bindings/c/examples/quickstart.c",
}


def main():
    readme = (ROOT / "README.md").read_text()
    blocks = re.findall(r"^```(\w+)[^\n]*\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    languages = {language for language, _ in blocks}
    if missing := (set(RUN_BY_THE_TESTS) | {"rust"}) - languages:
        sys.exit(f"the README has no example in {missing}")
    checked = 0
    for language, block in blocks:
        if language in RUN_BY_THE_TESTS:
            file = RUN_BY_THE_TESTS[language]
            if block not in (ROOT / file).read_text():
                sys.exit(f"README.md and {file} differ at:\n{block}")
            checked += 1
    print(f"{checked} passed, 0 failed")


if __name__ == "__main__":
    main()
