"""What is published says in one sentence what it is, and everywhere in the same one: that of Cargo.toml.

Each file of PLACES has it in its first lines, however they are wrapped or marked as a comment. A package adds its own part after it.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIRST_LINES = 20
#: Of all; of Rust, TypeScript (whose page is README.md), Python, Go, Java, C.
PLACES = """
    README.md docs/index.md docs/.vitepress/config.mjs .github/ISSUE_TEMPLATE/config.yml inspector/index.html cli/commands.json
    src/README.md mcp/src/lib.rs mcp/README.md cli/README.md adapters/rmcp/README.md
    mcp/Cargo.toml cli/Cargo.toml adapters/rmcp/Cargo.toml bindings/c/Cargo.toml bindings/wasm/Cargo.toml
    pkg/package.json
    bindings/python/pyproject.toml bindings/python/README.md bindings/python/src/sealwax/__init__.py
    bindings/go/README.md bindings/go/doc.go
    bindings/java/README.md bindings/java/pom.xml
    bindings/c/README.md bindings/c/include/sealwax.h bindings/c/sealwax.pc.in
"""
MARKS = re.compile(r"\s*\n\s*(?://!?|#)?\s*")


def main():
    tagline = re.search(r'^description = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    # It may stand behind a name: "Sealwax seals …".
    pattern = re.compile(f"[{tagline[0]}{tagline[0].lower()}]{re.escape(tagline[1:])}")
    places = PLACES.split()
    for place in places:
        lines = (ROOT / place).read_text().splitlines()[:FIRST_LINES]
        if not pattern.search(MARKS.sub(" ", "\n".join(lines))):
            sys.exit(f"{place}: expected in its first {FIRST_LINES} lines: {tagline}")
    print(f"{len(places)} passed, 0 failed")


if __name__ == "__main__":
    main()
