"""The command: what it tells of itself, and the cases of the commands of every package."""

import os
import pathlib
import shlex

from read import expect, facts
from systems import ROOT, System, Target, output

CASES = ROOT / "bindings/python/tests/test_command.py"


def trial(
    target: Target, root: pathlib.Path, python: pathlib.Path, version: str, system: System | None
) -> tuple[str, str]:
    """Return what the file tells, and what passed; `python` has pytest."""
    program = root / target.command
    read = facts(program, target)
    for name in ("man/sealwax.1", "completions", "LICENSE-MIT", "README.md", "THIRD-PARTY-NOTICES"):
        expect((root / name).exists(), f"no {name}")
    if system is None:
        return read, "—"
    told = system.run(program, "--version")
    expect(told == f"sealwax {version}\n", told)
    called = {"SEALWAX_PROGRAM": "sealwax", "SEALWAX_COMMAND": shlex.join(system.command(program))}
    variables = {**os.environ, **dict(system.environment), **called}
    # On Windows a file has no mode and no owner.
    chosen = "byte or refusal or keygen"
    if not target.windows:
        chosen += " or of_every_package or none_of_ours"
    told = output(
        [python, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-k", chosen, CASES], env=variables, cwd=root
    )
    return read, told.strip().rpartition("\n")[2].partition(" in ")[0]
