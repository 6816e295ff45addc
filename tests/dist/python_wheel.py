"""The wheels: an installer takes them for their platform, and Python's tests pass with what is installed."""

import os
import pathlib
import re
import shutil
import stat

from c_library import KEY
from read import expect, facts
from systems import ROOT, SYSTEMS, System, Target, output, version, where

PYTHON = ROOT / "bindings/python"
ENVIRONMENT = ROOT / "bindings/c/tests"
TOOLS = ROOT / "build/venv-dist/bin"
#: Where bindings/python/Makefile installs a given wheel.
GIVEN = ROOT / "build/venv-wheel-given/bin/python"
#: CPython for Windows, as the Makefile unpacks it.
WINDOWS = SYSTEMS / "cpython-windows"
#: Pinned, as all that tests the wheel.
REQUIREMENTS = PYTHON / "requirements-test.txt"
#: Each test of the command starts a Python, which takes seconds there: some are enough.
CHOSEN = "not test_command or byte or rotation or ledger or alone or keygen"
#: pytest, where programs of this Python start by a script: the shell that runs it must not load what was preloaded.
BY_SCRIPT = """import os, sys, pytest
os.environ.pop("LD_PRELOAD", None)
sys.executable = sys.argv.pop(1)
sys.exit(pytest.main(sys.argv[1:]))"""


def platform(target: Target) -> str:
    """Return the platform by uv's name."""
    machine = target.triple.partition("-")[0]
    if target.windows:
        return f"{machine}-pc-windows-msvc"
    return f"{machine}-manylinux_2_17" if target.glibc else target.triple


def install(uv: pathlib.Path, target: Target, python: str, folder: pathlib.Path, *what: str | pathlib.Path) -> None:
    """Install for a platform; uv takes only wheels whose tags it knows there."""
    output(
        [
            *(uv, "pip", "install", "--quiet", "--target", folder),
            *("--python-platform", platform(target), "--python-version", python, "--only-binary", ":all:", *what),
        ],
        # uv takes wheels for this macOS and those before it.
        env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": target.oldest},
    )


def trial(
    target: Target,
    wheel: pathlib.Path,
    shared: pathlib.Path,
    folder: pathlib.Path,
    uv: pathlib.Path,
    system: System | None,
) -> tuple[str, str, str]:
    """Return what the wheel tells, what it ran on, and what passed."""
    install(uv, target, "3.13", folder / "any", "--no-deps", wheel)
    (library,) = (folder / "any/sealwax/_lib").iterdir()
    read = facts(library, target)
    same = library.read_bytes() == shared.read_bytes()
    expect(same, f"{wheel.name} has another library than the archive")
    taken = "installs; its library is the archive's"
    if system is None or target.musl:
        return read, "nowhere" if target.musl else where(target), taken
    if target.windows and not WINDOWS.exists():
        return read, "left out here: no CPython for Windows", taken
    if target.windows:
        return read, *under_wine(target, wheel, folder, uv, system)
    if target.triple.startswith("x86_64"):
        return read, *natively(wheel)
    return read, *emulated(target, wheel, folder, uv, system)


def passed(told: str) -> str:
    """Return pytest's count."""
    return told.strip().rpartition("\n")[2].partition(" in ")[0].strip("= ")


def natively(wheel: pathlib.Path) -> tuple[str, str]:
    """The tests of the package's own Makefile, but for the SDK adapter's; auditwheel agrees with the tag."""
    shown = output([TOOLS / "auditwheel", "show", wheel])
    expect("manylinux_2_17_x86_64" in shown, shown)
    told = output(["make", "--silent", "-C", PYTHON, "test-wheel", f"WHEEL={wheel}"])
    counts = re.findall(r"(\d+) passed", told)
    return (
        f"natively, CPython {version(GIVEN)[7:]}",
        f"auditwheel; {counts[0]} tests, {counts[1]} doctests; the quick start",
    )


def emulated(
    target: Target, wheel: pathlib.Path, folder: pathlib.Path, uv: pathlib.Path, system: System
) -> tuple[str, str]:
    """In Debian's Python of the other machine."""
    (program,) = (SYSTEMS / "glibc-aarch64/usr/bin").glob("python3.[0-9]*[0-9]")
    site = folder / "site"
    install(uv, target, program.name.removeprefix("python"), site, "--requirement", REQUIREMENTS, wheel)
    compiler = [TOOLS / "python", "-m", "ziglang", "cc", "-target", "aarch64-linux-gnu.2.17"]
    preloaded = folder / "environment.so"
    output([*compiler, "-std=c11", "-shared", "-fPIC", "-o", preloaded, ENVIRONMENT / "environment.c"])
    script = folder / "python"
    command = system.command(program)
    script.write_text(f'#!/bin/sh\nexec {" ".join(command[:-1])} -E LD_PRELOAD={preloaded} {command[-1]} "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    here, variables = System("", ()), {"PYTHONPATH": str(site)}
    asked = ["-c", BY_SCRIPT, str(script), *tests(PYTHON / "tests", "test_wheel.py")[2:]]
    told = here.run(script, *asked, cwd=folder, variables=variables)
    shows_the_quickstart(here, script, variables)
    return f"{system.name.partition(',')[0]}, Debian's CPython {program.name[6:]}", f"{passed(told)}; the quick start"


def under_wine(
    target: Target, wheel: pathlib.Path, folder: pathlib.Path, uv: pathlib.Path, system: System
) -> tuple[str, str]:
    """In CPython for Windows."""
    python = folder / "python"
    shutil.copytree(WINDOWS, python)
    program = python / "python.exe"
    number = system.run(program, "--version").split()[1]
    install(uv, target, number, python / "lib/site-packages", "--requirement", REQUIREMENTS, wheel)
    compiler = [TOOLS / "python", "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu"]
    loaded = folder / "environment.dll"
    output([*compiler, "-std=c11", "-shared", "-o", loaded, ENVIRONMENT / "environment_windows.c", "-ldbghelp"])
    # Wine has the root folder as the drive Z.
    variables = {"SEALWAX_ENVIRONMENT": "Z:" + str(loaded).replace("/", "\\"), "PYTHONDONTWRITEBYTECODE": "1"}
    told = system.run(program, *tests(PYTHON / "tests", "test_wheel.py"), variables=variables, cwd=folder)
    shows_the_quickstart(system, program, {})
    return f"{system.name}, CPython {number}", f"{passed(told)}; the quick start"


def tests(folder: pathlib.Path, *without: str) -> list[str]:
    left_out = [f"--ignore={folder / name}" for name in ("mcp", *without)]
    return ["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-k", CHOSEN, *left_out, str(folder)]


def shows_the_quickstart(system: System, python: pathlib.Path, variables: dict[str, str]) -> None:
    told = system.run(python, str(ROOT / "examples/quickstart.py"), variables={"SEALWAX_KEYS": KEY, **variables})
    expect(told == (PYTHON / "tests/quickstart.txt").read_text(), told)
