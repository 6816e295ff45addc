"""Adds the C library, its declarations and the licences to the wheel, and tags it."""

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from cffi import FFI
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

ROOT = Path(__file__).resolve().parents[2]
C = ROOT / "bindings/c"
#: Cargo's profile, `dev` in `make test`, and the folder of what it builds.
PROFILE = os.environ.get("SEALWAX_PROFILE") or "release"
FOLDER = "debug" if PROFILE == "dev" else PROFILE


class CustomBuildHook(BuildHookInterface[Any]):
    """Runs cargo, so that the library is the one of this checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the native files to the wheel."""
        if self.target_name != "wheel":
            raise RuntimeError("no source distribution: the library is built in its repository")
        subprocess.run(
            ["cargo", "build", "--quiet", "--profile", PROFILE, "--package", "sealwax-c"],
            cwd=ROOT,
            check=True,
        )
        name = "libsealwax.dylib" if platform.system() == "Darwin" else "libsealwax.so"
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        declarations = Path(self.directory) / "_ffi.py"
        declarations.parent.mkdir(parents=True, exist_ok=True)
        write_declarations(declarations)
        notices = declarations.with_name("THIRD-PARTY-NOTICES")
        notices.write_bytes(xtask("notices", "sealwax-c"))
        licenses = f"sealwax-{self.metadata.version}.dist-info/licenses"
        build_data["force_include"] = {
            str(target / FOLDER / name): f"sealwax/_lib/{name}",
            str(declarations): "sealwax/_ffi.py",
            str(ROOT / "cli/commands.json"): "sealwax/_command/commands.json",
            **{str(file): f"{licenses}/{file.name}" for file in (*ROOT.glob("LICENSE-*"), notices)},
        }
        build_data["pure_python"] = False
        # The plain tag of Linux; auditwheel replaces it by those that the library allows.
        tag = next(tag for tag in platform_tags() if not tag.startswith(("many", "musl")))
        build_data["tag"] = f"py3-none-{tag}"


def xtask(*arguments: str) -> bytes:
    """Return the output of a task of the workspace."""
    command = ["cargo", "run", "--quiet", "--package", "xtask", "--no-default-features", "--"]
    return subprocess.check_output([*command, *arguments], cwd=ROOT)


def write_declarations(module: Path) -> None:
    """Write the header's declarations, parsed: parsing at run time takes longer than all else."""
    command = ["sed", "-E", "-f", str(C / "cdef.sed"), str(C / "include/sealwax.h")]
    declared = subprocess.check_output(command, text=True)
    ffi = FFI()
    ffi.set_source("sealwax._ffi", None)
    ffi.cdef(declared)
    ffi.emit_python_code(str(module))
