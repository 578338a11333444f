"""Replicas of liqod in one cluster, behind the Service of its webhooks, and their rolling update.

The pods are processes. A replica is an endpoint of the Service from its first answer 200 on /readyz until it is told to
stop. The API server itself chooses among the endpoints, as with a real Service.
"""

from __future__ import annotations

import itertools
import signal
from pathlib import Path

from ..cluster.cluster import Cluster
from ..wait import wait_for
from . import chart
from .liqod import Liqod

SERVICE = "liqo-webhook"
READY_WITHIN = 60.0


class Replicas:
    """One replica at a time, as with `replicas: 1`; for the time of an update there are two."""

    def __init__(self, cluster: Cluster, listen_port: int = 10250):
        self.cluster, self.listen_port = cluster, listen_port
        self.kubeconfig: Path = chart.install(cluster)
        ports = [{"name": "webhook", "port": 9443, "targetPort": "webhook", "protocol": "TCP"}]
        service = {"kind": "Service", "metadata": {"name": SERVICE}, "spec": {"ports": ports}}
        cluster.api.apply("services", chart.NAMESPACE, service)
        self._numbers = itertools.count()
        self.current = self._start()

    def _start(self) -> Liqod:
        number = next(self._numbers)
        # Replicas that run at the same time have consecutive numbers.
        slot = number % 2
        replica = Liqod(
            self.cluster, self.kubeconfig, self.listen_port + 2 * slot, name=f"liqod-{number}", metrics_port=9090 + slot,
            service_port=9443 + slot, flags=("--leader-elect", "--identity", f"replica-{number}"), stop_delay="15s",
            listen_ports=2,
        )  # fmt: skip
        replica.start(READY_WITHIN)
        self._show(slot, True)
        return replica

    def _show(self, slot: int, ready: bool) -> None:
        self.cluster.api.apply("endpointslices", chart.NAMESPACE, {
            "kind": "EndpointSlice",
            "metadata": {"name": f"{SERVICE}-{slot}", "labels": {"kubernetes.io/service-name": SERVICE}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [self.cluster.address], "conditions": {"ready": ready}}],
            "ports": [{"name": "webhook", "port": 9443 + slot, "protocol": "TCP"}],
        })  # fmt: skip

    def begin_roll(self) -> Liqod:
        """As a Deployment does: the new one first, and the old one, which is returned, is told to stop once the new one
        is ready."""
        old = self.current
        self.current = self._start()
        assert old.process
        old.process.send(signal.SIGTERM)
        wait_for(lambda: old.get("/readyz")[0] == 503, 30, "the old replica to say that it stops", interval=0.02)
        self._show((old.metrics_port - 9090), False)
        return old

    def roll(self) -> None:
        """A whole update: the old one is gone."""
        old = self.begin_roll()
        assert old.process and old.process.wait(30) == 0, old.log()[-2000:]

    def serves_webhooks(self, replica: Liqod) -> bool:
        """Whether it takes connections there."""
        try:
            self.cluster.space.connect(self.cluster.address, 9443 + replica.metrics_port - 9090, 5).close()
        except ConnectionRefusedError:
            return False
        return True

    def leader(self) -> str:
        """Whose the lease is: "" while it is nobody's."""
        lease = self.cluster.api.get("leases", chart.NAMESPACE, "liqod")
        return lease["spec"].get("holderIdentity") or ""
