"""Run the official conformance suite's `input-required-result-*` scenarios against servers of ours.

    run.py SEALWAX NODE SUITE NAME=COMMAND...

SEALWAX is the command, NODE is 22 or later, SUITE the folder where the package is installed.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "demo"))

from servers import Server, keygen

#: What 0.2.0-alpha.12 has, so that a later suite's silence is noticed.
SCENARIOS = 14


def main(sealwax: str, node: str, suite: str, *servers: str) -> int:
    conformance = [node, f"{suite}/node_modules/.bin/conformance"]
    listed = subprocess.run([*conformance, "list", "--server"], capture_output=True, text=True, check=True)
    scenarios = re.findall(r"input-required-result-[a-z-]+", listed.stdout)
    if len(scenarios) != SCENARIOS:
        print(f"expected {SCENARIOS} scenarios, found {len(scenarios)}: {scenarios}")
        return 1
    failed = 0
    for server in servers:
        name, command = server.split("=", 1)
        with Server(name, shlex.split(command), {"SEALWAX_KEYS": keygen(sealwax)}) as running:
            for scenario in scenarios:
                arguments = ["server", "--url", running.url, "--scenario", scenario]
                run = subprocess.run([*conformance, *arguments], capture_output=True, text=True)
                if run.returncode != 0:
                    failed += 1
                    print(f"{name}: {scenario} failed\n{run.stdout}{run.stderr}")
        print(f"{name}: {len(scenarios)} scenarios of the conformance suite")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
