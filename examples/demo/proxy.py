"""A proxy on loopback that hands each request to the next server."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from urllib.parse import urlsplit

from servers import Server

#: What belongs to one connection, and is not passed on (RFC 9110 §7.6.1).
HOP_BY_HOP = {"connection", "host", "keep-alive", "transfer-encoding", "content-length", "te", "upgrade"}


class RoundRobin:
    """Serves `url` from `with` on; `seen(server, method)` is told of each JSON-RPC request."""

    def __init__(self, servers: list[Server], seen: Callable[[Server, str], None]) -> None:
        self.servers = servers
        #: The last tool's call: its path, its headers and its body.
        self.last_call: tuple[str, dict[str, str], bytes] | None = None
        self._seen = seen
        self._turn = 0
        self._lock = Lock()

    def __enter__(self) -> RoundRobin:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                proxy.forward(self)

            do_DELETE = do_GET = do_POST = answer

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}/mcp"
        Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def forward(self, request: BaseHTTPRequestHandler) -> None:
        """Pass a request on, and what comes back as it comes, for it may be a stream of events."""
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
        if method_of(body) == "tools/call":
            self.last_call = (request.path, headers, body)
        server, response = self._ask(request.command, request.path, headers, body)
        if response is None:
            request.send_error(503, "no server is up")
            return
        self._seen(server, method_of(body) or request.command)
        request.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in HOP_BY_HOP:
                request.send_header(name, value)
        request.send_header("Connection", "close")
        request.close_connection = True
        request.end_headers()
        # A replica that is killed, or a client that leaves, ends a stream of events in its middle.
        with suppress(http.client.IncompleteRead, ConnectionError):
            while chunk := response.read1():
                request.wfile.write(chunk)
                request.wfile.flush()

    def _ask(
        self, command: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[Server, http.client.HTTPResponse | None]:
        for _ in self.servers:
            with self._lock:
                server = self.servers[self._turn % len(self.servers)]
                self._turn += 1
            connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
            try:
                connection.request(command, path, body or None, headers)
                return server, connection.getresponse()
            except ConnectionError:
                continue  # it is down: the next one takes the request
        return server, None


def method_of(body: bytes) -> str | None:
    """Return the method of a JSON-RPC message, if it is a request."""
    try:
        message = json.loads(body)
    except ValueError:
        return None
    return message.get("method") if isinstance(message, dict) else None
