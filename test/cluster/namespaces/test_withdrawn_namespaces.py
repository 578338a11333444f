"""While a namespace is withdrawn and its pods end slowly, pods of one name never run in two places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness import objects
from harness.cluster.cluster import UNTIL_TOLD, busybox
from harness.cluster.components import Options
from harness.liqo.daemons import Daemons
from harness.liqo.peering import Peering
from harness.run import Run
from harness.story import is_ready
from harness.wait import stays, wait_for

# For how many seconds an ending pod is watched.
WATCHED = 6.0


@pytest.fixture(scope="module")
def pisa_to_parma(run: Run, daemons: Daemons) -> Iterator[Peering]:
    """Replication has stories of its own; here its part is played by hand (Peering.carry)."""
    with run.borrow(pisa=Options(), parma=Options(kubelet=True)) as (consumer, provider):
        consumer.add_kwok_nodes(1)
        daemons.of(consumer), daemons.of(provider)
        yield Peering(consumer, provider).establish().wait_ready()


def stateful_set(node: str) -> dict[str, Any]:
    """One pod, which is to be on that virtual node as long as it may."""
    pod = busybox("web", UNTIL_TOLD, terminationGracePeriodSeconds=60)
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
    preferred = [{"weight": 100, "preference": term}]
    pod["spec"]["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    labels = {"app": "web"}
    spec = {"replicas": 1, "serviceName": "web", "selector": {"matchLabels": labels}}
    spec["template"] = {"metadata": {"labels": labels}, "spec": pod["spec"]}
    return {"kind": "StatefulSet", "metadata": {"name": "web"}, "spec": spec}


@pytest.mark.refusals("no pod can be made in a twin that ends")
@pytest.mark.parametrize("restarted", [False, True], ids=["watching", "restarted"])
def test_a_pod_that_ends_slowly_is_replaced_after_its_end(
    pisa_to_parma: Peering, daemons: Daemons, namespace: str, restarted: bool
) -> None:
    peering = pisa_to_parma
    home, away = peering.consumer, peering.provider
    namespace = home.namespace(namespace)
    twin = f"{namespace}-{home.name}"
    home.api.apply("namespaceoffloadings", namespace, objects.offloading())

    def phase() -> str:
        peering.carry()
        found = home.api.find("namespaceoffloadings", namespace, "offloading") or {}
        return found.get("status", {}).get("offloadingPhase", "")

    wait_for(lambda: phase() == "Ready", 30, "the namespace to be extended")
    home.api.create("statefulsets", namespace, stateful_set(peering.node))
    pod = lambda: home.pod(namespace, "web-0") or {"metadata": {}, "spec": {}, "status": {}}  # noqa: E731
    wait_for(lambda: is_ready(pod()), 60, "web-0 to run")
    assert pod()["spec"]["nodeName"] == peering.node
    first = pod()["metadata"]["uid"]

    home.api.delete("namespaceoffloadings", namespace, "offloading")
    remote = lambda: away.pod(twin, "web-0")  # noqa: E731

    def is_ending() -> bool:
        peering.carry()
        return bool((remote() or {"metadata": {}})["metadata"].get("deletionTimestamp"))

    wait_for(is_ending, 30, "the remote pod to be told to end")
    if restarted:
        liqod = daemons.of(home)
        liqod.kill()
        liqod.start()

    seen: list[tuple[bool, bool]] = []

    def replaced() -> bool:
        peering.carry()
        another = pod()["metadata"].get("uid", first) != first
        # The provider is read second: a remote pod that is still there was there when home already had another pod.
        seen.append((another, remote() is not None))
        return another

    stays(lambda: not replaced() and remote(), WATCHED, "web-0, which ends but has not ended,", interval=0.05)
    away.kubectl("-n", twin, "exec", "web-0", "--", "touch", "/tmp/end")
    wait_for(replaced, 90, "web-0 to be replaced")
    assert (True, True) not in seen, "web-0 was replaced while the old one was still ending"
    wait_for(lambda: is_ready(pod()), 60, "the new web-0 to run")
    assert pod()["spec"]["nodeName"] != peering.node
    gone = lambda: phase() == "" and away.api.find("namespaces", None, twin) is None  # noqa: E731
    wait_for(gone, 60, "twin and NamespaceOffloading to be gone")
    home.api.delete("namespaces", None, namespace)
