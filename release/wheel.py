"""Builds the wheel for a target around its C library, and checks what the library needs: `wheel.py TRIPLE`."""

import os
import pathlib
import subprocess
import sys
import tempfile

import cargo
import lief
import targets

DIST = cargo.BUILD / "dist"
#: What every system of a kind has. Of Linux with glibc, auditwheel says it.
HAS = {"musl": {"libc.so"}, "macos": {"/usr/lib/libSystem.B.dylib"}}


def main(triple: str) -> None:
    target = targets.find(triple)
    prefix = cargo.BUILD / "release" / triple
    for kind, libraries in HAS.items():
        if getattr(target, kind):
            needs = needed(prefix / target.shared)
            if needs != libraries:
                sys.exit(f"{triple}: expected a library that needs {sorted(libraries)}, found {sorted(needs)}")
    if not target.glibc:
        build(target.wheel, prefix, DIST)
        return
    with tempfile.TemporaryDirectory() as folder:
        build(f"linux_{target.triple.partition('-')[0]}", prefix, pathlib.Path(folder))
        # It finds the oldest tag that the library allows; of another machine it takes none that is asked for.
        repair = [str(cargo.TOOLS / "auditwheel"), "repair", "--patcher", "none"]
        subprocess.run([*repair, "--wheel-dir", DIST, *pathlib.Path(folder).glob("*.whl")], check=True)
    if not list(DIST.glob(f"*{target.wheel}.whl")):
        sys.exit(f"{triple}: expected a library that allows the tag {target.wheel}")


def needed(library: pathlib.Path) -> set[str]:
    """Return the libraries that it loads."""
    read = lief.parse(library)
    if isinstance(read, lief.MachO.Binary):
        loads = lief.MachO.LoadCommand.TYPE.LOAD_DYLIB
        return {str(one.name) for one in read.libraries if one.command == loads}
    return {str(name) for name in read.libraries}


def build(platform: str, prefix: pathlib.Path, folder: pathlib.Path) -> None:
    environment = {**os.environ, "SEALWAX_PREFIX": str(prefix), "SEALWAX_PLATFORM": platform}
    sbom = DIST / f"sealwax-python-{cargo.VERSION}.cdx.json"
    if sbom.exists():
        environment["SEALWAX_SBOM"] = str(sbom)
    command = [str(cargo.TOOLS / "python"), "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), "."]
    subprocess.run(command, cwd=cargo.ROOT / "bindings/python", env=environment, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main(sys.argv[1])
