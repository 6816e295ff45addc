#!/usr/bin/env python3
"""Runs the container images of the command, for both architectures: `image.py PODMAN TAG FOLDER`.

Each seals what the other opens. They run without a network, a capability or anything to write to but what is mounted.
FOLDER has qemu/, as debian.py has unpacked it.
"""

import json
import os
import pathlib
import platform
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence

ROOT = pathlib.Path(__file__).resolve().parents[1]
HERE = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
QEMU = {"amd64": "qemu-x86_64", "arm64": "qemu-aarch64"}
# What control groups a container may make depends on the system, and the program needs none.
CONFINED = ("--rm", "--network=none", "--cgroups=disabled", "--read-only", "--cap-drop=all", "--interactive")
BOUND = ("--audience", "https://notes.example.com", "--kind", "cursor", "--label", "tools/list", "--subject")
LICENSES = "usr/share/licenses/sealwax"
FILES = {"sealwax", *(f"{LICENSES}/{name}" for name in ("LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-NOTICES"))}


class Image:
    """The image for an architecture."""

    def __init__(self, podman: str, tag: str, architecture: str, folder: pathlib.Path) -> None:
        self.podman, self.tag, self.architecture = podman, f"{tag}-{architecture}", architecture
        self.emulator = folder / "qemu/usr/bin" / QEMU[architecture]

    def run(self, *arguments: str, settings: Sequence[str] = (), stdin: bytes = b"", status: int = 0) -> bytes:
        """Return what the command prints; it has to end with the status."""
        command = [self.podman, "run", *CONFINED, f"--platform=linux/{self.architecture}", *settings]
        if self.architecture == HERE:
            command += [self.tag, *arguments]
        else:
            command += [f"--volume={self.emulator}:/qemu:ro", "--entrypoint=/qemu", self.tag, "/sealwax", *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True)
        if done.returncode != status:
            sys.exit(f"{command}: expected status {status}, found {done.returncode}:\n{done.stderr.decode()}")
        return done.stdout

    def check(self, version: str) -> None:
        """Check what stands in the image, and what is said of it."""
        [image] = json.loads(subprocess.check_output([self.podman, "image", "inspect", self.tag]))
        expect(image["Architecture"], self.architecture)
        expect(image["Config"]["User"], "65532:65532")
        expect([*image["Config"]["Entrypoint"], *image["Config"]["Cmd"]], ["/sealwax", "help"])
        labels = {name.rpartition(".")[2]: text for name, text in image["Labels"].items()}
        expect(labels["version"], version)
        expect(labels["licenses"], "MIT OR Apache-2.0")
        if "" in labels.values():
            sys.exit(f"expected a value of each label, found {labels}")

        create = [self.podman, "create", "--quiet", f"--platform=linux/{self.architecture}", self.tag]
        container = subprocess.check_output(create, text=True).strip()
        with tempfile.TemporaryFile() as exported:
            subprocess.run([self.podman, "export", container], stdout=exported, check=True)
            exported.seek(0)
            with tarfile.open(fileobj=exported) as files:
                expect({file.name for file in files if file.isfile() and file.size}, FILES)
        subprocess.run([self.podman, "rm", container], stdout=subprocess.DEVNULL, check=True)


def expect(found: object, expected: object) -> None:
    if found != expected:
        sys.exit(f"expected {expected}, found {found}")


def main(podman: str, tag: str, folder: pathlib.Path) -> None:
    version = tag.rpartition(":")[2]
    images = [Image(podman, tag, architecture, folder) for architecture in QEMU]
    for image in images:
        image.check(version)
        expect(image.run("--version").decode(), f"sealwax {version}\n")

    with tempfile.TemporaryDirectory(dir=folder) as work:
        keys = pathlib.Path(work, "keys.txt")
        owner = (f"--volume={work}:/work", f"--user={os.getuid()}:{os.getgid()}")
        images[0].run("keys", "add", "keys.txt", settings=owner)
        images[1].run("keys", "add", "keys.txt", settings=owner)
        expect(keys.read_text().count("swk1_"), 2)
        # Nobody, as whom it runs by itself, may not write there.
        images[0].run("keys", "add", "keys.txt", settings=owner[:1], status=2)
        keys.chmod(0o644)

        reader = (f"--volume={keys}:/keys.txt:ro", "--env=SEALWAX_KEYS_FILE=/keys.txt")
        for sealing, opening in (images, images[::-1]):
            token = sealing.run("seal", *BOUND, "alice", settings=reader, stdin=b"page 2")
            expect(opening.run("open", *BOUND, "alice", settings=reader, stdin=token), b"page 2")
            expect(json.loads(opening.run("inspect", "--json", settings=reader, stdin=token))["in_ring"], True)
            opening.run("open", *BOUND, "mallory", settings=reader, stdin=token, status=1)
    print("the image of amd64 and that of arm64: passed")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]))
