"""What a guard tells of its tokens: to a hook, and as metrics by the SDK of OpenTelemetry."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import wire
from carriers import CARRIERS, Cursor, Handle, HandleState, RequestState
from data_layer import call, created, meta
from data_layer import served as served_with_sessions
from guarded import KEYS, SYSTEMS, served
from ledgers import Wrapped, memory
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import REGISTRY

import sealwax
import sealwax.ledger
from sealwax.mcp import GuardEvent, Refusal
from sealwax.otel import instruments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sealwax.ledger import Command

pytestmark = pytest.mark.anyio
KEY_ID = sealwax.inspect(KEYS).key_id
ALICE = wire.principal("alice")


def event(what: Any, kind: Any, target: str | None, **more: Any) -> GuardEvent:
    """Return an event of Alice's, without what differs each time."""
    method = "tools/call" if target else "resources/list"
    both = {"principal": ALICE, "method": method, "target": target, "key_id": KEY_ID, **more}
    return GuardEvent(what, kind, 0, **both)


def without(events: list[GuardEvent]) -> list[GuardEvent]:
    """Return what was heard, without what differs each time."""
    found = [one._replace(micros=0, id=None) for one in events]
    assert all(0 <= one.micros < 20e6 for one in events)
    assert all(len(one.id or "") == 32 for one in events)
    events.clear()
    return found


@SYSTEMS
async def test_a_hook_hears_of_each_token_once(system: str) -> None:
    heard: list[GuardEvent] = []
    ledger = sealwax.ledger.Memory()
    async with served(system, on_event=heard.append, ledger=ledger) as of:
        state, cursor = RequestState(), Cursor()
        good = await state.good(of.client)
        assert [one.id for one in heard] == [sealwax.inspect(good).token_id]
        assert without(heard) == [event("sealed", "request-state", "ask")]
        assert state.taken(await state.present(of.client, good))
        opened = without(heard)
        assert opened[0].age is not None
        assert 0 <= opened[0].age < 60
        assert opened == [event("opened", "request-state", "ask", age=opened[0].age)]
        # It is used.
        assert "error" in await state.present(of.client, good)
        assert of.codes == ["used"]
        assert without(heard) == []

        assert cursor.taken(await cursor.present(of.client, await cursor.good(of.client)))
        assert [(one.event, one.kind, one.target) for one in without(heard)][:2] == [
            ("sealed", "cursor", None),
            ("opened", "cursor", None),
        ]

        for carrier in CARRIERS:
            if not isinstance(carrier, Handle):
                continue
            handle = await carrier.good(of.client)
            assert carrier.taken(await carrier.present(of.client, handle))
            await of.client.call_tool(carrier.end, {"handle": handle})
            assert (await carrier.present(of.client, handle))["isError"]
            found = without(heard)
            assert [one.event for one in found] == ["sealed", "opened", "ended"]
            assert {one.kind for one in found} == {carrier.kind}
            keys = {KEY_ID} if isinstance(carrier, HandleState) else {None}
            assert {one.key_id for one in found} == keys

        await of.shop.guard.revoke(ALICE)
        (revoked,) = heard
        assert (revoked.event, revoked.principal, revoked.id) == ("revoked", ALICE, None)


async def test_the_time_is_that_of_the_message_or_of_the_result() -> None:
    heard: list[GuardEvent] = []

    class Slow(Wrapped):
        async def changed(self, command: Command, reply: list[str]) -> list[str]:
            await anyio.sleep(0.1)
            return reply

    async with served(ledger=Slow(memory()), on_event=heard.append) as of:
        state = RequestState()
        assert state.taken(await state.present(of.client, await state.good(of.client)))
    sealed, opened = (one.micros for one in heard)
    assert opened >= 100_000
    assert sealed < opened


async def test_a_hook_that_raises_changes_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: GuardEvent) -> None:
        raise KeyError("a secret")

    async with served(on_event=broken) as of:
        state = RequestState()
        assert state.taken(await state.present(of.client, await state.good(of.client)))
    ours = [one for one in caplog.records if one.name == "sealwax.mcp"]
    assert [one.levelno for one in ours] == [logging.ERROR] * 2
    for one in ours:
        assert "on_event: expected a function that does not raise, found KeyError" in one.msg
        assert "a secret" not in one.msg


async def test_a_refusal_has_fields_in_the_record(caplog: pytest.LogCaptureFixture) -> None:
    async with served() as of:
        await RequestState().present(of.client, "no token")
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
    heard: list[GuardEvent] = []
    refused: list[Refusal] = []
    hooks = instruments(meter, on_event=heard.append, on_refused=refused.append)
    async with served(**hooks) as of:
        state = RequestState()
        assert state.taken(await state.present(of.client, await state.good(of.client)))
        await state.present(of.client, "no token")
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
        hooks["on_event"](GuardEvent("sealed", "cursor", 7, **custom))
    counted = {name: value for name, value in scraped().items() if "_total" in name}
    assert counted == {
        f"sealwax_tokens_total {more} sealwax_kind=cursor": 2
        for more in (
            "error_type=malformed mcp_method_name=_OTHER sealwax_event=refused",
            "mcp_method_name=_OTHER sealwax_event=sealed",
        )
    }


async def test_sessions_are_events_too() -> None:
    heard: list[GuardEvent] = []
    hook = {"on_event": heard.append}
    async with served_with_sessions("mcpserver", "2026-07-28", guard=hook) as of:
        session = await created(of.client)
        await call(of.client, "peek", session)
    assert [(one.event, one.kind, one.method) for one in heard][:2] == [
        ("sealed", "session", "sessions/create"),
        ("opened", "session", "tools/call"),
    ]
    assert meta(session)
