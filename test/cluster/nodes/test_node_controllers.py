"""Kubernetes' node controllers give a virtual node a pod range and taint it when it is silent, and it goes on."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import stays, wait_for

# The range has room for two nodes.
RANGE = ipaddress.ip_network("10.200.0.0/23")
IPAM = ("--allocate-node-cidrs=true", f"--cluster-cidr={RANGE}", "--node-cidr-mask-size=24")


class Pair:
    """graz, which gives each node a range of pods' addresses, consumes; linz provides."""

    def __init__(self, run: Run, consumer: Peer, provider: Peer):
        self.run, self.consumer, self.provider = run, consumer, provider

    def node(self, name: str = "linz") -> dict[str, Any]:
        return self.consumer.api.get("nodes", None, name)

    def taints(self) -> set[str]:
        return {taint["key"] for taint in self.node()["spec"].get("taints", [])}


@pytest.fixture(scope="module")
def pair(run: Run) -> Iterator[Pair]:
    require_programs()
    # liqod renews the lease of a node every ten seconds, and may be late by as much.
    options = Options(extra_manager=IPAM, node_grace_seconds=25)
    with run.borrow(graz=options, linz=Options()) as (graz, linz):
        graz.add_kwok_nodes(1), linz.add_kwok_nodes(1)
        made = Pair(run, Peer(graz), Peer(linz))
        made.consumer.peer_with(made.provider)
        yield made
        for peer in (made.consumer, made.provider):
            peer.daemon.stop()


@pytest.fixture
def running(pair: Pair, namespace: str) -> Iterator[str]:
    """A namespace with a pod that runs in linz."""
    pair.consumer.cluster.namespace(namespace)
    pair.consumer.liqoctl("offload", "namespace", namespace, "--pod-offloading-strategy", "Remote")
    pair.consumer.api.create("pods", namespace, busybox("web"))
    wait_for(lambda: pair.consumer.running(namespace) == 1, SOON, "the pod to run in linz")
    yield namespace
    pair.consumer.api.delete("pods", namespace, "web")
    wait_for(lambda: not pair.consumer.cluster.pods(namespace), SOON, "the pod to go")
    pair.consumer.liqoctl("unoffload", "namespace", namespace, "--skip-confirm")


def test_a_virtual_node_lives_with_the_range_that_it_is_given(pair: Pair, running: str) -> None:
    given = wait_for(lambda: pair.node()["spec"].get("podCIDR"), SOON, "a range for the virtual node")
    assert ipaddress.ip_network(given).subnet_of(RANGE)
    stays(lambda: pair.consumer.node_ready("linz"), 5, "the virtual node Ready")
    assert pair.consumer.running(running) == 1
    # A node without a range gets an Event about it, and works nevertheless.
    pair.consumer.cluster.add_kwok_nodes(1)
    ready = lambda: pair.consumer.node_ready("graz-fake-1")  # noqa: E731
    wait_for(ready, SOON, "the node without a range to be Ready")

    def told() -> bool:
        events = pair.consumer.cluster.events("default", "graz-fake-1")
        return any(event["reason"] == "CIDRNotAvailable" for event in events)

    wait_for(told, 60, "Kubernetes to say that there is no range left")
    assert "podCIDR" not in pair.node("graz-fake-1")["spec"]


def test_a_silent_liqod_costs_the_node_its_readiness_and_nothing_else(pair: Pair, running: str) -> None:
    node, pod = pair.node()["metadata"]["uid"], pair.consumer.api.get("pods", running, "web")["metadata"]["uid"]
    pair.consumer.daemon.stop()
    try:
        unreachable = "node.kubernetes.io/unreachable"
        wait_for(lambda: unreachable in pair.taints(), 90, "Kubernetes to call the node unreachable")
        stays(lambda: pair.consumer.api.find("nodes", None, "linz") is not None, 5, "the Node")
    finally:
        pair.consumer.daemon.start()
    wait_for(lambda: pair.consumer.node_ready("linz"), SOON, "the node to be Ready again")
    wait_for(lambda: unreachable not in pair.taints(), SOON, "the taint to go")
    assert pair.node()["metadata"]["uid"] == node
    assert pair.consumer.api.get("pods", running, "web")["metadata"]["uid"] == pod
    assert pair.consumer.running(running) == 1


def test_a_silent_provider_is_tainted_and_its_node_stays(pair: Pair, running: str) -> None:
    node = pair.node()
    pair.run.network.cut("linz")
    try:
        wait_for(lambda: not pair.consumer.node_ready("linz"), 120, "the node not to be Ready")
        wait_for(lambda: "node.kubernetes.io/not-ready" in pair.taints(), SOON, "Kubernetes to taint the node")
        stays(lambda: pair.consumer.api.find("nodes", None, "linz") is not None, 5, "the Node")
        assert pair.node()["spec"]["providerID"] == "liqo://linz/linz"
        # Route controllers of clouds set this condition on nodes without a route, and it would keep pods away.
        assert not [one for one in pair.node()["status"]["conditions"] if one["type"] == "NetworkUnavailable"]
    finally:
        pair.run.network.heal("linz")
    wait_for(lambda: pair.consumer.node_ready("linz"), 60, "the node to be Ready again")
    assert pair.node()["metadata"]["uid"] == node["metadata"]["uid"]
    wait_for(lambda: pair.consumer.running(running) == 1, SOON, "the pod to run")
