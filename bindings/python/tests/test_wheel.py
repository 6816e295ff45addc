"""The wheel that was built: what it holds, and that it is what the tests run."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import import_module, metadata
from pathlib import Path
from zipfile import ZipFile

import pytest

import sealwax
from sealwax._native import NEVER

ROOT = Path(__file__).parents[3]
WHEEL = Path(os.environ["SEALWAX_WHEEL"])
SOURCES = Path(__file__).parents[1] / "src"


def test_it_holds_what_it_should_and_nothing_else() -> None:
    info = f"sealwax-{sealwax.__version__}.dist-info"
    with ZipFile(WHEEL) as wheel:
        files = {name for name in wheel.namelist() if not name.endswith("/")}
        # Releases have a bill of materials.
        files -= {f"{info}/sboms/sealwax-python-{sealwax.__version__}.cdx.json"}
        library, *more = (name for name in files if "libsealwax" in name)
        assert more == []
        assert files == {
            *(str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*.py")),
            *(str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*.pyi")),
            "sealwax/py.typed",
            "sealwax/_ffi.py",
            "sealwax/_command/commands.json",
            library,
            *(f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD")),
            *(f"{info}/licenses/LICENSE-{name}" for name in ("APACHE", "MIT")),
            f"{info}/licenses/THIRD-PARTY-NOTICES",
        }


def test_one_wheel_serves_every_python_of_a_platform() -> None:
    assert re.fullmatch(rf"sealwax-{sealwax.__version__}-py3-none-[\w.]+\.whl", WHEEL.name)
    assert "none-any" not in WHEEL.name
    assert "-linux_" not in WHEEL.name


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other systems have other tags")
def test_its_tag_is_the_c_library_that_it_needs() -> None:
    with ZipFile(WHEEL) as wheel:
        (library,) = (name for name in wheel.namelist() if "libsealwax" in name)
        asked = re.findall(rb"\0GLIBC_2\.(\d+)(?=[.\0])", wheel.read(library))
    newest = max(int(minor) for minor in asked)
    assert f"manylinux_2_{newest}_{platform.machine()}" in re.split(r"[-.]", WHEEL.name)


def test_every_crate_that_the_library_holds_is_named() -> None:
    with ZipFile(WHEEL) as wheel:
        (library,) = (name for name in wheel.namelist() if "libsealwax" in name)
        (notices,) = (name for name in wheel.namelist() if "NOTICES" in name)
        named = wheel.read(notices).decode()
        # Panic messages hold the folders of their crates.
        told = re.findall(rb"/registry/src/[^/]+/([\w.+-]+)-(\d+\.[\w.+-]+)/", wheel.read(library))
    crates = {f"{name.decode()} {version.decode()}" for name, version in told}
    tree = ["cargo", "tree", "--edges=normal", "--prefix=none", "--package=sealwax-c"]
    for line in subprocess.check_output(tree, cwd=ROOT, text=True).splitlines():
        if "(/" not in line:
            crates.add(" ".join(line.split()[:2]).replace(" v", " "))
    assert len(crates) > 20
    assert [one for one in sorted(crates) if f"\n{one}: " not in named] == []
    for words in ("Isis Agora Lovecruft", "UNICODE LICENSE V3", "Brian Smith"):
        assert words in named


def test_the_metadata_says_what_is_needed() -> None:
    found = metadata.metadata("sealwax")
    assert found["Version"] == sealwax.__version__
    assert found["License-Expression"] == "MIT OR Apache-2.0"
    assert found["Requires-Python"] == ">=3.10"
    assert metadata.requires("sealwax") == [
        "cffi>=1.16",
        "mcp!=2.0.*,!=2.1.*,!=2.2.*,<3,>=1.13; extra == 'mcp'",
        "opentelemetry-api<2,>=1.30; extra == 'otel'",
    ]
    assert found["Description-Content-Type"] == "text/markdown"


def test_the_tests_run_what_is_installed() -> None:
    assert Path(sealwax.__file__).parents[1] == Path(sysconfig.get_path("platlib"))


def test_the_adapter_is_no_dependency_of_those_who_do_not_use_it() -> None:
    assert "mcp" not in {found.name for found in metadata.distributions()}
    with pytest.raises(ImportError, match=r"found none: pip install 'sealwax\[mcp\]'"):
        import_module("sealwax.mcp")


def test_an_sdk_that_is_too_old_is_named(tmp_path: Path) -> None:
    for name, version in {"mcp": "1.30.0", "fastmcp": "3.4.11"}.items():
        told = tmp_path / f"{name}-{version}.dist-info/METADATA"
        told.parent.mkdir()
        told.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (tmp_path / "mcp/server").mkdir(parents=True)
    for package in ("mcp", "mcp/server"):
        (tmp_path / package / "__init__.py").touch()
    run = subprocess.run(
        [sys.executable, "-c", "import sealwax.mcp"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert b"found fastmcp 3.4.11 and mcp 1.30.0: pip install 'sealwax[mcp]'" in run.stderr


def test_importing_it_imports_nothing_slow() -> None:
    # Modules that the environment imports by itself do not count.
    imported = "import sys; own = {*sys.modules}; import sealwax; print(*{*sys.modules} - own)"
    run = subprocess.run([sys.executable, "-c", imported], capture_output=True, check=True)
    modules = {name.partition(".")[0] for name in run.stdout.decode().split()}
    assert "_cffi_backend" in modules
    slow = {"cffi", "datetime", "dataclasses", "inspect", "logging", "pathlib", "pycparser"}
    assert modules & slow == set()


def test_a_time_that_never_comes_is_the_headers() -> None:
    header = (ROOT / "bindings/c/include/sealwax.h").read_text()
    assert f"#define SEALWAX_NEVER {NEVER}ull\n" in header


def test_a_library_of_another_abi_is_not_used(tmp_path: Path) -> None:
    shutil.copytree(Path(sealwax.__file__).parent, tmp_path / "sealwax")
    declarations = tmp_path / "sealwax/_ffi.py"
    ours, theirs = ("SEALWAX_ABI_VERSION',1,", "SEALWAX_ABI_VERSION',2,")
    assert ours in declarations.read_text()
    declarations.write_text(declarations.read_text().replace(ours, theirs))
    run = subprocess.run(
        [sys.executable, "-c", "import sealwax"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ImportError: sealwax: expected a library of ABI 2, found 1" in run.stderr
