"""Builds the wheel for a target around its C library, and tags it: `wheel.py TRIPLE`. test-dist checks what it needs."""

import os
import pathlib
import subprocess
import sys
import tempfile

import cargo
import targets

DIST = cargo.BUILD / "dist"


def main(triple: str) -> None:
    target = targets.find(triple)
    prefix = cargo.BUILD / "release" / triple
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


def build(platform: str, prefix: pathlib.Path, folder: pathlib.Path) -> None:
    environment = {**os.environ, "SEALWAX_PREFIX": str(prefix), "SEALWAX_PLATFORM": platform}
    sbom = DIST / f"sealwax-python-{cargo.VERSION}.cdx.json"
    if sbom.exists():
        environment["SEALWAX_SBOM"] = str(sbom)
    command = [str(cargo.TOOLS / "python"), "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), "."]
    subprocess.run(command, cwd=cargo.ROOT / "bindings/python", env=environment, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main(sys.argv[1])
