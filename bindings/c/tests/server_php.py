"""Calls examples/php/server.php: server_php.py LIBRARY. A page and the next, a question and its answer, and what is forged."""

import hashlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/driver"))

import wire  # noqa: E402


def users(*names):
    """Return users by the digests of their bearer tokens, which are their names."""
    return json.dumps({hashlib.sha256(name.encode()).hexdigest(): name for name in names})


def start(library, notes):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    keys = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"  # the first of the vectors
    given = {"SEALWAX_LIBRARY": library, "SEALWAX_KEYS": keys, "NOTES": notes, "NOTES_USERS": users("alice", "bob")}
    command = ["php", "-d", "ffi.enable=1", "-S", f"127.0.0.1:{port}", str(ROOT / "examples/php/server.php")]
    server = subprocess.Popen(command, env=os.environ | given, stderr=subprocess.PIPE, text=True)
    # A minute, for a machine that is busy.
    for _ in range(1200):
        if server.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, port
        except OSError:
            time.sleep(0.05)
    server.kill()
    sys.exit(f"server.php does not listen: {server.communicate()[1]}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        server, port = start(sys.argv[1], f"{folder}/deleted")
        try:
            play(port)
        finally:
            server.terminate()
            log = server.communicate()[1]
    refused = [line.split("sealwax: ")[1].split(" method=")[0] for line in log.splitlines() if "sealwax: " in line]
    same(["malformed kind=cursor", "unauthentic kind=request-state", "principal_mismatch kind=request-state"], refused)
    print("PHP: a page and the next, asked and answered; what is forged is refused, and logged")


def same(expected, found):
    if found != expected:
        sys.exit(f"server.php: expected {expected!r}, found {found!r}")


def play(port):
    def call(method, user="alice", headers=None, **params):
        message = {"id": 1, "method": method, "params": params}
        headers = {"Authorization": f"Bearer {user}"} | (headers or {})
        return wire.by_http(port, "/mcp", "POST", headers, message, True)

    def result(*args, **params):
        answered = call(*args, **params)
        same(200, answered["status"])
        return answered["message"]["result"]

    def refused(status, code, message, *args, **params):
        answered = call(*args, **params)
        error = answered["message"]["error"]
        same((status, code, message), (answered["status"], error["code"], error["message"]))

    first = result("resources/list")
    second = result("resources/list", cursor=first["nextCursor"])
    same([*range(1, 21)], [int(one["uri"].split("/")[-1]) for one in first["resources"] + second["resources"]])
    refused(400, -32602, "Invalid cursor", "resources/list", cursor="20")

    seven = {"name": "delete_note", "arguments": {"id": 7}}
    asked = result("tools/call", **seven)
    same("Delete note 7?", asked["inputRequests"]["confirm"]["params"]["message"])
    answer = {
        "requestState": asked["requestState"],
        "inputResponses": {"confirm": {"action": "accept", "content": {"confirm": True}}},
    }
    eight = {"name": "delete_note", "arguments": {"id": 8}}
    refused(400, -32602, "Invalid or expired requestState", "tools/call", **eight, **answer)
    refused(400, -32602, "Invalid or expired requestState", "tools/call", "bob", **seven, **answer)
    same("note 7 deleted", result("tools/call", **seven, **answer)["content"][0]["text"])
    left = result("resources/list")["resources"]
    same([1, 2, 3, 4, 5, 6, 8, 9, 10, 11], [int(one["uri"].split("/")[-1]) for one in left])

    same(401, call("tools/list", "mallory")["status"])
    same(403, call("tools/list", headers={"Origin": "https://evil.example"})["status"])
    refused(404, -32601, "Method not found", "demo/play")
    same(400, wire.by_http(port, "/mcp", "POST", {"Authorization": "Bearer alice"}, None, False)["status"])


main()
