"""Requests over HTTP and lines over a socket, as a client sends them."""

import http.client
import json
import socket

MODERN, LEGACY = "2026-07-28", "2025-11-25"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "client", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}
INITIALIZE = {
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": LEGACY, "clientInfo": {"name": "client", "version": "1"}, "capabilities": {}},
}
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
#: How long an answer may take, in seconds.
PATIENCE = 60


def framed(message, modern):
    """Return a message as it is on the wire."""
    made = {"jsonrpc": "2.0", **message}
    if modern and "method" in made:
        params = made.get("params") or {}
        made["params"] = {**params, "_meta": {**ENVELOPE, **(params.get("_meta") or {})}}
    return made


def told(message):
    """Return what a message says, without what the SDK says of the server in each."""
    found = {name: message[name] for name in ("result", "error") if name in message}
    result = found.get("result")
    if isinstance(result, dict) and isinstance(result.get("_meta"), dict):
        result["_meta"].pop(SERVER_INFO, None)
        if not result["_meta"]:
            del result["_meta"]
    return found


def by_http(port, path, method, headers, message, modern):
    """Send a request; return status, headers and message of its answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    body = b"" if not message else json.dumps(framed(message, modern)).encode()
    connection.putrequest(method, path)
    sent = {"Accept": "application/json, text/event-stream", "Content-Length": str(len(body))}
    if body:
        sent["Content-Type"] = "application/json"
    if modern:
        params = message.get("params", {})
        sent |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": message["method"]}
        name = params.get("name", params.get("uri"))
        if isinstance(name, str):
            sent["Mcp-Name"] = name
    for name, value in [*sent.items(), *headers.items()]:
        if modern and name.lower() == "mcp-protocol-version" and value is not MODERN:
            continue
        for one in value if isinstance(value, list) else [value]:
            connection.putheader(name, one)
    connection.endheaders(body)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    answered = {"status": response.status, "headers": {k.lower(): v for k, v in response.getheaders()}}
    answer = last_message(text)
    if answer is not None:
        # Without a message there is no id to answer.
        if message and answer.get("id") not in (message.get("id"), None):
            raise OSError(f"expected the answer to {message}, found {answer}")
        answered["message"] = told(answer)
    return answered


def last_message(text):
    """Return the last message of a body, be it JSON or events."""
    found = None
    for line in [text, *text.splitlines()]:
        try:
            value = json.loads(line.removeprefix("data:"))
        except ValueError:
            continue
        if isinstance(value, dict):
            found = value
    return found


class Lines:
    """A stream of messages to a server and back."""

    def __init__(self, port, elicited):
        """`elicited` takes the params of `elicitation/create`, and returns what answers it."""
        self._elicited = elicited
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._file = self._socket.makefile("rw", encoding="utf-8", newline="\n")
        self._asked = 0

    def send(self, message, modern):
        self._file.write(json.dumps(framed(message, modern)) + "\n")
        self._file.flush()

    def hear(self):
        while line := self._file.readline():
            heard = json.loads(line)
            if heard.get("method") != "elicitation/create":
                return heard
            self.send({"id": heard["id"], **self._elicited(heard["params"])}, False)
        raise OSError("the server closed the stream")

    def answer(self, message, modern):
        """Send a message; return its answer, if it has one before the next one's."""
        self.send(message, modern)
        if "id" not in message or "method" not in message:
            # Lines are served in their order, and this one is answered whatever it is.
            self._asked += 1
            ping = f"settled {self._asked}"
            self.send({"id": ping, "method": "ping"}, False)
            heard = self.hear()
            if heard.get("id") == ping:
                return None
            self.hear()
            return told(heard)
        heard = self.hear()
        if heard.get("id") != message["id"]:
            raise OSError(f"expected the answer to {message['id']!r}, found {heard}")
        return told(heard)

    def close(self):
        self._file.close()
        self._socket.close()
