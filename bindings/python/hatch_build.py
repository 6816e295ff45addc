"""Puts the C library and its declarations into the wheel, and tags it with the platform."""

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "bindings/c/include/sealwax.h"


class CustomBuildHook(BuildHookInterface[Any]):
    """Runs cargo, so that the library is the one of this checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the native files to the wheel."""
        if self.target_name != "wheel":
            raise RuntimeError("no source distribution: the library is built in its repository")
        subprocess.run(
            ["cargo", "build", "--quiet", "--release", "--package", "sealwax-c"],
            cwd=ROOT,
            check=True,
        )
        name = "libsealwax.dylib" if platform.system() == "Darwin" else "libsealwax.so"
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        declarations = Path(self.directory) / "sealwax.cdef"
        declarations.parent.mkdir(parents=True, exist_ok=True)
        declarations.write_text(cdef(HEADER.read_text()))
        licenses = f"sealwax-{self.metadata.version}.dist-info/licenses"
        build_data["force_include"] = {
            str(target / "release" / name): f"sealwax/_lib/{name}",
            str(declarations): "sealwax/_lib/sealwax.cdef",
            **{str(file): f"{licenses}/{file.name}" for file in ROOT.glob("LICENSE-*")},
        }
        build_data["pure_python"] = False
        # It links with the C library alone, and runs with that of the build machine or a newer one:
        # what manylinux and musllinux tags say. The plain tag of Linux says nothing.
        tag = next(tag for tag in platform_tags() if not tag.startswith("linux_"))
        build_data["tag"] = f"py3-none-{tag}"


def cdef(header: str) -> str:
    """Reduce a header to what cffi reads: declarations, and constants with their values."""
    header = re.sub(r"(?ms)^#ifdef __cplusplus.*?^#endif[^\n]*", "", header)
    header = re.sub(r"(?m)^\s*//[^\n]*\n", "", header)
    lines = header.splitlines()
    kept = (line for line in lines if not line.startswith("#") or re.match(r"#define \w+ \w", line))
    return re.sub(r"\n{2,}", "\n", "\n".join(kept)).strip() + "\n"
