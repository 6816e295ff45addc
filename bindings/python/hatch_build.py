"""Adds the C library, its declarations and the licences to the wheel, and tags it.

Cargo builds the library, from this repository or from the source distribution. `make dist`, which
builds for other machines, gives it by variables of the environment:

SEALWAX_PREFIX    where the C library is installed, as bindings/c/layout.mk lays it out
SEALWAX_PLATFORM  the platform in the tag of the wheel
SEALWAX_SBOM      a software bill of materials to add
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from cffi import FFI
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

HERE = Path(__file__).resolve().parent
#: What a source distribution has of the repository.
CARRIED = HERE / "rust"
ROOT = CARRIED if CARRIED.exists() else HERE.parents[1]
#: Cargo's profile, `dev` in `make test`, and the folder of what it builds.
PROFILE = os.environ.get("SEALWAX_PROFILE") or "release"
FOLDER = "debug" if PROFILE == "dev" else PROFILE
#: What cargo needs to build the library and to tell its notices: crates, and files.
CRATES = ("mcp", "cli", "bindings/c")
NEEDED = (
    "Cargo.toml",
    "Cargo.lock",
    "src",
    "cli/commands.json",
    "mcp/README.md",
    "cli/README.md",
    "bindings/c/build.rs",
    "release/crate_notices.py",
)


class CustomBuildHook(BuildHookInterface[Any]):
    """Has the library built, or takes one that is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add what is not Python."""
        work = self.work = Path(tempfile.mkdtemp())
        if self.target_name == "sdist":
            carry(work / "rust")
            build_data["force_include"] = {
                str(work / "rust"): "rust",
                **{str(file): file.name for file in ROOT.glob("LICENSE-*")},
            }
            return
        prefix = os.environ.get("SEALWAX_PREFIX")
        library, declared, notices = installed(Path(prefix)) if prefix else built(work)
        write_declarations(declared, work / "_ffi.py")
        licenses = f"sealwax-{self.metadata.version}.dist-info/licenses"
        build_data["force_include"] = {
            str(library): f"sealwax/_lib/{name_of(library)}",
            str(work / "_ffi.py"): "sealwax/_ffi.py",
            str(ROOT / "cli/commands.json"): "sealwax/_command/commands.json",
            **{str(file): f"{licenses}/{file.name}" for file in (*ROOT.glob("LICENSE-*"), notices)},
        }
        build_data["sbom_files"] = (
            [os.environ["SEALWAX_SBOM"]] if "SEALWAX_SBOM" in os.environ else []
        )
        build_data["pure_python"] = False
        # The plain tag of Linux; auditwheel replaces it by those that the library allows.
        plain = next(tag for tag in platform_tags() if not tag.startswith(("many", "musl")))
        build_data["tag"] = f"py3-none-{os.environ.get('SEALWAX_PLATFORM', plain)}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was made for the archive."""
        shutil.rmtree(self.work)


def installed(prefix: Path) -> tuple[Path, Path, Path]:
    """Return the library, its declarations and its notices, as they are installed."""
    (library,) = (
        file
        for pattern in ("lib/lib*.so.*", "lib/lib*.*.dylib", "bin/*.dll")
        for file in prefix.glob(pattern)
    )
    return (
        library,
        prefix / "include/sealwax.cdef.h",
        prefix / "share/licenses/sealwax/THIRD-PARTY-NOTICES",
    )


def built(work: Path) -> tuple[Path, Path, Path]:
    """Have cargo build them."""
    builds = ["cargo", "build", "--quiet", "--profile", PROFILE, "--package", "sealwax-c"]
    subprocess.run(builds, cwd=ROOT, check=True)
    names = {"Darwin": "libsealwax.dylib", "Windows": "sealwax.dll"}
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    notices = work / "THIRD-PARTY-NOTICES"
    writes = [sys.executable, str(ROOT / "release/crate_notices.py"), "sealwax-c"]
    notices.write_bytes(subprocess.check_output(writes))
    return (
        target / FOLDER / names.get(platform.system(), "libsealwax.so"),
        declarations(work),
        notices,
    )


def name_of(library: Path) -> str:
    """Return the name without a version, which `_native.py` looks for."""
    return library.name.replace(".so.1", ".so").replace(".1.dylib", ".dylib")


def declarations(work: Path) -> Path:
    """Return the header's declarations, which a source distribution has: Windows has no `sed`."""
    carried = ROOT / "bindings/c/include/sealwax.cdef.h"
    if carried.exists():
        return carried
    c = ROOT / "bindings/c"
    file = work / carried.name
    command = ["sed", "-E", "-f", str(c / "cdef.sed"), str(c / "include/sealwax.h")]
    file.write_bytes(subprocess.check_output(command))
    return file


def write_declarations(declared: Path, module: Path) -> None:
    """Write the declarations, parsed: parsing at run time takes longer than all else."""
    ffi = FFI()
    ffi.set_source("sealwax._ffi", None)
    ffi.cdef(declared.read_text())
    ffi.emit_python_code(str(module))


def carry(folder: Path) -> None:
    """Copy a workspace of the crates that the library is made of."""
    shutil.rmtree(folder, ignore_errors=True)
    needed = (*NEEDED, *(f"{crate}/{name}" for crate in CRATES for name in ("Cargo.toml", "src")))
    for file in (*(ROOT / name for name in needed), *ROOT.glob("LICENSE-*")):
        copy = folder / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(file, copy) if file.is_dir() else shutil.copy(file, copy)
    (folder / "bindings/c/include").mkdir()
    shutil.copy(declarations(folder.parent), folder / "bindings/c/include/sealwax.cdef.h")
    manifest = (folder / "Cargo.toml").read_text()
    members = ", ".join(f'"{crate}"' for crate in CRATES)
    manifest = re.sub(
        r"^members = .*\nexclude = .*", f"members = [{members}]", manifest, flags=re.MULTILINE
    )
    (folder / "Cargo.toml").write_text(manifest)
    # The lock file, without the crates that are not carried.
    subprocess.run(
        ["cargo", "metadata", "--quiet", "--offline", "--format-version=1"],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )
