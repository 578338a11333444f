"""When a namespace with pods is offloaded, those follow that Kubernetes lets change, and Events tell of the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness import objects
from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.daemons import Daemons
from harness.liqo.peering import Peering
from harness.run import Run
from harness.story import is_ready
from harness.wait import stays, wait_for


@pytest.fixture(scope="module")
def siena_to_massa(run: Run, daemons: Daemons) -> Iterator[Peering]:
    """Replication has stories of its own; here its part is played by hand (Peering.carry)."""
    with run.borrow(siena=Options(), massa=Options(kubelet=True)) as (consumer, provider):
        consumer.add_kwok_nodes(1)
        daemons.of(consumer), daemons.of(provider)
        yield Peering(consumer, provider).establish().wait_ready()


@pytest.fixture
def full(siena_to_massa: Peering, namespace: str) -> Iterator[tuple[Peering, str]]:
    """siena has no room left on its own node, where the pod "placed" is."""
    home = siena_to_massa.consumer
    home.namespace(namespace)
    (worker,) = [n["metadata"]["name"] for n in home.api.list("nodes") if n["metadata"]["name"] != siena_to_massa.node]
    home.api.create("pods", namespace, busybox("placed"))
    wait_for(lambda: (home.pod(namespace, "placed") or {})["spec"].get("nodeName"), 60, "a pod to be placed")
    home.cordon(worker)
    yield siena_to_massa, namespace
    home.cordon(worker, False)
    # The pods go before the twin: the provider recreates a pod that ends while its ShadowPod is there.
    home.api.delete_all("pods", namespace, grace=0)
    wait_for(lambda: not siena_to_massa.provider.api.list("shadowpods"), 60, "the orders of the pods to be gone")
    home.api.delete("namespaceoffloadings", namespace, "offloading")

    def gone() -> bool:
        siena_to_massa.carry()
        return home.api.find("namespaceoffloadings", namespace, "offloading") is None

    wait_for(gone, 60, "the namespace to be withdrawn")
    home.api.delete("namespaces", None, namespace)


def extend(peering: Peering, namespace: str, strategy: str) -> None:
    offloading = objects.offloading(podOffloadingStrategy=strategy)
    peering.consumer.api.apply("namespaceoffloadings", namespace, offloading)

    def phase() -> str:
        peering.carry()
        found = peering.consumer.api.find("namespaceoffloadings", namespace, "offloading") or {}
        return found.get("status", {}).get("offloadingPhase", "")

    wait_for(lambda: phase() == "Ready", 60, "the namespace to be extended")


def told(peering: Peering, namespace: str) -> list[dict[str, Any]]:
    events = peering.consumer.events(namespace, "offloading")
    return [event for event in events if event["reason"] == "PodsBeforeOffloading"]


def test_a_pod_that_finds_no_node_at_home_runs_in_the_other_cluster(full: tuple[Peering, str]) -> None:
    peering, namespace = full
    home = peering.consumer
    home.api.create("pods", namespace, busybox("waits"))
    unplaced = lambda: not home.pod(namespace, "waits")["spec"].get("nodeName")  # type: ignore[index]  # noqa: E731
    stays(unplaced, 2, "the pod without a node")
    extend(peering, namespace, "LocalAndRemote")
    wait_for(lambda: is_ready(home.pod(namespace, "waits") or {}), 60, "the pod to run")
    assert home.pod(namespace, "waits")["spec"]["nodeName"] == peering.node  # type: ignore[index]
    stays(lambda: not told(peering, namespace), 5, "nothing to tell")


def test_a_gated_pod_follows_and_the_others_are_told(full: tuple[Peering, str]) -> None:
    peering, namespace = full
    home = peering.consumer
    home.api.create("pods", namespace, busybox("waits"))
    home.api.create("pods", namespace, busybox("gated", schedulingGates=[{"name": "example.com/later"}]))
    extend(peering, namespace, "Remote")
    (event,) = wait_for(lambda: told(peering, namespace), 60, "an event that tells of the earlier pods")
    assert "extended: 1 have a node already, where they stay; 1 wait for a node" in event["message"]
    home.api.patch("pods", namespace, "gated", {"spec": {"schedulingGates": []}})
    wait_for(lambda: is_ready(home.pod(namespace, "gated") or {}), 60, "the gated pod to run")
    affinity = home.pod(namespace, "gated")["spec"]["affinity"]["nodeAffinity"]  # type: ignore[index]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert {"key": "liqo.io/type", "operator": "In", "values": ["virtual-node"]} in term["matchExpressions"]
    assert home.pod(namespace, "gated")["spec"]["nodeName"] == peering.node  # type: ignore[index]
