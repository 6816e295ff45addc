"""What a guard tells: its log's lines and where they go, a record's fields, and OpenTelemetry's.

Nothing that a client sent is in a log as it came.
"""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
import wire
from carriers import STATE, call, carried, created, meta
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import REGISTRY
from shop import KEYS, served, view

import sealwax
from sealwax.mcp import Refusal, TokenEvent
from sealwax.otel import instruments

if TYPE_CHECKING:
    from collections.abc import Iterator


pytestmark = pytest.mark.anyio
#: No text, and deeper than the engine reads.
ODD: list[Any] = ["\ud800", float("nan"), json.loads("[" * 200 + "]" * 200)]
NASTY = "x\n\x1b[31mred\r\u2028\u00e9" + "A" * 300


async def test_no_log_holds_what_a_client_sent_raw(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "sealwax.mcp")
    async with served(shop={"sessions": {}}, mode="legacy") as of:
        session = await created(of.client)
        for method, params in [
            (NASTY, meta({"sessionId": NASTY, "state": NASTY})),
            ("tools/call", {"name": NASTY, "requestState": NASTY}),
            ("tools/call", {"name": "ask", "arguments": {NASTY: 2**60}, "requestState": NASTY}),
            ("prompts/get", {"name": {NASTY: 1}, "requestState": NASTY}),
            ("resources/read", {"uri": [NASTY], "requestState": "sw1." + NASTY}),
            ("tools/list", {"cursor": NASTY}),
            ("tools/list", meta({**session, "state": {NASTY: NASTY}})),
            ("sessions/delete", {"meta": NASTY}),
        ]:
            told = await of.raw(method, params, revision=wire.LEGACY)
            assert "error" in told or told["result"]["isError"]
        # What the SDK reads in this revision alone.
        for member, odd in product(("state", "sessionId"), ODD):
            told = await of.raw("tools/list", meta({**session, member: odd}))
            assert told["error"]["code"] == -32043
        ours = [one.getMessage() for one in caplog.records if one.name == "sealwax.mcp"]
        assert len(ours) == len(of.refusals) >= 12
        assert all(said.isascii() for said in ours)
        for said in [*ours, *(refusal.message for refusal in of.refusals)]:
            assert said.isprintable()
            assert len(said) < 500
            assert "A" * 65 not in said


async def test_what_a_session_shows_of_itself() -> None:
    """Neither its id nor its value stands in what a log would print."""
    seen = list[Any]()

    async def it(ctx: Any) -> dict[str, Any]:
        session = of.shop.sessions.of(ctx)
        assert session is not None
        shown = f"{session!r}{session}"
        assert session.ulid in shown
        assert session.id not in shown
        assert session.value not in shown
        session.write("another secret")
        seen.extend((session.id, session.value, session.fork()))
        return {}

    sessions = view().sessions()
    metadata = sessions.create(b'"secret"')
    async with served("lowlevel", it, shop={"sessions": {}}) as of:
        told = await call(of.client, "it", metadata)
    identity, value, fork = seen
    assert (identity, value) == (metadata["sessionId"], "another secret")
    assert sessions.open({**metadata, **carried(told)}).json() == "another secret"
    assert sessions.open(fork).json() == "another secret"
    assert fork["sessionId"] != identity


#: A logger that warns, in a process whose logging was set up so.
PROGRAM = """
import logging, sys
from sealwax import _log
{set_up}
logger = logging.getLogger("sealwax.mcp")
_log.write(logger, logging.WARNING, "sealwax: 100%d " + "x" * 200, {{"code": "expired"}})
"""
LINE = f"sealwax: 100%d {'x' * 200}"
BY_DEFAULT = re.compile(rf"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{3}}Z WARN {LINE}\n")
#: As sealwax writes it; as the program does.
DEFAULT, NOTHING = BY_DEFAULT, re.compile("")
SHOWN = re.compile(rf"WARNING expired {LINE}\n")


@pytest.mark.parametrize(
    ("set_up", "expected"),
    [
        ("", DEFAULT),
        ("from mcp.server import MCPServer; MCPServer('x')", DEFAULT),
        ("sys.modules['rich'] = None; from mcp.server import MCPServer; MCPServer('x')", DEFAULT),
        ("from fastmcp import FastMCP; FastMCP('x')", DEFAULT),
        ("logging.basicConfig(format='%(levelname)s %(sealwax_code)s %(message)s')", SHOWN),
        ("logging.basicConfig(filename='/dev/null', format='%(message)s')", NOTHING),
        ("logging.getLogger('sealwax').addHandler(logging.NullHandler())", NOTHING),
        ("logging.getLogger('sealwax').setLevel(logging.ERROR)", NOTHING),
        ("logging.disable()", NOTHING),
        ("sys.stderr.close()", NOTHING),
        ("sys.stderr = None", NOTHING),
    ],
)
def test_where_a_line_goes(set_up: str, expected: re.Pattern[str]) -> None:
    program = PROGRAM.format(set_up=set_up)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "")
    assert expected.fullmatch(run.stderr)


