"""The daemons that stories share."""

from __future__ import annotations

from ..cluster.cluster import Cluster
from . import chart
from .liqod import Liqod


class Daemons:
    """liqod in every cluster that a story asks for, started once and kept alive from story to story."""

    def __init__(self) -> None:
        self._running: dict[str, Liqod] = {}

    def of(self, cluster: Cluster) -> Liqod:
        if cluster.name not in self._running:
            # A real kubelet has the usual port, so liqod takes another.
            port = 10260 if cluster.options.kubelet else 10250
            self._running[cluster.name] = Liqod(cluster, chart.install(cluster), port)
        self._running[cluster.name].ensure()
        return self._running[cluster.name]
