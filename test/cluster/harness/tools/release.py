"""A release as its users have it: what tools/release makes of the build under test, and nothing else of this tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .. import settings
from ..cluster.cluster import Cluster
from ..wait import patient
from . import stand_in
from .console import Console
from .liqoctl import Liqoctl

# The image's name before the colon, the one that tools/image gives it.
REPOSITORY = "localhost/liqo/liqod"


@dataclass(frozen=True)
class Release:
    """A directory dist/."""

    directory: Path
    version: str

    @property
    def image(self) -> Path:
        return self.directory / f"liqo-{self.version}-image-amd64.tar"

    @property
    def chart(self) -> Path:
        return self.directory / f"liqo-{self.version}.tgz"

    @property
    def liqoctl_binary(self) -> Path:
        return self.directory / f"liqoctl-{self.version}-linux-amd64"

    def liqoctl(self, cluster: Cluster) -> Liqoctl:
        return Liqoctl(cluster, binary=self.liqoctl_binary)

    def console(self, cluster: Cluster, home: Path) -> Console:
        """A user's terminal in dist/, with Helm and what stands in for programs that give images to clusters.

        liqoctl is not there yet.
        """
        programs = dict.fromkeys(stand_in.FORMS, Path(stand_in.__file__)) | {"helm": settings.tool("helm3")}
        told = Console(cluster, self.directory, programs)
        told.environment["HOME"] = str(home)
        told.environment["PATH"] = f"{home}/bin:{told.environment['PATH']}"
        return told

    def helm(self, cluster: Cluster, *arguments: object, timeout: float = 400, program: str = "helm3") -> str:
        """Runs Helm as a user of the cluster does beside these files, and returns what it printed."""
        done = subprocess.run(
            cluster.space.entering([settings.tool(program), *arguments, "--namespace", "liqo"]),
            env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)},
            cwd=self.directory, capture_output=True, text=True, timeout=patient(timeout), check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"`{program} {' '.join(map(str, arguments))}` failed: {done.stderr}"
        return done.stdout


def typed_lines(page: str) -> list[str]:
    """The command lines of a page, of its blocks and its text, that name a file of dist/ or what becomes of it."""
    text = (settings.TREE / page).read_text()
    lines = [*re.findall(r"^    (\S.*?)(?:  +# .*)?$", text, re.MULTILINE), *re.findall(r"`([^`\n]+ [^`\n]+)`", text)]
    begins = re.compile(rf"({'|'.join(stand_in.FORMS)}|install|liqoctl install|helm install) (?!build )")
    return [line for line in lines if begins.match(line) and re.search(r"liqo[a-z]*[-:/]", line)]


def make(directory: Path) -> Release:
    """Makes the release of the build directory that the liqod under test is of."""
    daemon, liqoctl = settings.liqod(), settings.liqoctl()
    assert daemon and liqoctl, "there is no liqod, or no liqoctl, to make a release of"
    said = subprocess.run([liqoctl, "version", "--client"], capture_output=True, text=True, check=True).stdout
    version = said.split()[-1]
    made = subprocess.run(
        [sys.executable, settings.TREE / "tools/release", version, "--build", daemon.parents[2], "--output", directory],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, f"tools/release failed: {made.stderr}"
    return Release(directory, version)
