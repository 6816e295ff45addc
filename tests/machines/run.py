"""Tests the core and the engine on machines of other word sizes and byte orders: `run.py whole`, or `run.py short`.

Rust's own linker makes programs that need nothing of the machine, with the C library of Debian's packages for cross
compilers; those run under qemu-user. All of it is unpacked below build/. The ledger in SQLite is left out: it is C.
"""

import dataclasses
import json
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
UNPACKED = ROOT / "build/machines"
GCC = "14"


@dataclasses.dataclass(frozen=True)
class Machine:
    """A machine, by the names that its tools have for it."""

    triple: str
    qemu: str
    #: The names in Debian's packages and folders, where Rust brings no C library.
    debian: str = ""
    gnu: str = ""
    #: Whether what a program starts with is for any address: the other form is in its C library too.
    pie: bool = False

    @property
    def emulated(self) -> bool:
        """64-bit x86 runs programs for 32 bits as they are."""
        return not (self.qemu == "i386" and platform.machine() == "x86_64")

    @property
    def packages(self) -> list[str]:
        return [f"libc6-dev-{self.debian}-cross", f"libgcc-{GCC}-dev-{self.debian}-cross"] if self.debian else []

    @property
    def flags(self) -> list[str]:
        """What a C compiler tells the linker."""
        if not self.debian:
            return []
        library = f"/usr/{self.gnu}/lib"
        start = "rcrt1.o" if self.pie else "crt1.o"
        return [
            "-Clinker-flavor=ld.lld",
            "-Ctarget-feature=+crt-static",
            *(("-Clink-arg=-pie", "-Clink-arg=--no-dynamic-linker") if self.pie else ("-Crelocation-model=static",)),
            f"-Clink-arg=--sysroot={UNPACKED}",
            f"-Clink-arg=-L={library}",
            f"-Clink-arg=-L=/usr/lib/gcc-cross/{self.gnu}/{GCC}",
            *(f"-Clink-arg={UNPACKED}{library}/{name}" for name in (start, "crti.o", "crtn.o")),
        ]


I686 = Machine("i686-unknown-linux-musl", "i386")
#: The one with the big end first.
S390X = Machine("s390x-unknown-linux-gnu", "s390x", "s390x", "s390x-linux-gnu")
MACHINES = (
    I686,
    Machine("armv7-unknown-linux-gnueabihf", "arm", "armhf", "arm-linux-gnueabihf"),
    S390X,
    Machine("aarch64-unknown-linux-musl", "aarch64"),
    Machine("riscv64gc-unknown-linux-gnu", "riscv64", "riscv64", "riscv64-linux-gnu", pie=True),
)
#: What emulation alone cannot do.
SKIPPED = (
    # Builds a library by the host's C compiler.
    "clones::the_systems_generator_may_repeat",
    # Starts itself, without qemu.
    "keys_file::the_environment_names_a_file_or_has_the_keys",
)
CRATES = ("--package=sealwax", "--package=sealwax-mcp")
#: The vectors of the core and of the ledger, and the properties.
SHORT = ((*CRATES, "--test=codec", "--test=guard"), ("vectors::", "properties::"))


def unpack() -> None:
    """Unpack qemu and the C libraries, unless they are there."""
    packages = ["qemu-user-static", *(package for machine in MACHINES for package in machine.packages)]
    done = UNPACKED / ".packages"
    if done.exists() and done.read_text() == " ".join(packages):
        return
    host = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run([sys.executable, ROOT / "release/debian.py", host, UNPACKED, *packages], check=True)
    done.write_text(" ".join(packages))


def test(machine: Machine, what: tuple[str, ...], names: tuple[str, ...]) -> None:
    """Run these tests on a machine, of them those with such names; and the engine's transcripts."""
    print(machine.triple, flush=True)
    target = {"linker": "rust-lld", "rustflags": machine.flags, "rustdocflags": machine.flags}
    if machine.emulated:
        target["runner"] = [str(UNPACKED / f"usr/bin/qemu-{machine.qemu}")]
        names = (*names, *(f"--skip={name}" for name in SKIPPED))
    subprocess.run(["rustup", "target", "add", machine.triple], check=True, stderr=subprocess.DEVNULL)
    configured = [f"--config=target.{machine.triple}.{key}={json.dumps(value)}" for key, value in target.items()]
    # Optimised, the tests take an eighth of the time.
    how = [f"--target={machine.triple}", "--config=profile.dev.opt-level=1", *configured]
    for command in (
        ["cargo", "test", "--quiet", *how, *what, "--", *names],
        ["cargo", "build", "--quiet", *how, "--package=sealwax-mcp", "--example=engine-scenario"],
    ):
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "CARGO_INCREMENTAL": "0"})
    engine = ROOT / f"target/{machine.triple}/debug/examples/engine-scenario"
    command = " ".join([*target.get("runner", []), str(engine)])
    subprocess.run([sys.executable, ROOT / "tests/driver/run.py", "engine", command], check=True)


if __name__ == "__main__":
    unpack()
    if sys.argv[1] == "short":
        test(S390X, *SHORT)
    else:
        for machine in MACHINES:
            test(machine, CRATES, ())