@pytest.mark.parametrize(
    ("set_up", "is_shown"), [("", True), ("logging.getLogger().setLevel(logging.ERROR)", False)]
)
def test_that_keys_changed_is_shown_unless_the_program_chose_a_level(
    set_up: str, is_shown: bool
) -> None:
    program = PROGRAM.format(set_up=set_up).replace("WARNING", "INFO")
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (" INFO sealwax: " in run.stderr) == is_shown


KEY_ID = sealwax.inspect(KEYS).key_id
ALICE = wire.principal("alice")


async def test_a_refusal_has_fields_in_the_record(caplog: pytest.LogCaptureFixture) -> None:
    async with served() as of:
        await STATE.present(of.client, "no token")
    (record,) = (one for one in caplog.records if one.name == "sealwax.mcp")
    fields = {name: of for name, of in vars(record).items() if name.startswith("sealwax_")}
    assert fields.pop("sealwax_time").endswith("Z")
    assert fields.pop("sealwax_message")
    assert fields == {
        "sealwax_level": "warn",
        "sealwax_code": "malformed",
        "sealwax_kind": "request-state",
        "sealwax_method": "tools/call",
        "sealwax_target": "ask",
        "sealwax_issuer": ALICE.issuer,
        "sealwax_client": ALICE.client,
        "sealwax_subject": "alice",
    }
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith("sealwax: malformed kind=request-state method=")


@pytest.fixture
def meter() -> Iterator[Any]:
    """Give a meter whose metrics are in the registry of Prometheus' client."""
    provider = MeterProvider([PrometheusMetricReader()])
    yield provider.get_meter("sealwax")
    provider.shutdown()


def scraped() -> dict[str, float]:
    """Return each series that Prometheus reads, but those of buckets."""
    found = {}
    for family in REGISTRY.collect():
        for sample in family.samples:
            if sample.name.startswith("sealwax") and not sample.name.endswith(("_bucket", "_sum")):
                # An empty label is none.
                labels = {name: of for name, of in sorted(sample.labels.items()) if of}
                own = [f"{name}={of}" for name, of in labels.items() if "otel_" not in name]
                found[" ".join([sample.name, *own])] = sample.value
    return found


async def test_the_metrics_have_the_names_that_prometheus_is_asked_for(meter: Any) -> None:
    heard: list[TokenEvent] = []
    refused: list[Refusal] = []
    hooks = instruments(meter, on_event=heard.append, on_refused=refused.append)
    async with served(**hooks) as of:
        assert STATE.taken(await STATE.present(of.client, await STATE.good(of.client)))
        await STATE.present(of.client, "no token")
    kind, method = "sealwax_kind=request-state", "mcp_method_name=tools/call"
    key = f"sealwax_key_id={KEY_ID} {kind}"
    assert scraped() == {
        f"sealwax_tokens_total {method} sealwax_event=sealed {key}": 1,
        f"sealwax_tokens_total {method} sealwax_event=opened {key}": 1,
        f"sealwax_tokens_total error_type=malformed {method} sealwax_event=refused {kind}": 1,
        f"sealwax_token_age_seconds_count {kind}": 1,
        f"sealwax_guard_duration_seconds_count sealwax_event=sealed {kind}": 1,
        f"sealwax_guard_duration_seconds_count sealwax_event=opened {kind}": 1,
    }
    assert [one.event for one in heard] == ["sealed", "opened"]
    assert [one.code for one in refused] == ["malformed"]
    edges: dict[str, list[str]] = {}
    for family in REGISTRY.collect():
        for sample in family.samples:
            if sample.name.endswith("_bucket") and sample.labels.get("sealwax_event") != "opened":
                edges.setdefault(sample.name, []).append(sample.labels["le"])
    durations = edges["sealwax_guard_duration_seconds_bucket"]
    assert [float(edge) for edge in durations[:3]] == [1e-5, 2.5e-5, 5e-5]
    assert float(durations[-2]) == 1
    assert float(edges["sealwax_token_age_seconds_bucket"][-2]) == 30 * 86_400


def test_a_method_that_a_client_invented_is_no_value_of_a_label(meter: Any) -> None:
    hooks = instruments(meter)
    for method in ("acme/1", "acme/2"):
        custom: Any = {"method": method, "custom_method": True}
        hooks["on_refused"](Refusal("malformed", "cursor", "no token", **custom))
        hooks["on_event"](TokenEvent("sealed", "cursor", 7, **custom))
    counted = {name: value for name, value in scraped().items() if "_total" in name}
    assert counted == {
        f"sealwax_tokens_total {more} sealwax_kind=cursor": 2
        for more in (
            "error_type=malformed mcp_method_name=_OTHER sealwax_event=refused",
            "mcp_method_name=_OTHER sealwax_event=sealed",
        )
    }
