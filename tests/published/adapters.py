"""Holds the adapters on the SDKs to what they are: no rule of the guard stands in them, only in `mcp/src`.

What seals, opens or verifies, what a client is told, and which methods carry what, is the engine's.
"""

import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ADAPTERS = {
    "pkg/src/mcp": "*.ts",
    "bindings/python/src/sealwax/mcp": "*.py",
    "adapters/rmcp/src": "*.rs",
    "bindings/java/sealwax-mcp/src/main": "*.java",
    "bindings/go/mcp": "*.go",
}
NO_GUARD = re.compile(r"_test\.go$|go/internal/module/")
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


# What carries messages is read by mcp/src/wire. That the guard itself failed only the framework can say: 500.
WIRE_RULES = {
    "names a revision": re.compile(r"20\d\d-\d\d-\d\d"),
    "reads messages": re.compile(r"event-stream|[\"'`]notifications/|[\"'`]tools/call[\"'`]|[\"'`]jsonrpc[\"'`]"),
    "names a status": re.compile(
        r"(?<![\w.\-])(?:20[0-9]|4\d\d|50[1-9])(?![\w.]|\s*\*)"
        r"|http\.Status(?!OK|Text|InternalServerError)[A-Z]\w+|HTTPStatus\.(?!INTERNAL)|SC_(?!INTERNAL)[A-Z]+|StatusCode::(?!INTERNAL)[A-Z]\w+"
    ),
}
# What a store or a file of keys is told, and what its text says, is of mcp/src/ledger and src/key_ring.rs.
STORES = {
    **ADAPTERS,
    "pkg/src": "*.ts",
    "bindings/python/src/sealwax": "*.py",
    "bindings/go": "*.go",
    "bindings/java/sealwax/src/main": "*.java",
}
STORE_RULES = {
    "names what a store is told": re.compile(
        r"[\"'`](?:EVAL|EVALSHA|SCRIPT|WAIT|INFO|BEGIN|COMMIT|ROLLBACK)\b|\bPRAGMA\b|swk1_\w*(?!short)\W"
    ),
}
# What stands at an SDK's handlers, which give objects and no bytes, and what only a framework can say. A text may stand in a file.
KNOWN = {
    # The guard cancels its own question, and forgets a request that its client cancels.
    ("notifications/", "questions.ts"),
    ("notifications/", "transport/message.ts"),
    ("notifications/", "Questions.java"),
    ("notifications/", "_former/questions.py"),
    ("notifications/", "_former/streams.py"),
    # The engine asks for the server's own list.
    ("tools/list", "questions.ts"),
    ("tools/list", "_former/streams.py"),
    ("tools/list", "_handler/sdk.py"),
    ("tools/list", "handler/Exchange.java"),
    ("tools/list", "questions.go"),
    # A failure of a tool's handler is its result.
    ("tools/call", "handler/Exchange.java"),
    ("tools/call", "_former/streams.py"),
    ("tools/call", "_handler/sdk.py"),
    # rmcp's types have no method, and no place for a session.
    ("notifications/", "handler/sdk.rs"),
    ("tools/call", "handler/sdk.rs"),
    ("jsonrpc", "transport/echo.rs"),
    # go-sdk's own rule for the messages at its handlers.
    ("2026-07-28", "message/message.go"),
    # A database of the author's does not say where its file is.
    ("PRAGMA", "ledger/sqlite.ts"),
    # An address that is none makes no request.
    ("400", "transport/node.ts"),
}
# rmcp's types are those of their methods.
UNTYPED_RULES = {
    "says which methods carry something": re.compile(
        r"[\"'`](?:prompts/get|resources/read|(?!tools/)\w+/list)[\"'`]|nextCursor"
    ),
}


def adapter_rules(file: pathlib.Path) -> dict[str, re.Pattern[str]]:
    return {**RULES, **WIRE_RULES} if file.suffix == ".rs" else {**RULES, **WIRE_RULES, **UNTYPED_RULES}


def faults(file: pathlib.Path, rules: dict[str, re.Pattern[str]]) -> list[str]:
    """Return what stands in a file that should not."""
    text = file.read_text()
    code = NO_CODE.sub(lambda found: "\n" * found.group().count("\n"), text)
    return [
        f"{file.relative_to(ROOT)}:{code.count(chr(10), 0, found.start()) + 1}: {rule}: {found.group()}"
        for rule, pattern in rules.items()
        for found in pattern.finditer(code)
        if not any(text in found.group() and str(file).endswith(end) for text, end in KNOWN)
    ]


def finds_what_is_put_back() -> bool:
    """Return whether each word of the wire is found in an adapter, in its own language."""
    lines = {
        ".ts": "if (version >= '2025-11-25') return new Response(null, { status: 202 });",
        ".py": 'if kind.startswith(b"text/event-stream"): return Response(status_code=HTTPStatus.ACCEPTED)',
        ".go": 'if strings.HasPrefix(method, "notifications/") { w.WriteHeader(http.StatusAccepted) }',
        ".java": 'if ("tools/call".equals(method)) { response.setStatus(HttpServletResponse.SC_ACCEPTED); }',
        ".rs": 'let sent = json!({"jsonrpc": "2.0", "error": {"code": -32600}});',
    }
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        for suffix, line in lines.items():
            file = pathlib.Path(folder) / f"put_back{suffix}"
            file.write_text(line + "\n")
            if len(faults(file, adapter_rules(file))) < 2:
                return False
            file.write_text("send('EVALSHA', digest, `1`)\n")
            if not faults(file, STORE_RULES):
                return False
    return True


def files_of(folders: dict[str, str]) -> list[pathlib.Path]:
    files = [file for folder, kind in folders.items() for file in sorted((ROOT / folder).rglob(kind))]
    if len(files) < 30:
        sys.exit(f"adapters: found {len(files)} files only")
    return [file for file in files if not NO_GUARD.search(str(file))]


def main() -> None:
    found = [fault for file in files_of(ADAPTERS) for fault in faults(file, adapter_rules(file))]
    found += [fault for file in files_of(STORES) for fault in faults(file, STORE_RULES)]
    if found:
        sys.exit("\n".join(found))
    if not finds_what_is_put_back():
        sys.exit("adapters: expected to find what was put back")


if __name__ == "__main__":
    main()
