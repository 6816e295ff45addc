"""Shows that docs/monitoring names only metrics that a guard emits, and that its alerts fire when they should.

check.py    (by a Python that has sealwax, the SDK of OpenTelemetry, and PyYAML)

The names are those of OpenTelemetry's exporter for Prometheus. `promtool`, if there is one, tests the alerts, and the query of
docs/operating.md that tells whether a key is in use: alerts.test.yml.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import REGISTRY
from sealwax.mcp import Refusal, TokenEvent
from sealwax.otel import instruments

ROOT = Path(__file__).resolve().parents[2]
MONITORING = ROOT / "docs" / "monitoring"
#: What Prometheus adds.
FROM_PROMETHEUS = {"__name__", "job", "instance", "le"}
#: A name of a label, in a matcher, a list, a legend or an annotation; every other name with our prefix is a metric's.
LABEL = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"|\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}")
LISTS = re.compile(r"(?:by|on|group_left|label_values)\s*\(([^()]*)\)")
OURS = re.compile(r"\b(?:sealwax|mcp|error)_\w+")


def emitted() -> set[str]:
    """Return the names of all metrics and labels that the instruments of a guard give."""
    provider = MeterProvider([PrometheusMetricReader()])
    hooks = instruments(provider.get_meter("sealwax"))
    hooks["on_event"](TokenEvent("opened", "cursor", micros=7, key_id="cafe0123", age=1, method="tools/list"))
    hooks["on_refused"](Refusal("expired", "cursor", "expired", method="tools/list"))
    samples = [one for family in REGISTRY.collect() for one in family.samples if one.name.startswith("sealwax")]
    return {name for sample in samples for name in (sample.name, *sample.labels)}


def named(text: str) -> set[str]:
    """Return the names of metrics and labels in an expression, a legend or an annotation."""
    # Node's exporter leaves out the unit.
    text = text.replace("(_seconds)?", "_seconds")
    labels = {name for found in LABEL.findall(text) for name in found if name}
    lists = {name.strip() for found in LISTS.findall(text) for name in found.split(",") if name.strip()}
    return labels | lists | set(OURS.findall(text))


def texts(of: object) -> list[str]:
    """Return all texts in a document."""
    if isinstance(of, dict):
        return [text for one in of.values() for text in texts(one)]
    if isinstance(of, list):
        return [text for one in of for text in texts(one)]
    return [of] if isinstance(of, str) else []


def alerted(page: str) -> set[str]:
    """Return the codes that docs/operating.md says to alert on."""
    table = page.split("## What to alert on")[1].split("\n## ")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| `")]
    return {code for codes, alert in rows if alert.strip() != "no" for code in re.findall(r"`(\w+)`", codes)}


def run_promtool(promtool: str, query: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rules = yaml.safe_load((MONITORING / "alerts.yml").read_text())
        subprocess.run([promtool, "check", "rules", MONITORING / "alerts.yml"], check=True, stdout=subprocess.DEVNULL)
        # The tests would repeat each annotation.
        for rule in rules["groups"][0]["rules"]:
            del rule["annotations"]
        Path(folder, "alerts.yml").write_text(yaml.safe_dump(rules))
        tests = yaml.safe_load((ROOT / "tests/monitoring/alerts.test.yml").read_text())
        tests["tests"][-1]["promql_expr_test"][0]["expr"] = query
        Path(folder, "tests.yml").write_text(yaml.safe_dump(tests))
        run = subprocess.run(
            [promtool, "test", "rules", "tests.yml"], cwd=folder, capture_output=True, text=True, check=False
        )
        if run.returncode:
            sys.exit(run.stdout + run.stderr)


def main() -> None:
    page = (ROOT / "docs/operating.md").read_text()
    (query,) = re.findall(r"```promql\n(.*?)```", page, re.DOTALL)
    rules = yaml.safe_load((MONITORING / "alerts.yml").read_text())
    dashboard = json.loads((MONITORING / "grafana.json").read_text())
    known = emitted() | FROM_PROMETHEUS
    checked = 0
    for where, text in [
        ("alerts.yml", rules),
        *((f"grafana.json: {panel['title']}", panel["targets"]) for panel in dashboard["panels"]),
        ("grafana.json", dashboard["templating"]),
        ("operating.md", query),
    ]:
        names = {name for one in texts(text) for name in named(one)}
        checked += len(names)
        if unknown := names - known:
            sys.exit(f"{where}: expected what a guard emits, found {', '.join(sorted(unknown))}")
    if checked < 30:
        sys.exit(f"expected more names, found {checked}")
    matched = " ".join(re.findall(r'error_type=~?"([^"]*)"', " ".join(texts(rules))))
    if differ := alerted(page) ^ set(re.split(r"[ |]", matched)):
        sys.exit(f"operating.md and alerts.yml: expected alerts on the same codes, found {', '.join(sorted(differ))}")
    if promtool := os.environ.get("PROMTOOL") or shutil.which("promtool"):
        run_promtool(promtool, query)
    else:
        print("LEFT OUT for want of promtool (Debian package prometheus): whether the alerts fire")
        if os.environ.get("CI") == "true":
            sys.exit(1)
    print(f"docs/monitoring: {checked} names: 1 passed, 0 failed")


if __name__ == "__main__":
    main()
