"""Clusters of which each has the programs of a build directory of its own, for stories of versions that differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .. import settings
from ..cluster.cluster import Cluster
from ..tools.liqoctl import Liqoctl
from ..tools.release import REPOSITORY
from ..wait import wait_for
from .deployed import daemon_of
from .liqod import Liqod

SOON = 120.0


class Side:
    """A cluster with the programs of a build directory, installed by its liqoctl; liqod runs as its Deployment says."""

    def __init__(self, cluster: Cluster, build: Path):
        self.cluster, self.api, self.name = cluster, cluster.api, cluster.name
        self.liqoctl = Liqoctl(cluster, binary=build / "services/liqoctl/liqoctl")
        self._install()
        # Its garbage collector looks for new kinds every 30 s only.
        cluster.restart("kube-controller-manager")
        self.daemon = self._start(build)
        wait_for(lambda: self.api.find("secrets", "liqo", "authentication-keys"), SOON, f"the keys of {self.name}")
        hooks = lambda: self.api.list("validatingwebhookconfigurations")  # noqa: E731
        wait_for(hooks, SOON, f"the webhooks of {self.name}")

    def _install(self) -> None:
        address = f"apiServer.address={self.cluster.server}"
        image = f"image.repository={REPOSITORY}"
        self.cluster.apply(
            self.liqoctl("install", "--print", "--cluster-id", self.name, "--set", address, "--set", image)
        )

    def _start(self, build: Path) -> Liqod:
        return daemon_of(self.cluster, binary=build / "services/liqod/liqod").start(SOON)

    def upgrade(self, build: Path) -> None:
        """What the chart of `build` brings, and then its liqod in the place of the one that runs."""
        self.liqoctl = Liqoctl(self.cluster, binary=build / "services/liqoctl/liqoctl")
        self._install()
        self.daemon.stop()
        self.daemon = self._start(build)
        self.daemon.wait_asked()

    def type_documented(self, word: str) -> None:
        """Types the one command of docs/operations.md that has this word in it."""
        text = (settings.TREE / "docs/operations.md").read_text(encoding="utf-8")
        (line,) = [block for block in re.findall(r"(?:^    .*\n)+", text, re.MULTILINE) if word in block]
        kubectl = " ".join(str(part) for part in self.cluster.kubectl_command())
        self.cluster.space.run("bash", "-c", f'kubectl() {{ {kubectl} "$@"; }}; set -o pipefail; {line}', timeout=60)


@dataclass
class Pair:
    consumer: Side
    provider: Side
