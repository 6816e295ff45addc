"""Metrics of a guard by OpenTelemetry: ``pip install 'sealwax[otel]'``, and an SDK of your choice.

:func:`instruments` records

- ``sealwax.tokens``, a counter: ``sealwax.event`` (``opened``, ``sealed``, ``ended``, ``revoked``,
  ``refused``), ``sealwax.kind``, ``sealwax.key.id``, ``mcp.method.name``, and for refusals
  ``error.type``, the code;
- ``sealwax.token.age``, a histogram in seconds: how long ago the opened ones were sealed, by
  ``sealwax.kind``;
- ``sealwax.guard.duration``, a histogram in seconds: the `micros` of an event, by
  ``sealwax.event`` and ``sealwax.kind``.

No id, target or principal is an attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

try:
    from opentelemetry.metrics import Meter, get_meter
except ImportError as _missing:
    raise ImportError(
        "sealwax.otel: expected opentelemetry-api 1.30 or later: pip install 'sealwax[otel]'"
    ) from _missing

if TYPE_CHECKING:
    from .mcp import OnEvent, OnRefused, Refusal, TokenEvent

__all__ = ["Hooks", "instruments"]

#: From a second to 30 days. Every language has the same, or no quantile could be computed of a
#: fleet.
_AGES = (1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 604_800, 2_592_000)
#: From 10 microseconds to a second.
_DURATIONS = (
    *(0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005),
    *(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1),
)


class Hooks(TypedDict):
    """Options of a :class:`sealwax.mcp.Guard`."""

    on_event: OnEvent
    on_refused: OnRefused


def instruments(
    meter: Meter | None = None,
    *,
    on_event: OnEvent | None = None,
    on_refused: OnRefused | None = None,
) -> Hooks:
    """Return the hooks of a guard that record its metrics, and call hooks of your own.

    `meter` is the global one of the name ``sealwax`` by default.

    >>> import sealwax, sealwax.mcp, sealwax.otel
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> guard = sealwax.mcp.Guard(
    ...     codec=codec, principal="anonymous", **sealwax.otel.instruments()
    ... )
    """
    meter = meter or get_meter("sealwax")
    tokens = meter.create_counter(
        "sealwax.tokens",
        unit="{token}",
        description="Tokens that were opened, sealed, ended, revoked or refused",
    )
    age = meter.create_histogram(
        "sealwax.token.age",
        unit="s",
        description="How long ago the tokens were sealed that were opened",
        explicit_bucket_boundaries_advisory=_AGES,
    )
    duration = meter.create_histogram(
        "sealwax.guard.duration",
        unit="s",
        description="How long a message or a result was at the guard",
        explicit_bucket_boundaries_advisory=_DURATIONS,
    )

    def observe(event: TokenEvent) -> None:
        kind = {"sealwax.kind": event.kind}
        what = {"sealwax.event": event.event, **kind}
        key = {} if event.key_id is None else {"sealwax.key.id": event.key_id}
        tokens.add(1, {**what, **key, **_method(event)})
        if event.age is not None:
            age.record(event.age, kind)
        duration.record(event.micros / 1e6, what)
        if on_event is not None:
            on_event(event)

    def refuse(refusal: Refusal) -> None:
        what = {"sealwax.event": "refused", "sealwax.kind": refusal.kind}
        tokens.add(1, {**what, "error.type": refusal.code, **_method(refusal)})
        if on_refused is not None:
            on_refused(refusal)

    return {"on_event": observe, "on_refused": refuse}


def _method(told: TokenEvent | Refusal) -> dict[str, str]:
    if told.method is None:
        return {}
    # A client may have made up one that is none of the protocol's: those count as one.
    return {"mcp.method.name": "_OTHER" if told.custom_method else told.method}
