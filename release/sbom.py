"""Writes what each kind of artefact contains, as CycloneDX: `sbom.py FOLDER`.

cargo-cyclonedx and `npm sbom` read the lock files. Their findings are joined for all targets, and validated by the schema.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import datetime, timezone

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.dependency import Dependency
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from targets import TARGETS
from version import spelled

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / "build/sbom"
NATIVE = tuple(target.triple for target in TARGETS)
WEB = ("wasm32-unknown-unknown",)
#: Of our crates.
PUBLISHED = {"sealwax", "sealwax-mcp", "sealwax-cli"}


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of artefact: what it is made of, and for what targets."""

    file: str
    purl: str
    #: Of the workspace, by the folder of each.
    crates: dict[str, str]
    triples: tuple[str, ...] = NATIVE
    type: ComponentType = ComponentType.LIBRARY

    @property
    def name(self) -> str:
        return self.file.partition("-")[0]


KINDS = (
    Kind("libsealwax", "pkg:github/sealwax/sealwax", {"sealwax-c": "bindings/c"}),
    Kind("sealwax", "pkg:cargo/sealwax-cli", {"sealwax-cli": "cli"}, type=ComponentType.APPLICATION),
    Kind("sealwax-python", "pkg:pypi/sealwax", {"sealwax-c": "bindings/c"}),
    Kind(
        "sealwax-npm",
        "pkg:npm/sealwax",
        {"sealwax-wasm": "bindings/wasm", "sealwax-wasm-command": "bindings/wasm-command"},
        triples=WEB,
    ),
)


def output(*command: str, folder: pathlib.Path = ROOT) -> str:
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def dependent(kind: Kind) -> pathlib.Path:
    """Make a package that depends on the crates, and return its folder.

    It is no member of the workspace. Of a member, cargo-cyclonedx would tell also what only other members turn on.
    """
    folder = WORK / kind.file
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "src").mkdir(parents=True)
    crates = [f'{name} = {{ path = "{ROOT / path}" }}' for name, path in kind.crates.items()]
    package = ["[package]", 'name = "artefact"', 'version = "0.0.0"']
    (folder / "Cargo.toml").write_text("\n".join([*package, "[dependencies]", *crates, "[workspace]\n"]))
    (folder / "src/lib.rs").touch()
    shutil.copy(ROOT / "Cargo.lock", folder)
    return folder


def found(kind: Kind) -> Iterator[Bom]:
    """Yield what the tools find: for each target, and for npm what the package depends on."""
    folder = dependent(kind)
    options = ["--quiet", "--format=json", "--spec-version=1.5", "--no-build-deps"]
    for triple in kind.triples:
        output("cargo", "cyclonedx", *options, f"--target={triple}", f"--override-filename={triple}", folder=folder)
        # Where this repository lies does not matter.
        text = (folder / f"{triple}.json").read_text().replace(f"path+file://{ROOT}", "path:")
        yield Bom.from_json(json.loads(text))
    if kind.triples == WEB:
        without = [f"--omit={dependencies}" for dependencies in ("dev", "optional", "peer")]
        command = ["npm", "sbom", "--sbom-format=cyclonedx", "--package-lock-only", "--loglevel=error", *without]
        yield Bom.from_json(json.loads(output(*command, folder=ROOT / "pkg")))


def linked(kind: Kind) -> set[tuple[str, str]]:
    """Return the crates, with their versions, that are linked into any of the targets, as cargo tells them."""
    crates = [f"--package={name}" for name in kind.crates]
    targets = [f"--target={triple}" for triple in kind.triples]
    tree = output("cargo", "tree", "--locked", "--edges=normal", "--prefix=none", "--format={p}", *crates, *targets)
    return {(words[0], words[1].removeprefix("v")) for line in tree.splitlines() if (words := line.split())}


def joined(kind: Kind, release: str) -> Bom:
    """Return one document of all that was found."""
    purl = PackageURL.from_string(f"{kind.purl}@{release}")
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, str(purl)))
    bom.metadata.timestamp = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)  # noqa: UP017
    bom.metadata.component = Component(
        type=kind.type,
        name=kind.name,
        version=release,
        purl=purl,
        bom_ref=str(purl),
        licenses=[LicenseExpression("MIT OR Apache-2.0")],
    )
    expected = linked(kind)
    components: dict[str, Component] = {}
    needs: dict[str, set[str]] = {}
    for part in found(kind):
        bom.metadata.tools.tools.update(part.metadata.tools.tools)
        for component in part.components:
            # It also tells of crates whose features alone are spoken of: `log?/std`.
            if (component.name, component.version) in expected:
                components[component.bom_ref.value] = component
        for dependency in part.dependencies:
            own = part.metadata.component.bom_ref == dependency.ref
            needed = needs.setdefault(str(purl) if own else dependency.ref.value, set())
            needed.update(one.ref.value for one in dependency.dependencies)
    missing = expected - {(component.name, component.version) for component in components.values()}
    if missing or not components:
        sys.exit(f"{kind.file}: found {len(components)} crates, and not {sorted(missing)}")
    for component in components.values():
        if "download_url" in component.purl.qualifiers:
            component.purl = ours(component, release)
    bom.components = components.values()
    references = {str(purl): bom.metadata.component.bom_ref} | {name: one.bom_ref for name, one in components.items()}
    bom.dependencies = [
        Dependency(reference, [Dependency(references[one]) for one in needs.get(name, ()) if one in references])
        for name, reference in references.items()
    ]
    return bom


def ours(component: Component, release: str) -> PackageURL:
    """Return where a crate of this repository is had: not all of them are published."""
    if component.name in PUBLISHED:
        return PackageURL("cargo", name=component.name, version=release)
    return PackageURL("github", "sealwax", "sealwax", f"v{release}")


def main(folder: pathlib.Path) -> None:
    _, release = next(spelled())
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        text = JsonV1Dot6(joined(kind, release)).output_as_string(indent=2)
        if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
            sys.exit(f"{kind.file}: {error}")
        file = folder / f"{kind.file}-{release}.cdx.json"
        file.write_text(text + "\n")
        print(f"{file.name}: {len(json.loads(text)['components'])} crates")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
