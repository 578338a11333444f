"""Objects in a twin name that namespace as their owner: GitOps tools leave them alone, and none names a former twin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness import objects
from harness.cluster import audit
from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.daemons import Daemons
from harness.liqo.peering import Peering
from harness.run import Run
from harness.wait import wait_for

MARK = {"app.kubernetes.io/instance": "shop"}
# What Argo CD of the provider looks through for what bears its label.
FOUND = ("configmaps", "services", "endpointslices", "shadowendpointslices", "shadowpods", "pods")
COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"
SOON = 60


@pytest.fixture(scope="module")
def pisa_to_lucca(run: Run, daemons: Daemons) -> Iterator[Peering]:
    """Two clusters of their own, because a whole twin is deleted by hand."""
    with run.borrow(pisa=Options(), lucca=Options()) as (consumer, provider):
        provider.add_kwok_nodes(1)
        daemons.of(consumer), daemons.of(provider)
        yield Peering(consumer, provider).establish().wait_ready()


class Shop:
    """A namespace of the consumer whose objects bear the mark of a GitOps tool, and its twin."""

    def __init__(self, peering: Peering, namespace: str):
        self.peering, self.home, self.away = peering, peering.consumer.api, peering.provider.api
        self.namespace, self.twin = peering.consumer.namespace(namespace), f"{namespace}-{peering.consumer.name}"
        self.count = 0
        self.home.apply("namespaceoffloadings", self.namespace, objects.offloading())
        self.wait(lambda: self.uid() and "true" == self.annotations().get("offloading.liqo.io/checks-owners"), "the twin")

    def wait(self, holds: Any, what: str, timeout: float = SOON) -> None:
        """Waits, with wishes and answers carried between the clusters meanwhile."""

        def looked() -> object:
            self.peering.carry()
            return holds()

        wait_for(looked, timeout, what)

    def annotations(self) -> dict[str, str]:
        return self.away.get("namespaces", None, self.twin)["metadata"].get("annotations", {})

    def uid(self) -> str:
        """That of the twin; "" if there is none, or it is being deleted."""
        metadata = (self.away.find("namespaces", None, self.twin) or {"metadata": {}})["metadata"]
        return "" if "deletionTimestamp" in metadata else metadata.get("uid", "")

    def make(self) -> None:
        """One more ConfigMap."""
        metadata = {"name": f"config-{self.count}", "labels": MARK}
        self.home.create("configmaps", self.namespace, {"kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}})
        self.count += 1

    def deploy(self, replicas: int) -> None:
        labels = {**MARK, "app": "web"}
        template = {"metadata": {"labels": labels}, "spec": self.peering.pinned(busybox("web"))["spec"]}
        spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
        body = {"kind": "Deployment", "metadata": {"name": "web", "labels": MARK}, "spec": spec}
        self.home.create("deployments", self.namespace, body)

    def owners(self, resource: str) -> list[list[dict[str, Any]]]:
        """Of each object with the mark in the twin."""
        listed = self.away.list(resource, self.twin, "app.kubernetes.io/instance=shop")
        return [found["metadata"].get("ownerReferences", []) for found in listed]

    def all_are_owned(self, uid: str, pods: int) -> bool:
        expected = [{"apiVersion": "v1", "kind": "Namespace", "name": self.twin, "uid": uid}]
        configs, shadows = self.owners("configmaps"), self.owners("shadowpods")
        assert len(configs) == self.count and len(shadows) == pods, f"{len(configs)} copies, {len(shadows)} ShadowPods"
        assert all(owners == expected for owners in configs + shadows), f"{configs + shadows}"
        return True

    def close(self) -> None:
        self.home.delete("deployments", self.namespace, "web")
        self.home.delete("namespaceoffloadings", self.namespace, "offloading")
        gone = lambda: self.home.find("namespaceoffloadings", self.namespace, "offloading") is None  # noqa: E731
        self.wait(gone, "the NamespaceOffloading to be gone", 2 * SOON)
        self.away.delete("namespacemaps", self.peering.away, self.peering.provider.name)


@pytest.fixture
def shop(pisa_to_lucca: Peering, namespace: str) -> Iterator[Shop]:
    made = Shop(pisa_to_lucca, namespace)
    yield made
    made.close()


def test_a_prune_by_label_at_the_provider_finds_nothing_without_an_owner(shop: Shop) -> None:
    """Argo CD prunes what bears its label, is not in its repository, and has no owner."""
    shop.make()
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}
    service = {"kind": "Service", "metadata": {"name": "web", "labels": MARK}, "spec": spec}
    shop.home.create("services", shop.namespace, service)
    shop.deploy(2)
    shop.wait(lambda: shop.all_are_owned(shop.uid(), 2), "the copies and the ShadowPods to be there")
    shop.wait(lambda: len(shop.owners("services")) == 1 and len(shop.owners("pods")) == 2, "the Service and the Pods")
    pruned = [resource for resource in FOUND if [] in shop.owners(resource)]
    assert not pruned, f"these would be pruned: {pruned}"
    # The Pod still belongs to its ShadowPod alone.
    assert [[owner["kind"] for owner in owners] for owners in shop.owners("pods")] == [["ShadowPod"]] * 2


@pytest.mark.refusals  # of writes into the twin while it ends
def test_a_twin_that_comes_back_under_load_loses_nothing_to_the_garbage_collector(shop: Shop) -> None:
    shop.deploy(3)
    for _ in range(5):
        shop.make()
    former = shop.uid()
    shop.wait(lambda: shop.all_are_owned(former, 3), "the copies and the ShadowPods to be there")
    began = shop.peering.provider.audit.mark()
    shop.away.delete("namespaces", None, shop.twin)

    def is_new() -> bool:
        shop.make()
        return shop.uid() not in ("", former)

    shop.wait(is_new, "the twin to be made anew", 2 * SOON)
    for _ in range(20):
        shop.make()
    shop.wait(lambda: shop.all_are_owned(shop.uid(), 3), "all copies to name the new twin", 2 * SOON)
    collected = [
        audit.described(entry)
        for entry in shop.peering.provider.audit.entries(began)
        if audit.user(entry) == COLLECTOR and entry["verb"] == "delete"
        if audit.resource(entry) in ("configmaps", "shadowpods", "services")
        if entry["objectRef"].get("namespace") == shop.twin
    ]
    assert not collected, f"the garbage collector removed {collected}"
