"""Pods go to a provider whose machines can run them, because its virtual node shows their architecture and features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import stays, wait_for

ARCH = "kubernetes.io/arch"
# Kubernetes 1.35 keeps what nodes declare only if it is told to; from 1.36 on it does by default.
DECLARING = Options(extra_apiserver=("--feature-gates=NodeDeclaredFeatures=true",))


class Pair:
    """bern, whose nodes are amd64, consumes; basel provides."""

    def __init__(self, consumer: Peer, provider: Peer):
        self.consumer, self.provider = consumer, provider
        self.machines = [node["metadata"]["name"] for node in provider.api.list("nodes")]

    def turn(self, machine: str, architecture: str) -> None:
        self.provider.api.patch("nodes", None, machine, {"metadata": {"labels": {ARCH: architecture}}})

    def declare(self, machine: str, *features: str) -> None:
        body = {"status": {"declaredFeatures": sorted(features) or None}}
        self.provider.api.patch("nodes", None, machine, body, "status")

    def declared(self) -> list[str]:
        """What the virtual node declares, which its labels say as well."""
        node, prefix = self.node(), "features.liqo.io/"
        labelled = [key.removeprefix(prefix) for key in node["metadata"]["labels"] if key.startswith(prefix)]
        features = node["status"].get("declaredFeatures", [])
        assert features == sorted(labelled)
        return features

    def node(self) -> dict[str, Any]:
        return self.consumer.api.get("nodes", None, "basel")

    def shows(self, architecture: str) -> bool:
        node = self.node()
        info = node["status"].get("nodeInfo", {})
        return node["metadata"]["labels"][ARCH] == architecture == info.get("architecture")

    def ask(self, namespace: str, name: str, architecture: str) -> None:
        pod = busybox(name, nodeSelector={ARCH: architecture})
        self.consumer.api.create("pods", namespace, pod)

    def place(self, namespace: str, name: str) -> str:
        """The node on which the pod runs, "" while it does not."""
        pod = self.consumer.api.get("pods", namespace, name)
        return pod["spec"].get("nodeName", "") if pod["status"].get("phase") == "Running" else ""

    def waits(self, namespace: str, name: str) -> bool:
        conditions = self.consumer.api.get("pods", namespace, name)["status"].get("conditions", [])
        return any(one["type"] == "PodScheduled" and one["status"] == "False" for one in conditions)


@pytest.fixture(scope="module")
def pair(run: Run) -> Iterator[Pair]:
    require_programs()
    with run.borrow(bern=DECLARING, basel=DECLARING) as (bern, basel):
        bern.add_kwok_nodes(1), basel.add_kwok_nodes(2)
        made = Pair(Peer(bern), Peer(basel))
        for machine in made.machines:
            made.turn(machine, "arm64")
        made.consumer.peer_with(made.provider)
        yield made
        for peer in (made.consumer, made.provider):
            peer.daemon.stop()


def test_pods_go_where_the_machines_are_of_their_architecture(pair: Pair, namespace: str) -> None:
    consumer, provider = pair.consumer, pair.provider
    wait_for(lambda: pair.shows("arm64"), SOON, "the node to be one of arm64")
    of_arm = consumer.api.list("nodes", selector=f"{ARCH}=arm64")
    assert [node["metadata"]["name"] for node in of_arm] == ["basel"]
    consumer.cluster.namespace(namespace)
    consumer.liqoctl("offload", "namespace", namespace)
    pair.ask(namespace, "arm", "arm64")
    pair.ask(namespace, "amd", "amd64")
    wait_for(lambda: pair.place(namespace, "arm") == "basel", SOON, "the pod for arm64 to run in basel")
    wait_for(lambda: pair.place(namespace, "amd") not in ("", "basel"), SOON, "the other to run at home")

    # A provider with machines of two kinds reports none, and a virtual node without a report counts as amd64.
    pair.turn(pair.machines[0], "amd64")
    wait_for(lambda: pair.shows("amd64"), SOON, "the node to be one of amd64")
    pair.ask(namespace, "late", "arm64")
    wait_for(lambda: pair.waits(namespace, "late"), SOON, "the scheduler to find no node for it")
    stays(lambda: pair.place(namespace, "late") == "", 2, "the pod unplaced")
    assert pair.place(namespace, "arm") == "basel", "what runs stays"

    # The operator's word overrides what is found.
    data = {"cluster-labels": f"{ARCH}=arm64"}
    policy = {"kind": "ConfigMap", "metadata": {"name": "liqo-sharing-policy"}, "data": data}
    provider.api.apply("configmaps", "liqo", policy)
    wait_for(lambda: pair.shows("arm64"), SOON, "the node to be what the operator says")
    wait_for(lambda: pair.place(namespace, "late") == "basel", SOON, "the pod to run there")
    provider.api.delete("configmaps", "liqo", "liqo-sharing-policy")
    for machine in pair.machines:
        pair.turn(machine, "amd64")
    wait_for(lambda: pair.shows("amd64"), SOON, "the node to be one of amd64")
    for pod in consumer.cluster.pods(namespace):
        consumer.api.delete("pods", namespace, pod["metadata"]["name"])
    wait_for(lambda: not consumer.cluster.pods(namespace), SOON, "the pods to go")
    consumer.liqoctl("unoffload", "namespace", namespace, "--skip-confirm")


def test_a_virtual_node_declares_what_all_machines_declare(pair: Pair) -> None:
    first, second = pair.machines
    untold = ("Part/of", "X" * 64, "ExtendWebSocketsToKubelet")
    pair.declare(first, "InPlaceResize", "RestartAll", *untold)
    pair.declare(second, "InPlaceResize", *untold)
    # The label of a feature has one slash, and at most 63 characters after it. Port-forward is served over SPDY alone.
    wait_for(lambda: pair.declared() == ["InPlaceResize"], SOON, "the node to declare what both machines do")
    pair.declare(second, "InPlaceResize", "RestartAll")
    wait_for(lambda: pair.declared() == ["InPlaceResize", "RestartAll"], SOON, "the node to declare more")
    pair.declare(first)
    wait_for(lambda: pair.declared() == [], SOON, "the node to declare nothing any more")
    stays(lambda: pair.declared() == [], 2, "what the node declares")
