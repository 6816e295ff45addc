"""The servers of the pages that take the user from an access token: one for another service, or without an end, is a 401.

Usage: python3 tests/published/over_http.py WORK NODE PYTHON, after snippets.py with the same ones, by the Python with the SDK.

They run as they stand there, but for the address of the identity provider, which is here. (That of Rust is an example of
sealwax-rmcp, and among its tests.)
"""

import json
import pathlib
import re
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from snippets import key

ISSUER, AUDIENCE = "https://idp.example.com", "https://notes.example.com"
SECRET = rsa.generate_private_key(public_exponent=65537, key_size=2048)
SERVE = """import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { notes } from './first_steps.mts';
const fetch = notes({ keys: process.env.SEALWAX_KEYS, issuer: 'https://idp.example.com' });
const http = createServer(toNodeHandler({ fetch }));
http.listen(0, '127.0.0.1', () => console.error(`running on http://127.0.0.1:${http.address().port}`));
"""


class Provider(BaseHTTPRequestHandler):
    """An identity provider that tells its public key."""

    def do_GET(self):
        public = {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(SECRET.public_key())), "kid": "1", "alg": "RS256"}
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"keys": [public]}).encode())

    def log_message(self, *_):
        pass


@contextmanager
def running(command, work):
    """Run a server that tells on stderr where it listens."""
    with subprocess.Popen(
        command, cwd=work, stderr=subprocess.PIPE, text=True, env={"SEALWAX_KEYS": key(), "PATH": ""}
    ) as process:
        told = []
        for line in process.stderr:
            told.append(line)
            if found := re.search(r"running on (http://127\.0\.0\.1:\d+)", line):
                # Nobody else reads what it logs, and a full pipe would stop it.
                threading.Thread(target=process.stderr.read, daemon=True).start()
                yield f"{found[1]}/mcp"
                process.kill()
                return
        sys.exit(f"{command}: ended before it listened:\n{''.join(told)}")


def statuses(url, issuer):
    """Yield what a token lacks, and the status of a request with it."""
    claims = {"iss": issuer, "aud": AUDIENCE, "sub": "alice", "client_id": "app", "exp": int(time.time()) + 600}
    without = {name: {**claims, name: None} for name in ("exp", "aud", "iss")}
    other = {"aud": {**claims, "aud": "https://other.example.com"}, "exp": {**claims, "exp": 1}}
    tokens = {
        "nothing": claims,
        **{f"its {name}": told for name, told in without.items()},
        **{f"a good {name}": told for name, told in other.items()},
    }
    headers = {"accept": "application/json, text/event-stream"}
    for lacks, told in tokens.items():
        told = {name: claim for name, claim in told.items() if claim is not None}
        token = jwt.encode(told, SECRET, algorithm="RS256", headers={"kid": "1"})
        headers["authorization"] = f"Bearer {token}"
        begin = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}
        yield lacks, httpx2.post(url, json=message, headers=headers, timeout=30).status_code


def main(work, node, python):
    work = pathlib.Path(work)
    provider = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    issuer = f"http://127.0.0.1:{provider.server_port}"
    (work / "serve.mjs").write_text(SERVE.replace(ISSUER, issuer))
    recipes = (pathlib.Path(__file__).parents[2] / "docs/recipes/index.md").read_text()
    (work / "docs_start_recipes.mts").write_text(
        re.search(r"^```ts\n// notes\.ts\n(.*?)^```$", recipes, re.M | re.S)[1]
    )
    commands = {
        ".py": [python, "-m", "uvicorn", "first_steps:app", "--port", "0", "--no-access-log"],
        ".mts": [str(pathlib.Path(node).resolve()), "serve.mjs"],
    }
    for suffix, command in commands.items():
        [program] = [file for file in work.glob(f"docs_start_*{suffix}") if ISSUER in file.read_text()]
        (work / f"first_steps{suffix}").write_text(program.read_text().replace(ISSUER, issuer))
        with running(command, work) as url:
            found = dict(statuses(url, issuer))
        expected = {lacks: 200 if lacks == "nothing" else 401 for lacks in found}
        if found != expected:
            sys.exit(f"{program.name}: expected {expected}, found {found}")
    print(f"{len(commands)} servers: {len(commands)} passed, 0 failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
