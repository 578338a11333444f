"""Two clusters with real nodes for the stories of real software, and what they need of its installers."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from .. import settings
from ..cluster.cluster import Cluster
from ..liqo.peers import Peer
from ..wait import patient, wait_for
from . import pins


@dataclass
class Two:
    """mantua, which consumes, and bolzano, which provides. Both have a real node, a name server and kube-proxy."""

    home: Peer
    away: Peer

    def give(self, name: str) -> None:
        """Gives the image of that software to the nodes of both clusters."""
        for peer in (self.home, self.away):
            assert peer.cluster.node
            peer.cluster.node.give(pins.archive(name))

    def get(self, *arguments: object) -> dict[str, Any]:
        """`kubectl get` at home; a failure is an AssertionError."""
        return json.loads(self.home.cluster.kubectl("get", *arguments, "-o", "json"))

    def nodes(self, namespace: str, selector: str = "") -> set[str]:
        """The nodes of home on which these pods are."""
        return {pod["spec"].get("nodeName", "") for pod in self.home.cluster.pods(namespace, selector)}


def rolled_out(cluster: Cluster, namespace: str, deployment: str) -> None:
    """Waits until all pods of a Deployment are ready."""
    what = ("rollout", "status", f"deployment/{deployment}", "-n", namespace, "--timeout=300s")
    cluster.kubectl(*what, timeout=310)


def helm(cluster: Cluster, *arguments: object) -> None:
    """Runs Helm as the administrator of the cluster."""
    kubeconfig = ("--kubeconfig", cluster.kubeconfig)
    done = subprocess.run(
        [str(word) for word in cluster.space.entering([settings.tool("helm3"), *arguments, *kubeconfig])],
        capture_output=True, text=True, timeout=patient(300), check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"`helm {' '.join(map(str, arguments))}` failed: {done.stderr}"


def offload(two: Two, namespace: str, *arguments: object) -> None:
    """Offloads a namespace of home, and waits until its twin is there."""
    two.home.cluster.namespace(namespace)
    two.home.liqoctl("offload", "namespace", namespace, *arguments)

    def ready() -> bool:
        found = two.home.api.get("namespaceoffloadings", namespace, "offloading")
        return found.get("status", {}).get("offloadingPhase") == "Ready"

    wait_for(ready, 60, f"namespace {namespace} to be offloaded")
