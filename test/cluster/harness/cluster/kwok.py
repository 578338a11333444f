"""Fake nodes: kwok acts as their kubelet, and every pod bound to them is Running at once."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from .. import settings
from . import rights

if TYPE_CHECKING:
    from .cluster import Cluster

_RULES = [
    {
        "apiGroups": [""],
        "resources": ["nodes", "pods", "events"],
        "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"],
    },
    {"apiGroups": [""], "resources": ["nodes/status", "pods/status"], "verbs": ["get", "update", "patch"]},
    {
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"],
    },
]


def prepare(cluster: Cluster) -> None:
    """Makes the user that kwok runs as, with just the rights of a kubelet for any node, and its configuration."""
    stages = subprocess.run([settings.tool("kwok/stages")], check=True, stdout=subprocess.PIPE)
    (cluster.directory / "kwok.yaml").write_bytes(stages.stdout)
    cluster.kubeconfig_of("kwok", "kwok")
    cluster.api.apply(
        "clusterroles", None, {"kind": "ClusterRole", "metadata": {"name": "liqo-test-kwok"}, "rules": _RULES}
    )
    rights.bind(cluster, None, "liqo-test-kwok", rights.user("kwok"), role="liqo-test-kwok")


def add_nodes(cluster: Cluster, count: int, pods_per_node: int) -> None:
    """Adds `count` nodes named <cluster>-fake-<number>, going on from those that exist."""
    first = len(cluster.api.list("nodes", selector="type=kwok"))
    room = {"cpu": "256", "memory": "1Ti", "pods": str(pods_per_node)}

    def add(number: int) -> None:
        name = f"{cluster.name}-fake-{number}"
        labels = {
            "type": "kwok",
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
        }
        metadata = {"name": name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}}
        status = {"capacity": room, "allocatable": room, "nodeInfo": {"kubeletVersion": "fake"}}
        cluster.api.create("nodes", None, {"kind": "Node", "metadata": metadata, "status": status})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(first, first + count)))
