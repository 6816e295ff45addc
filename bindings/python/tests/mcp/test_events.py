"""What a guard tells: a hook that raises, a record's fields, and OpenTelemetry's metrics."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
import wire
from carriers import STATE
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import REGISTRY
from shop import KEYS, served

import sealwax
from sealwax.mcp import Refusal, TokenEvent
from sealwax.otel import instruments

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.anyio
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
