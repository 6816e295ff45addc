"""Holds the adapters on the SDKs to what they are: no rule of the guard stands in them, only in `mcp/src`.

What seals, opens or verifies, what a client is told, and which methods carry what, is the engine's.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ADAPTERS = {
    "pkg/src/mcp": "*.ts",
    "bindings/python/src/sealwax/mcp": "*.py",
    "adapters/rmcp/src": "*.rs",
    "bindings/java/sealwax-mcp/src/main": "*.java",
    "bindings/go/mcp": "*.go",
}
NO_GUARD = re.compile(r"_test\.go$")
# Comments of any of them, and Python's docstrings.
NO_CODE = re.compile(r'"""[\s\S]*?"""|/\*[\s\S]*?\*/|//[^\n]*|^\s*#[^\n]*', re.MULTILINE)
# What stands in an adapter is an act that the engine is asked for, by the name that authors know.
ASKED = r"(?:acting|self|os)"
RULES = {
    "seals or opens": re.compile(
        rf"(?<!\w)(?!{ASKED}\.)[\w)\]?]+\.(?:seal|open|verify|renew)(?!_ledger|Ledger|_state|State)(?:_\w+|[A-Z]\w*)?\("
    ),
    "names what seals": re.compile(r"\b(?:Sealer|View|requestContext|sealwax::RequestContext)\b"),
    "says what clients are told": re.compile(
        r"-32\d{3}|Invalid or expired|Session (?:not found|required)|Invalid cursor|Method not found|Bad Request"
        r"|Header mismatch|handle is not valid"
    ),
}


# rmcp's types are those of their methods. The engine asks for `tools/list` by a question.
UNTYPED_RULES = {
    "says which methods carry something": re.compile(r"[\"'`](?:prompts/get|resources/read|(?!tools/)\w+/list)[\"'`]|nextCursor"),
}


def faults(file: pathlib.Path) -> list[str]:
    """Return what stands in a file that should not."""
    rules = RULES if file.suffix == ".rs" else {**RULES, **UNTYPED_RULES}
    text = file.read_text()
    code = NO_CODE.sub(lambda found: "\n" * found.group().count("\n"), text)
    return [
        f"{file.relative_to(ROOT)}:{code.count(chr(10), 0, found.start()) + 1}: {rule}: {found.group()}"
        for rule, pattern in rules.items()
        for found in pattern.finditer(code)
    ]


def main() -> None:
    files = [file for folder, kind in ADAPTERS.items() for file in sorted((ROOT / folder).rglob(kind))]
    if len(files) < 30:
        sys.exit(f"adapters: found {len(files)} files only")
    found = [fault for file in files if not NO_GUARD.search(str(file)) for fault in faults(file)]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
