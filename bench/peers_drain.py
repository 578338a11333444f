"""The drain of `tools/bench peers`: a virtual node with a thousand pods goes, and each answer takes a round trip."""

from __future__ import annotations

from typing import Any

from harness.cluster import pki
from harness.cluster.node import is_ready
from harness.wait import wait_for
from peers_stage import PATIENCE, PeersStage, each, say, wait_count

NODE, PROVIDER = "far", "far"
HOME, NAMESPACE, TWIN = f"liqo-tenant-{PROVIDER}", "work", "work-rome"
# How much later each answer of both API servers begins.
DELAY_MS = 10
_EVICTED = "liqod POST pods/eviction 2"


def _fill(on: PeersStage) -> None:
    """A peering made by hand, as one that has an own kubeconfig for its virtual node."""
    api, of_peer = on.api, {"liqo.io/remote-cluster-id": PROVIDER}
    api.create("namespaces", None, {"metadata": {"name": HOME, "labels": {"liqo.io/tenant-namespace": "true", **of_peer}}})
    api.create("namespaces", None, {"metadata": {"name": NAMESPACE}})
    user = pki.certificate_user(on.authority.issue("far-user", "rome", ["rome"]))
    kubeconfig = {"kubeconfig": pki.encoded(on.kubeconfig(on.peers.server(0), user))}
    api.create("secrets", HOME, {"metadata": {"name": "kubeconfig-far", "labels": of_peer}, "data": kubeconfig})
    room = {"cpu": "512", "memory": "1Ti", "pods": "20k", "ephemeral-storage": "1Ti"}
    spec = {
        "clusterID": PROVIDER,
        "createNode": True,
        "disableNetworkCheck": True,
        "kubeconfigSecretRef": {"name": "kubeconfig-far"},
        "resourceQuota": {"hard": room},
    }
    api.create("virtualnodes", HOME, {"metadata": {"name": NODE, "labels": of_peer}, "spec": spec})
    metadata = {"name": "offloading", "finalizers": ["namespaceoffloading-controller.liqo.io/finalizer"]}
    spec = {"namespaceMappingStrategy": "SelectedName", "remoteNamespaceName": TWIN}
    api.create("namespaceoffloadings", NAMESPACE, {"metadata": metadata, "spec": spec})
    labels = {**of_peer, "liqo.io/replication": "true", "liqo.io/remoteID": PROVIDER}
    spec = {"desiredMapping": {NAMESPACE: TWIN}}
    api.create("namespacemaps", HOME, {"metadata": {"name": PROVIDER, "labels": labels}, "spec": spec})
    status = {"currentMapping": {NAMESPACE: {"remoteNamespace": TWIN, "phase": "Accepted"}}}
    api.patch("namespacemaps", HOME, PROVIDER, {"status": status}, "status")


def _pod(on: PeersStage, number: int) -> None:
    spec = {
        "nodeName": NODE,
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "main", "image": "busybox"}],
        "tolerations": [{"operator": "Exists"}],
    }
    on.api.create("pods", NAMESPACE, {"metadata": {"name": f"pod-{number}"}, "spec": spec})


def run(on: PeersStage, pods: int) -> dict[str, Any]:
    api, far = on.api, on.peers.apis[0]
    say(f"drain: a virtual node with {pods} pods")
    _fill(on)
    on.start_liqod()
    wait_for(lambda: is_ready(api.find("nodes", None, NODE)), 60, "the virtual node to be Ready")
    each(range(pods), lambda number: _pod(on, number))
    wait_count(lambda: len(far.list("shadowpods", TWIN)), pods, "ShadowPods")
    on.wait_calm()
    for crowd in (on.home, on.peers):
        crowd.delay(DELAY_MS)
    mark, cpu = on.home.writes().next, on.process.cpu_seconds()
    api.delete("virtualnodes", HOME, NODE)
    wait_for(lambda: not api.find("virtualnodes", HOME, NODE), PATIENCE, "the virtual node to be gone", interval=0.5)
    writes = on.home.writes(mark)
    began = writes.last("bench DELETE virtualnodes")
    found = {
        "pods": pods,
        "delay_ms": DELAY_MS,
        "evictions": writes.count(_EVICTED),
        "evicted_seconds": writes.last(_EVICTED) - began,
        "gone_seconds": writes.last("liqod DELETE nodes") - began,
        "cpu_seconds": on.process.cpu_seconds() - cpu,
        "writes": {name: of["count"] for name, of in writes.by_kind.items()},
    }
    say(f"{found['evictions']} evictions in {found['evicted_seconds']:.2f} s, all gone after {found['gone_seconds']:.1f} s")
    return found
