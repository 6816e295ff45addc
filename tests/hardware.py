"""Tries what was released for this machine on this machine, not in an emulator: `hardware.py build/dist`.

The wheel, with its tests; the C library, shared and (but for Windows) static, by the quick start; the command. It runs on
Linux, macOS and Windows, and takes Python 3.10 and, but for Windows, a C compiler.
"""

import os
import pathlib
import platform
import shutil
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / "build/hardware"
SYSTEM = platform.system()
#: Where Windows has its C compiler from.
ZIG = "ziglang==0.17.0.post0"
#: The first of the vectors.
KEYS = {**os.environ, "SEALWAX_KEYS": "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"}
#: Tests that are left out: one looks for where the library was built, and on macOS nothing stops the library's clock.
LEFT_OUT = {"test_wheel.py"} | ({"test_api.py", "test_vectors.py"} if SYSTEM == "Darwin" else set())


def triples() -> tuple[str, str]:
    """Return Rust's names for this machine: of its library, and of its command."""
    machine = {"AMD64": "x86_64", "arm64": "aarch64", "ARM64": "aarch64"}.get(platform.machine(), platform.machine())
    if SYSTEM == "Linux":
        return f"{machine}-unknown-linux-gnu", f"{machine}-unknown-linux-musl"
    if SYSTEM == "Darwin":
        return (f"{machine}-apple-darwin",) * 2
    return (f"{machine}-pc-windows-{'gnullvm' if machine == 'aarch64' else 'gnu'}",) * 2


def unpacked(dist: pathlib.Path, name: str, triple: str) -> pathlib.Path:
    """Unpack the one archive of the name for the platform, and return its top folder."""
    archives = list(dist.glob(f"{name}-*-{triple}.*"))
    if len(archives) != 1:
        sys.exit(f"expected one archive {name}-*-{triple} in {dist}, found {archives}")
    (archive,) = archives
    shutil.unpack_archive(archive, WORK / name, **({"filter": "data"} if archive.suffix == ".gz" else {}))
    (folder,) = (WORK / name).iterdir()
    return folder


def run(*command: str | pathlib.Path, **options: object) -> None:
    print("+", *command, flush=True)
    subprocess.run(command, check=True, **options)


def shows(expected: str, *command: str | pathlib.Path) -> None:
    """Run the command, and compare what it prints."""
    print("+", *command, flush=True)
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=KEYS).stdout
    if printed != expected:
        sys.exit(f"expected {expected!r}, found {printed!r}")


def wheel(dist: pathlib.Path) -> pathlib.Path:
    """Install the wheel that pip chooses, and run its tests; return that Python."""
    venv.create(WORK / "venv", with_pip=True)
    python = WORK / ("venv/Scripts/python.exe" if SYSTEM == "Windows" else "venv/bin/python")
    package = ROOT / "bindings/python"
    run(python, "-m", "pip", "install", "--quiet", "--requirement", package / "requirements-test.txt")
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--find-links", dist, "sealwax")
    environment = {**os.environ}
    # Stands in front of the system's clock and randomness.
    clock = ROOT / "bindings/c/tests"
    if SYSTEM == "Linux":
        environment["LD_PRELOAD"] = str(WORK / "environment.so")
        run("cc", "-std=c11", "-shared", "-fPIC", "-o", WORK / "environment.so", clock / "environment.c")
    elif SYSTEM == "Windows":
        environment["SEALWAX_ENVIRONMENT"] = str(WORK / "environment.dll")
        zig = (*compiler(python), "-shared", "-o", WORK / "environment.dll")
        run(*zig, clock / "environment_windows.c", "-ldbghelp")
    tests = [test for test in (package / "tests").glob("test_*.py") if test.name not in LEFT_OUT]
    run(python, "-m", "pytest", "--quiet", *sorted(tests), cwd=package, env=environment)
    shows((package / "tests/quickstart.txt").read_text(), python, ROOT / "examples/quickstart.py")
    return python


def compiler(python: pathlib.Path) -> tuple[str | pathlib.Path, ...]:
    if SYSTEM != "Windows":
        return ("cc", "-std=c11")
    run(python, "-m", "pip", "install", "--quiet", ZIG)
    # Not what Visual Studio has, if it is there.
    target = f"{triples()[0].partition('-')[0]}-windows-gnu"
    return (python, "-m", "ziglang", "cc", "-target", target, "-std=c11")


def library(folder: pathlib.Path, python: pathlib.Path) -> None:
    """Compile the quick start as a user of the archive would, and run it."""
    expected = (ROOT / "bindings/c/tests/quickstart.txt").read_text()
    compile = (*compiler(python), "-I", folder / "include", ROOT / "examples/quickstart.c")
    program = WORK / "shared.exe"
    if SYSTEM == "Windows":
        shutil.copy(folder / "bin/sealwax.dll", WORK)
        run(*compile, "-L", folder / "lib", "-lsealwax", "-o", program)
    else:
        run(*compile, "-L", folder / "lib", "-lsealwax", f"-Wl,-rpath,{folder / 'lib'}", "-o", program)
    shows(expected, program)
    if SYSTEM != "Windows":
        program = WORK / "static.exe"
        run(*compile, folder / "lib/libsealwax.a", "-lm", "-o", program)
        shows(expected, program)


def command(folder: pathlib.Path) -> None:
    program = folder / ("sealwax.exe" if SYSTEM == "Windows" else "sealwax")
    version = folder.name.split("-")[1]
    shows(f"sealwax {version}\n", program, "--version")
    run(program, "keygen", stdout=subprocess.DEVNULL)


def main(dist: pathlib.Path) -> None:
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    of_library, of_command = triples()
    python = wheel(dist)
    library(unpacked(dist, "libsealwax", of_library), python)
    command(unpacked(dist, "sealwax", of_command))
    print(f"{of_library}: 1 passed, 0 failed")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).absolute())
