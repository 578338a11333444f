"""The image of the liqod under test, as tools/image makes it, for nodes of clusters: there is no registry."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from . import settings
from .cluster import Cluster


def make(directory: Path) -> tuple[Path, str]:
    """Makes the image of the build directory that the liqod under test is of; returns its archive and its name."""
    daemon = settings.liqod()
    assert daemon, "there is no liqod to make an image of"
    made = subprocess.run(
        [sys.executable, settings.TREE / "tools/image", "--build", daemon.parents[2], "--output", directory],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, f"tools/image failed: {made.stderr}"
    (archive,) = directory.glob("liqo-*-image-amd64.tar")
    return archive, made.stdout.split()[0]


def give(cluster: Cluster, archive: Path) -> None:
    """Imports an archive on the real node of a cluster, as docs/image.md says for containerd."""
    socket = cluster.directory / "containerd.sock"
    done = subprocess.run(
        ["ctr", "--address", socket, "--namespace", "k8s.io", "images", "import", archive],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"containerd of {cluster.name} does not take {archive.name}: {done.stderr}"
