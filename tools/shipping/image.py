"""Makes the image out of a build directory."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from builddir import ROOT

from . import archive, compiled_in, debian, oci, root, sbom

PROGRAMS = ("liqod", "liqoctl")
# Both programs are one file in the image, which holds what they share once, and goes by the name of the first.
BOTH = "services/liqo/liqo"
TARGETS = (*(f"services/{name}/{name}" for name in PROGRAMS), BOTH)
# `localhost` is no registry: nobody can be asked for an image of this name, so nothing else is ever pulled for it.
REPOSITORY = "localhost/liqo/liqod"


@dataclass
class Image:
    name: str
    # The root file system, as a tar, for the Containerfile.
    root: bytes
    # What runtimes load.
    archive: bytes
    digest: str
    sbom: bytes
    # The programs each by itself, by name.
    programs: dict[str, bytes]

    @property
    def file(self) -> str:
        """What its archive is called."""
        return f"liqo-{self.name.rpartition(':')[2]}-image-amd64.tar"


def project_version() -> str:
    """The version that the programs of this tree say they have."""
    found = re.search(r"^  version: '([^']+)'", (ROOT / "meson.build").read_text(), re.MULTILINE)
    if not found:
        raise ValueError("meson.build names no version")
    return found[1]


def _git(*arguments: str) -> str:
    """What git says, or nothing if this tree is none of git's."""
    try:
        answer = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return answer.stdout.strip()


def revision() -> str:
    """The commit that this tree is, if that is known and nothing of it is changed."""
    return "" if _git("status", "--porcelain") else _git("rev-parse", "HEAD")


def source_time() -> int:
    """The time of everything that is made: $SOURCE_DATE_EPOCH, or the commit's."""
    said = os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct")
    if not said.isdecimal():
        raise ValueError("no commit says of which time this tree is: set SOURCE_DATE_EPOCH (seconds since 1970)")
    return int(said)


def _release() -> str:
    """The distribution, as debian-12."""
    said = platform.freedesktop_os_release()
    if said.get("ID") != "debian":
        raise ValueError("an image is made with Debian's packages: this is another system")
    return f"debian-{said['VERSION_ID']}"


def make(build: Path, repository: str = REPOSITORY) -> Image:
    """The image of the programs of this build directory (ValueError if it cannot be made)."""
    if platform.machine() != "x86_64":
        raise ValueError("an image is made for amd64 only, on a machine that is one")
    version, time, release = project_version(), source_time(), _release()
    linked = debian.packages_of(compiled_in.headers(build, TARGETS))
    with tempfile.TemporaryDirectory() as directory:
        stripped = [Path(directory) / Path(target).name for target in TARGETS]
        for path, target in zip(stripped, TARGETS, strict=True):
            subprocess.run(["llvm-strip-19", "-o", path, build / target], check=True)
        daemon, *others = PROGRAMS
        made = root.make({daemon: stripped[-1]}, linked, ROOT / "LICENSE")
        made.entries |= {f"usr/bin/{name}": archive.Link(daemon) for name in others}
        programs = {path.name: path.read_bytes() for path in stripped[:-1]}
    document = sbom.text(made, linked, version, release, time=time)
    made.entries["usr/share/doc/liqo/sbom.spdx.json"] = archive.File(document)
    layer = archive.tar(archive.with_parents(made.entries), time)
    name = f"{repository}:{version}"
    packed, digest = oci.archive(layer, name, oci.labels(version, revision()), sbom.stamp(time), time=time)
    return Image(name, layer, packed, digest, document, programs)
