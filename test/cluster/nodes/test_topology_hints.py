"""Services keep the hints of topology-aware routing beside a virtual node that has the zone of its provider's nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import wait_for

ZONE = "topology.kubernetes.io/zone"
SELECTOR = {"app": "web"}


@pytest.fixture(scope="module")
def pair(run: Run) -> Iterator[tuple[Peer, Peer]]:
    """graz, whose nodes are in two zones, consumes; linz, whose nodes say nothing of zones, provides."""
    require_programs()
    with run.borrow(graz=Options(), linz=Options()) as (graz, linz):
        graz.add_kwok_nodes(2), linz.add_kwok_nodes(2)
        consumer, provider = Peer(graz, ("--provider-zones",)), Peer(linz)
        place(consumer, "south", "north")
        yield consumer, provider
        for peer in (consumer, provider):
            peer.daemon.stop()


def place(peer: Peer, *zones: str) -> None:
    machines = peer.api.list("nodes", selector="type=kwok")
    for machine, zone in zip(machines, zones, strict=True):
        peer.api.patch("nodes", None, machine["metadata"]["name"], {"metadata": {"labels": {ZONE: zone}}})


def deploy(home: Peer, namespace: str, replicas: int) -> None:
    """Pods on home's own nodes, as many in each zone, and a Service that asks for hints."""
    term = {"matchExpressions": [{"key": "liqo.io/type", "operator": "NotIn", "values": ["virtual-node"]}]}
    spread = {
        "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": SELECTOR},
    }  # fmt: skip
    spec = busybox("web")["spec"] | {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}},
        "topologySpreadConstraints": [spread],
    }
    template = {"metadata": {"labels": SELECTOR}, "spec": spec}
    body = {"replicas": replicas, "selector": {"matchLabels": SELECTOR}, "template": template}
    home.api.create("deployments", namespace, {"kind": "Deployment", "metadata": {"name": "web"}, "spec": body})
    metadata = {"name": "web", "annotations": {"service.kubernetes.io/topology-mode": "Auto"}}
    home.api.create(
        "services", namespace, {"kind": "Service", "metadata": metadata, "spec": {"selector": SELECTOR, "ports": [{"port": 80}]}}
    )  # fmt: skip


def hinted(home: Peer, namespace: str) -> tuple[int, int]:
    """How many endpoints there are, and how many have a hint."""
    slices = home.api.list("endpointslices", namespace, selector="kubernetes.io/service-name=web")
    endpoints: list[dict[str, Any]] = [one for found in slices for one in found.get("endpoints") or []]
    return len(endpoints), sum(bool((one.get("hints") or {}).get("forZones")) for one in endpoints)


def on_one_line(output: str) -> str:
    return " ".join(output.split())


def test_services_have_hints_again_once_the_virtual_node_has_a_zone(pair: tuple[Peer, Peer], namespace: str) -> None:
    home, away = pair
    home.cluster.namespace(namespace)
    deploy(home, namespace, 12)
    wait_for(lambda: hinted(home, namespace) == (12, 12), SOON, "hints for all endpoints")

    peered = home.liqoctl.attempt("peer", "--remote-kubeconfig", away.cluster.kubeconfig, "--cpu", "1")
    assert peered.code == 0, peered.err
    told = f"({namespace}/web) get no hints, because virtual node linz has no zone"
    remedy = f"--node-extra-labels {ZONE}=ZONE"
    words = on_one_line(peered.err + peered.out)
    assert told in words and remedy in words
    wait_for(lambda: hinted(home, namespace)[1] == 0, SOON, "the hints to be gone")
    assert told in on_one_line(home.liqoctl.attempt("check").out)

    # Nodes in two zones have none in common; then all are in one.
    place(away, "east", "west")
    place(away, "east", "east")
    zone = lambda: home.api.get("nodes", None, "linz")["metadata"]["labels"].get(ZONE)  # noqa: E731
    wait_for(lambda: zone() == "east", SOON, "the virtual node to have the zone of its provider's nodes")
    assert told not in on_one_line(home.liqoctl.attempt("check").out)
    # Kubernetes looks at the Services again when their endpoints change.
    home.api.patch("deployments", namespace, "web", {"spec": {"replicas": 14}})
    wait_for(lambda: hinted(home, namespace) == (14, 14), SOON, "hints for all endpoints again")

    home.api.delete("deployments", namespace, "web")
    wait_for(lambda: not home.cluster.pods(namespace), SOON, "the pods to go")
    place(away, "east", "west")
    wait_for(lambda: zone() is None, SOON, "the virtual node to have no zone any more")
    home.unpeer_from(away)
