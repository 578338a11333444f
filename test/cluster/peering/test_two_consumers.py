"""Two consumers of one provider are each bounded by their own grants, and neither reaches or notices the other.

troy and corinth consume from delphi, whose nodes are fake. Their slices, namespaces and pods have the same names on
purpose. The stories follow each other, and the last one takes troy away.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness import objects
from harness.cluster import inventory
from harness.cluster.api import MERGE, Api, path
from harness.cluster.cluster import asking, busybox
from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer, as_identity
from harness.required import require_programs
from harness.run import Run
from harness.wait import stays, wait_for

CORES = 2 * 256  # of the two fake nodes
GRANTED = {"troy": 2, "corinth": 120}
CONTROL_PLANE, SLICE = "controlplane-delphi", "resourceslice-delphi"


@dataclass
class Two:
    delphi: Peer
    troy: Peer
    corinth: Peer
    # The provider's API as each identity of each consumer.
    apis: dict[tuple[str, str], Api] = field(default_factory=dict)

    def quotas(self, consumer: str) -> dict[str, dict[str, Any]]:
        found = self.delphi.api.list("quotas", f"liqo-tenant-{consumer}")
        return {quota["metadata"]["name"].rpartition("-")[0]: quota["spec"] for quota in found}

    def twin_pod(self, consumer: str, name: str = "web") -> dict[str, Any]:
        return self.delphi.cluster.pod(f"shop-{consumer}", name) or {}

    def inventories(self) -> dict[str, inventory.Inventory]:
        found = {peer.name: inventory.take(peer.cluster) for peer in (self.delphi, self.corinth)}
        # The ledger removes its record of a pod some time after it sees the pod.
        at_provider = found["delphi"]
        found["delphi"] = {place: at_provider[place] for place in at_provider if "/configmaps/liqo-quota-" not in place}
        return found

    def settled(self) -> dict[str, inventory.Inventory]:
        """These once they stay as they are: what a story before has ended may still be on its way out."""
        seen = [self.inventories()]

        def is_settled() -> bool:
            # For pods that always restart, the record that they run comes up to a minute late: it might come after
            # the inventory.
            recorded = all((shadow.get("status") or {}).get("phase") for shadow in self.delphi.api.list("shadowpods"))
            seen.append(self.inventories())
            return recorded and seen[-1] == seen[-2]

        wait_for(is_settled, 120, "nothing to change any more", interval=1)
        return seen[-1]


def shadow(origin: str, cpu: str) -> dict[str, Any]:
    return objects.shadow_pod("more", origin, asking("more", cpu)["spec"])


def join(consumer: Peer, provider: Peer) -> None:
    consumer.peer_with(provider, f"--cpu={GRANTED[consumer.name]}", "--memory=4Gi", "--pods=20")
    consumer.liqoctl("offload", "namespace", "shop", "--pod-offloading-strategy", "Remote")
    consumer.api.create("pods", "shop", asking("web", "100m"))
    wait_for(lambda: provider.running(f"shop-{consumer.name}") == 1, 60, f"the pod of {consumer.name} to run")
    wait_for(lambda: consumer.running("shop") == 1, SOON, f"{consumer.name} to see its pod run")


@pytest.fixture(scope="module")
def two(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    require_programs()
    with run.borrow(delphi=Options(), troy=Options(), corinth=Options()) as started:
        started[0].add_kwok_nodes(2)
        with ThreadPoolExecutor(3) as pool:
            delphi, troy, corinth = pool.map(Peer, started)
        told = Two(delphi, troy, corinth)
        troy.cluster.namespace("shop"), corinth.cluster.namespace("shop")
        join(corinth, delphi)
        join(troy, delphi)
        for consumer in (troy, corinth):
            files = tmp_path_factory.mktemp(consumer.name)
            for identity in (CONTROL_PLANE, SLICE):
                told.apis[consumer.name, identity] = as_identity(consumer, delphi, identity, files)
        yield told


def tries(api: Api, verb: str, where: str, body: dict[str, Any] | None = None) -> tuple[int, str]:
    data = None if body is None else json.dumps(body).encode()
    code, answer = api.raw(verb, where, data, MERGE if verb == "PATCH" else "application/json")
    return code, answer.decode(errors="replace")


def told(api: Api, consumer: str, cpu: int) -> tuple[int, str]:
    """What the provider says to one more pod, once it has the time to say something."""
    where = path("shadowpods", f"shop-{consumer}") + "?dryRun=All"

    def said() -> tuple[int, str]:
        code, answer = tries(api, "POST", where, shadow(consumer, str(cpu)))
        assert code < 500, answer
        return code, answer

    return wait_for(said, 60, f"an answer to a pod of {consumer}")


@pytest.mark.refusals("pods past a quota")
def test_each_is_bounded_by_its_own_quota(two: Two) -> None:
    for consumer, cpu in GRANTED.items():
        assert {name: spec["resources"]["cpu"] for name, spec in two.quotas(consumer).items()} == {"delphi": str(cpu)}
    users = {consumer: two.quotas(consumer)["delphi"]["user"] for consumer in GRANTED}
    assert len(set(users.values())) == 2, "slices of the same name are different users"
    for consumer, cpu in GRANTED.items():
        slice_user = two.apis[consumer, SLICE]
        code, answer = told(slice_user, consumer, cpu)
        assert code == 403 and f"asked {cpu}, used 100m of {cpu}" in answer, answer
        code, answer = told(slice_user, consumer, cpu - 1)
        assert code == 201, answer


def attempts(other: str) -> list[tuple[str, str, dict[str, Any] | None]]:
    """What somebody tries in the namespaces of `other`."""
    tenant, twin = f"liqo-tenant-{other}", f"shop-{other}"
    return [
        ("GET", path("namespaces", None, twin), None),
        ("GET", path("resourceslices", tenant), None),
        ("PATCH", path("resourceslices", tenant, "delphi"), {"spec": {"resources": {"cpu": "1"}}}),
        ("DELETE", path("resourceslices", tenant, "delphi"), None),
        ("GET", path("namespacemaps", tenant), None),
        ("PATCH", path("namespacemaps", tenant, "delphi"), {"spec": {"desiredMapping": {"shop": None}}}),
        ("GET", path("quotas", tenant), None),
        ("GET", path("tenants", tenant, other), None),
        ("PATCH", path("tenants", tenant, other), {"spec": {"tenantCondition": "Drained"}}),
        ("GET", path("secrets", tenant), None),
        ("GET", path("pods", twin), None),
        ("GET", path("pods", twin, "web", "log"), None),
        ("POST", path("pods", twin, "web", "exec") + "?command=sh&stdout=true", None),
        ("GET", path("shadowpods", twin, "web"), None),
        ("POST", path("shadowpods", twin), shadow(other, "100m")),
        ("DELETE", path("shadowpods", twin, "web"), None),
        ("GET", path("secrets", twin), None),
        ("POST", path("configmaps", twin), {"metadata": {"name": "more"}}),
        ("POST", path("services", twin), {"metadata": {"name": "more"}, "spec": {"ports": [{"port": 80}]}}),
    ]


@pytest.mark.refusals("what one consumer tries with the other's")
@pytest.mark.parametrize("consumer, other", [("troy", "corinth"), ("corinth", "troy")])
@pytest.mark.parametrize("identity", [CONTROL_PLANE, SLICE])
def test_neither_sees_or_touches_what_the_other_has(two: Two, consumer: str, other: str, identity: str) -> None:
    pod = two.twin_pod(other)
    for verb, where, body in attempts(other):
        code, answer = tries(two.apis[consumer, identity], verb, where, body)
        assert code == 403, f"{verb} {where}: {code} {answer[:600]}"
    # Their owner can read the same paths.
    assert tries(two.apis[other, SLICE], "GET", path("shadowpods", f"shop-{other}", "web"))[0] == 200
    assert tries(two.apis[other, CONTROL_PLANE], "GET", path("resourceslices", f"liqo-tenant-{other}"))[0] == 200
    assert two.twin_pod(other)["metadata"]["uid"] == pod["metadata"]["uid"]


def cores(quota: dict[str, Any]) -> float:
    text = quota.get("resources", {}).get("cpu", "0")
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


def test_a_share_counts_the_pods_of_the_other_and_not_what_it_was_granted(two: Two) -> None:
    def shared(troy: float, corinth: float) -> None:
        def is_so() -> bool:
            have = {name: cores(two.quotas(name).get("rest", {})) for name in GRANTED}
            return abs(have["troy"] - troy) < 0.01 and abs(have["corinth"] - corinth) < 0.01

        wait_for(is_so, 60, f"shares of {troy} and {corinth} cores")

    for consumer in (two.troy, two.corinth):
        consumer.liqoctl("create", "resourceslice", "rest", "--remote-cluster-id", "delphi", "--class", "share")
    # The share is 90 % of all but the other's pod; granted cores and the other's share do not reduce it.
    shared(0.9 * (CORES - 0.1), 0.9 * (CORES - 0.1))
    two.corinth.api.create("pods", "shop", asking("big", "100"))
    wait_for(lambda: two.twin_pod("corinth", "big").get("status", {}).get("phase") == "Running", 60, "the large pod")
    shared(0.9 * (CORES - 100.1), 0.9 * (CORES - 0.1))
    two.corinth.api.delete("pods", "shop", "big")
    shared(0.9 * (CORES - 0.1), 0.9 * (CORES - 0.1))
    for consumer in (two.troy, two.corinth):
        consumer.liqoctl("delete", "resourceslice", "rest", "--skip-confirm")
    wait_for(lambda: all(two.quotas(name).keys() == {"delphi"} for name in GRANTED), SOON, "their Quotas to go")


@pytest.mark.refusals("pods of the tenant that is drained")
def test_draining_one_tenant_leaves_the_pods_of_the_other(two: Two) -> None:
    was = two.twin_pod("corinth")
    two.delphi.liqoctl("drain", "tenant", "troy", "--skip-confirm")
    wait_for(lambda: not two.delphi.cluster.pods("shop-troy"), 60, "the pods of troy to end")
    assert two.quotas("corinth")["delphi"].get("cordoned") in (None, False)
    code, answer = told(two.apis["corinth", SLICE], "corinth", 1)
    assert code == 201, answer
    stays(lambda: two.corinth.running("shop") == 1 and two.corinth.node_ready("delphi"), 2, "the pod of corinth")
    now = two.twin_pod("corinth")
    assert (now["metadata"]["uid"], now["status"]["phase"]) == (was["metadata"]["uid"], "Running")
    # A pod that the provider ended ends at home, too: its owner makes another one, here the story itself.
    phase = lambda: (two.troy.cluster.pod("shop", "web") or {}).get("status", {}).get("phase")  # noqa: E731
    wait_for(lambda: phase() == "Failed", 60, "the pod to end at home")
    two.delphi.liqoctl("activate", "tenant", "troy")
    wait_for(lambda: two.troy.node_ready("delphi"), 60, "the node of troy to be Ready again")
    two.troy.api.delete("pods", "shop", "web")
    wait_for(lambda: two.troy.cluster.pod("shop", "web") is None, 60, "the pod to be gone")
    two.troy.api.create("pods", "shop", asking("web", "100m"))
    wait_for(lambda: two.delphi.running("shop-troy") == 1, 60, "the next pod of troy to run")


def agent(**toleration: str) -> dict[str, Any]:
    """A DaemonSet that virtual nodes do not keep away; cordoned nodes keep none away."""
    spec = {**busybox("agent")["spec"], "tolerations": [{"operator": "Exists", **toleration}]}
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": spec}
    selector = {"matchLabels": {"app": "agent"}}
    return {"kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": {"selector": selector, "template": template}}


def test_when_one_leaves_the_other_is_as_it_was(two: Two) -> None:
    before = two.settled()
    # Two DaemonSets, one as kube-proxy's, never offloaded, and one offloaded: each replaces an evicted pod at once.
    two.troy.api.create("daemonsets", "default", agent())
    two.troy.api.create("daemonsets", "shop", agent(key="virtual-node.liqo.io/not-allowed"))
    wait_for(lambda: two.troy.cluster.pods("default", fields="spec.nodeName=delphi"), SOON, "the agent on the node")
    wait_for(lambda: two.troy.running("shop") == 2, 60, "the agent of the offloaded namespace to run")
    two.troy.unpeer_from(two.delphi)
    for namespace in ("default", "shop"):
        wait_for(lambda: not two.troy.cluster.pods(namespace), SOON, "no agent to be left of the node")  # noqa: B023

    def same() -> bool:
        now = two.inventories()
        changed = [line for name, was in before.items() for line in inventory.differences(was, now[name])]
        wrong = [line for line in changed if not (line.startswith("gone: ") and "troy" in line)]
        assert not wrong, "\n".join(wrong)
        return not [place for place in now["delphi"] if "troy" in place]

    wait_for(same, 60, "all of troy to be gone, and nothing else to have changed", interval=0.5)
    assert two.corinth.node_ready("delphi") and two.corinth.running("shop") == 1
    code, answer = told(two.apis["corinth", SLICE], "corinth", 1)
    assert code == 201, answer
