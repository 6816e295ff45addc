"""The sdist and the npm package, installed outside of the repository."""

import os
import pathlib
import shutil

from c_library import KEY
from read import expect
from systems import ROOT, System, output

PYTHON = ROOT / "bindings/python"
HERE = System("natively")


def sdist(archive: pathlib.Path, folder: pathlib.Path, uv: pathlib.Path) -> str:
    """Build and install the sdist with cargo, and run the vectors."""
    venv = folder / "venv"
    output([uv, "venv", "--quiet", venv])
    python = venv / "bin/python"
    # Not what cargo has built here.
    variables = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target")}
    requirements = PYTHON / "requirements-test.txt"
    output([uv, "pip", "install", "--quiet", "--python", python, "--requirement", requirements], cwd=folder)
    output(
        [uv, "pip", "install", "--quiet", "--python", python, "--no-binary", "sealwax", "--no-cache", archive],
        env=variables,
        cwd=folder,
    )
    preloaded = folder / "environment.so"
    source = ROOT / "bindings/c/tests/environment.c"
    output(["cc", "-std=c11", "-shared", "-fPIC", "-o", preloaded, source])
    tests = ["-m", "pytest", "--quiet", "-p", "no:cacheprovider", str(PYTHON / "tests/test_vectors.py")]
    told = HERE.run(python, *tests, cwd=folder, variables={"LD_PRELOAD": str(preloaded)})
    return f"builds with cargo; {told.strip().rpartition(chr(10))[2].partition(' in ')[0]}"


def npm(archive: pathlib.Path, folder: pathlib.Path) -> str:
    """Install the package into an empty folder, and run the quick start and the command."""
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"private": true}\n')
    output(["npm", "install", "--silent", "--no-audit", "--no-fund", archive], cwd=folder)
    shutil.copy(ROOT / "examples/quickstart.mjs", folder)
    told = output(["node", "quickstart.mjs"], cwd=folder, env={**os.environ, "SEALWAX_KEYS": KEY})
    expect("Delete note 7?" in told and "principal_mismatch" in told, told)
    made = output(["npx", "--no-install", "sealwax", "keygen"], cwd=folder)
    expect(made.startswith("swk1_"), made)
    return "the quick start; `npx sealwax`"
