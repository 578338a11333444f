"""The versions of real software, as the files in test/cluster/apps/ pin them, and where it lies once it is built."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from .. import settings

PINS = settings.SUITE / "apps"
REPOSITORIES = {"ray": "docker.io/rayproject/ray", "patroni": "docker.io/library/patroni"}
# PostgreSQL and wget are Debian's, whichever version of them is served.
DEBIAN = {
    "ray": ("wget", "libpsl5"),
    "patroni": ("postgresql-15", "postgresql-client-15", "libpq5", "libicu72", "libxml2"),
}


@dataclass(frozen=True)
class Operator:
    """An operator in Go: one package of a module, the image that its manifests name, and the directory of these."""

    name: str
    module: str
    version: str
    # As in go.sum. What the module needs is pinned by its own go.sum.
    digest: str
    package: str
    image: str
    manifests: str


def operators() -> dict[str, Operator]:
    """Those of operators.txt, by name."""
    lines = (PINS / "operators.txt").read_text().splitlines()
    read = [Operator(*line.split()) for line in lines if line and not line.startswith("#")]
    return {operator.name: operator for operator in read}


def wheels(name: str) -> Path:
    """The file that pins the wheels of a program in Python, in the form of pip."""
    return PINS / f"{name}.txt"


def versions(name: str) -> dict[str, str]:
    """The version of each wheel, by its name."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)", wheels(name).read_text(), re.MULTILINE))


def names() -> list[str]:
    """All software that `build-tools apps` builds."""
    return [*operators(), *DEBIAN]


def image_of(name: str) -> str:
    """The name of its image: that which a user would pull."""
    if name in (known := operators()):
        return known[name].image
    return f"{REPOSITORIES[name]}:{versions(name)[name]}"


def directory(name: str) -> Path:
    """Where it lies, built or not: named after what decides what is built."""
    digest = hashlib.sha256(repr(operators().get(name) or (wheels(name).read_text(), DEBIAN[name])).encode())
    for source in ("build.py", "root.py"):
        digest.update(Path(__file__).with_name(source).read_bytes())
    return settings.CACHE / "apps" / f"{name}-{digest.hexdigest()[:16]}"


def archive(name: str) -> Path:
    """The archive of its image."""
    return directory(name) / "image.tar"


def manifests(name: str) -> Path:
    """The chart, or the directory for Kustomize, of an operator."""
    return directory(name) / "manifests" / operators()[name].manifests
