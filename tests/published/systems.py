"""Every test that docs/systems.md names exists, in the language of its column."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = {
    "TypeScript": ["pkg/test"],
    "Python": ["bindings/python/tests/mcp"],
    "Rust": ["bindings/rmcp/tests"],
}


def main():
    tests = {
        column: "".join(
            f"{file.name}\n{file.read_text()}"
            for folder in folders
            for file in sorted((ROOT / folder).rglob("*"))
            if file.suffix in {".mjs", ".py", ".rs"} and "node_modules" not in file.parts
        )
        for column, folders in COLUMNS.items()
    }
    columns, checked = [], 0
    for line in (ROOT / "docs/systems.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if "TypeScript" in cells:
            columns = cells
        if not line.startswith("| ") or "TypeScript" in cells:
            continue
        for column, cell in zip(columns, cells, strict=True):
            for name in re.findall("`([^`]+)`", cell) if column in COLUMNS else []:
                checked += 1
                if name not in tests[column]:
                    sys.exit(f"docs/systems.md names a test that {column} has not: {name}")
    print(f"{checked} passed, 0 failed")


if __name__ == "__main__":
    main()
