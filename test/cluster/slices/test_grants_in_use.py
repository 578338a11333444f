"""One quota covers several namespaces, a drained tenant gets back to work, enforcement can be switched off, and a slice
cannot have what pods of another one still hold.

kyme consumes from smyrna, whose nodes are fake. The stories follow each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness import objects
from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import stays, wait_for

NAMESPACES = ("shop", "blog", "mail")
TENANT = ("liqo-tenant-kyme", "kyme")
HOME = "liqo-tenant-smyrna"


class Grant:
    def __init__(self, consumer: Peer, provider: Peer):
        self.consumer, self.provider = consumer, provider
        consumer.peer_with(provider, "--cpu", 2, "--memory", "4Gi", "--pods", 20)
        for namespace in NAMESPACES:
            consumer.cluster.namespace(namespace)
        consumer.liqoctl("offload", "namespace", *NAMESPACES, "--pod-offloading-strategy", "Remote")

    def create(self, namespace: str, name: str, cpu: str) -> None:
        pod = busybox(name)
        pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu, "memory": "8Mi"}}
        # The pod is bound by hand, because the scheduler knows the node's size: only the provider bounds it.
        pod["spec"]["nodeName"] = self.provider.name
        self.consumer.api.create("pods", namespace, pod)

    def runs(self, namespace: str, name: str) -> bool:
        return (self.consumer.cluster.pod(namespace, name) or {}).get("status", {}).get("phase") == "Running"

    def told(self, namespace: str, name: str) -> str:
        """What the conditions of a pod say at home."""
        status = (self.consumer.cluster.pod(namespace, name) or {}).get("status", {})
        return " ".join(condition.get("message", "") for condition in status.get("conditions", []))

    def quota(self) -> dict[str, Any]:
        (quota,) = self.provider.api.list("quotas", TENANT[0])
        return quota

    def answer(self, name: str) -> tuple[str, str]:
        """Status and message of the condition that says what a slice of kyme got, as kyme sees it."""
        slice_ = self.consumer.api.find("resourceslices", HOME, name) or {}
        for condition in slice_.get("status", {}).get("conditions", []):
            if condition["type"] == "Resources":
                return condition["status"], condition.get("message", "")
        return "", ""

    def condition(self) -> str:
        return self.provider.api.get("tenants", *TENANT)["spec"].get("tenantCondition", "Active")

    def running(self) -> int:
        return sum(self.provider.running(f"{namespace}-kyme") for namespace in NAMESPACES)


@pytest.fixture(scope="module")
def grant(run: Run) -> Iterator[Grant]:
    require_programs()
    with run.borrow(kyme=Options(), smyrna=Options()) as (kyme, smyrna):
        smyrna.add_kwok_nodes(2)
        yield Grant(Peer(kyme), Peer(smyrna))


@pytest.mark.refusals("pods past a quota")
def test_one_quota_bounds_the_pods_of_several_namespaces_together(grant: Grant) -> None:
    grant.create("shop", "web", "1")
    grant.create("blog", "web", "900m")
    wait_for(lambda: grant.runs("shop", "web") and grant.runs("blog", "web"), 60, "the pods of two namespaces to run")
    grant.create("mail", "web", "200m")
    wait_for(lambda: "used 1900m of 2" in grant.told("mail", "web"), SOON, "the third to be told what is used")
    assert grant.running() == 2
    wait_for(lambda: grant.quota().get("status", {}).get("used", {}).get("cpu") == "1900m", SOON, "the use to be shown")
    # A pod that ends in one namespace makes room for another namespace.
    grant.consumer.api.delete("pods", "blog", "web")
    wait_for(lambda: grant.runs("mail", "web"), 90, "the third to run")


@pytest.mark.refusals("the consumer tries on, and its quota is cordoned while it is drained")
def test_uncordon_puts_a_drained_tenant_back_to_work(grant: Grant) -> None:
    wait_for(lambda: grant.running() == 2, SOON, "what has ended at home to be gone at the provider, too")
    grant.provider.liqoctl("drain", "tenant", "kyme", "--skip-confirm")
    wait_for(lambda: grant.running() == 0, 60, "the pods to end at the provider")
    assert grant.condition() == "Drained"
    wait_for(lambda: grant.quota()["spec"]["cordoned"] is True, SOON, "the quota to be cordoned")
    grant.provider.liqoctl("uncordon", "tenant", "kyme")
    wait_for(lambda: not grant.quota()["spec"].get("cordoned"), SOON, "the quota to be open")
    assert grant.condition() == "Active"
    for namespace in ("shop", "mail"):
        grant.consumer.api.delete("pods", namespace, "web")
        wait_for(lambda ns=namespace: grant.consumer.cluster.pod(ns, "web") is None, 60, "the pod of before to go")
    grant.create("shop", "again", "1")
    wait_for(lambda: grant.runs("shop", "again"), 60, "a new pod to run")


def test_without_enforcement_pods_run_past_the_quota_until_it_is_on_again(grant: Grant) -> None:
    daemon = grant.provider.daemon
    daemon.command.append("--enable-resource-enforcement=false")
    daemon.restart()
    grant.create("blog", "much", "7")
    wait_for(lambda: grant.runs("blog", "much"), 60, "the pod past the quota to run")
    daemon.command.pop()
    daemon.restart()
    # No pod is evicted for the excess; it counts, and nothing more fits.
    stays(lambda: grant.runs("blog", "much"), 3, "the pod past the quota")
    wait_for(lambda: grant.quota().get("status", {}).get("used", {}).get("cpu") == "8", SOON, "all to be counted")


@pytest.mark.refusals("a pod past a quota")
def test_with_enforcement_again_nothing_more_gets_in(grant: Grant) -> None:
    grant.create("mail", "more", "100m")
    # Used is 8, or more for 70 s: a pod that was refused during the drain may have left a reservation.
    wait_for(lambda: "asked 100m, used 8" in grant.told("mail", "more"), SOON, "the pod to be refused")


@pytest.mark.refusals("the pod of the story before still waits for room")
def test_what_pods_hold_beyond_a_grant_is_granted_to_no_other_slice(grant: Grant) -> None:
    policy = {"liqo.io/pod-policy": json.dumps({"maxResources": {"cpu": "10"}})}
    grant.provider.api.patch("namespaces", None, TENANT[0], {"metadata": {"annotations": policy}})
    # Nothing is granted any more, and pods of 8 cores run.
    (name,) = [one["metadata"]["name"] for one in grant.consumer.api.list("resourceslices", HOME)]
    grant.consumer.api.patch("resourceslices", HOME, name, {"spec": {"resources": {"cpu": "0"}}})
    wait_for(lambda: grant.quota()["spec"]["resources"]["cpu"] == "0", SOON, "the quota to be lowered")
    spec, marks = {"class": "default", "resources": {"cpu": "10"}}, {"liqo.io/create-virtual-node": "false"}
    more = objects.resource_slice("more", objects.of_peer("smyrna"), annotations=marks, **spec)
    grant.consumer.api.create("resourceslices", HOME, more)
    wait_for(lambda: grant.answer("more")[0] == "Denied", SOON, "the second slice to be denied")
    # For 70 s it is more than 8: a pod that was refused may have left a reservation.
    held = f"the others have 8 ({name} 8 by its pods, granted 0)"
    wait_for(lambda: held in grant.answer("more")[1], 120, "the answer to say who holds what")
    assert grant.runs("blog", "much") and grant.runs("shop", "again")
    for namespace, pod in (("blog", "much"), ("shop", "again")):
        grant.consumer.api.delete("pods", namespace, pod)
    wait_for(lambda: grant.answer("more")[0] == "Accepted", 90, "the second slice to be granted")
    assert grant.running() == 0
