"""Builds a package for a target: the same sources give the same bytes, wherever they and cargo's folders stand."""

import os
import pathlib
import re
import subprocess

from targets import Target

ROOT = pathlib.Path(__file__).resolve().parents[1]
#: What a release builds lies here; make installs `cargo-zigbuild` and zig into it.
BUILD = ROOT / "build"
TOOLS = BUILD / "venv-release/bin"
VERSION = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)  # type: ignore[union-attr]


def rustc(*arguments: str) -> str:
    return subprocess.check_output(["rustc", *arguments], cwd=ROOT, text=True).strip()


#: Rust's own name for this machine, and the revision that its standard library was built from.
_ABOUT = dict(line.split(": ", 1) for line in rustc("--version", "--verbose").splitlines() if ": " in line)
HOST = _ABOUT["host"]
SYSROOT = pathlib.Path(rustc("--print", "sysroot"))


def renamed() -> dict[pathlib.Path, str]:
    """Return what the folders of this machine are called in panics and in `__FILE__`."""
    home = pathlib.Path(os.environ.get("CARGO_HOME") or pathlib.Path.home() / ".cargo")
    registries = sorted((home / "registry/src").glob("*"))
    return {
        ROOT: "/sealwax",
        **dict.fromkeys(registries, "/cargo"),
        # As it is called where the sources of the standard library are not installed.
        SYSROOT / "lib/rustlib/src/rust": f"/rustc/{_ABOUT['commit-hash']}",
    }


def build(target: Target, package: str, kind: str, link: list[str]) -> pathlib.Path:
    """Build the package's `kind`, such as `--lib`, and return the folder that it is in."""
    flags = [f"--remap-path-prefix={folder}={name}" for folder, name in renamed().items()]
    # A shared library must not have a C library of its own; the command is one file that needs none.
    if target.musl and kind == "--lib":
        flags.append("-Ctarget-feature=-crt-static")
    environment = {
        **os.environ,
        "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}",
        "CARGO_PROFILE_RELEASE_STRIP": "symbols",
        "CARGO_ZIGBUILD_CACHE_DIR": str(BUILD / "zigbuild"),
        # Debug information has the names of zig's temporary files, even with -g0.
        "CFLAGS": " ".join(["-s", *(f"-ffile-prefix-map={folder}={name}" for folder, name in renamed().items())]),
        "ZIG_GLOBAL_CACHE_DIR": str(BUILD / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(BUILD / "zig"),
    }
    if target.macos:
        # Zig's linker for macOS exports some of the standard library; the one that comes with Rust does not.
        flags += ["-Clinker=rust-lld", "-Clinker-flavor=ld64.lld", "-Clink-arg=-dead_strip_dylibs"]
        environment |= {"MACOSX_DEPLOYMENT_TARGET": target.oldest, "SDKROOT": str(BUILD / "release-sdk")}
    environment["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join(flags)
    command = ["cargo-zigbuild", "rustc", "--quiet", "--locked", "--release", "--target", target.zig]
    command += ["--target-dir", str(ROOT / "target"), "--package", package, kind, "--"]
    subprocess.run([*command, *(f"-Clink-arg={one}" for one in link)], cwd=ROOT, env=environment, check=True)
    return ROOT / "target" / target.triple / "release"


def strip(archive: pathlib.Path) -> None:
    """Remove the debug information of the standard library, which is half of a static library."""
    llvm_strip = SYSROOT / "lib/rustlib" / HOST / "bin/llvm-strip"
    subprocess.run([llvm_strip, "--strip-debug", archive], check=True)
