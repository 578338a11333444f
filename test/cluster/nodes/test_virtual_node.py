"""A mistake with a virtual node's Node harms no pod behind it; pods leave a node that is drained, unwanted or lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness import objects
from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.peering import TAINT
from harness.liqo.peers import SOON, Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import stays, wait_for

# The stories' daemons keep a twin whose labels have changed for a little less.
GRACE = 15


class Pair:
    """ulm consumes and jena, which has fake nodes, provides."""

    def __init__(self, run: Run, consumer: Peer, provider: Peer):
        self.run, self.consumer, self.provider = run, consumer, provider
        self.home = consumer.home(provider)

    def node(self) -> dict[str, Any]:
        return self.consumer.api.get("nodes", None, self.provider.name)

    def label(self, **labels: str | None) -> None:
        self.consumer.api.patch("nodes", None, self.provider.name, {"metadata": {"labels": labels}})

    def asked(self, namespace: str) -> bool:
        found = self.consumer.api.get("namespacemaps", self.home, self.provider.name)
        return namespace in (found["spec"].get("desiredMapping") or {})

    def taint(self) -> str:
        """Why the node takes no new pods, as its taint says."""
        taints = self.node()["spec"].get("taints", [])
        return next((taint["value"] for taint in taints if taint["key"] == "virtual-node.liqo.io/closed"), "")

    def virtual_node(self, kind: str) -> tuple[str, str]:
        """Status and message of a condition of the VirtualNode."""
        found = self.consumer.api.get("virtualnodes", self.home, self.provider.name)
        conditions = found.get("status", {}).get("conditions", [])
        return next(((c["status"], c.get("message", "")) for c in conditions if c["type"] == kind), ("", ""))

    def offload(self, namespace: str, strategy: str) -> None:
        self.consumer.cluster.namespace(namespace)
        offloading = objects.offloading(podOffloadingStrategy=strategy)
        self.consumer.api.apply("namespaceoffloadings", namespace, offloading)
        twin = lambda: self.provider.api.find("namespaces", None, f"{namespace}-ulm")  # noqa: E731
        wait_for(twin, SOON, f"the twin of {namespace}")

    def deploy(self, namespace: str, replicas: int, **spec: Any) -> None:
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": {**busybox("web")["spec"], **spec}}
        body = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
        self.consumer.api.create(
            "deployments", namespace, {"kind": "Deployment", "metadata": {"name": "web"}, "spec": body}
        )

    def on(self, namespace: str, node: str, phase: str = "Running") -> list[dict[str, Any]]:
        pods = self.consumer.cluster.pods(namespace)
        return [p for p in pods if p["spec"].get("nodeName") == node and p["status"].get("phase") == phase]

    def close(self, namespace: str) -> None:
        if self.consumer.api.find("deployments", namespace, "web"):
            self.consumer.api.delete("deployments", namespace, "web")
        wait_for(lambda: not self.consumer.cluster.pods(namespace), 60, f"the pods of {namespace} to go")
        self.consumer.api.delete("namespaceoffloadings", namespace, "offloading")
        self.consumer.api.delete("namespaces", None, namespace)

    def told(self, namespace: str, reason: str) -> list[dict[str, Any]]:
        events = self.consumer.cluster.events(namespace, "offloading")
        return [event for event in events if event.get("reason") == reason]


@pytest.fixture(scope="module")
def pair(run: Run) -> Iterator[Pair]:
    require_programs()
    with run.borrow(ulm=Options(), jena=Options()) as (ulm, jena):
        ulm.add_kwok_nodes(1)
        jena.add_kwok_nodes(2)
        consumer = Peer(ulm, ("--node-ping-interval", "1s", "--node-ping-timeout", "3s"))
        provider = Peer(jena)
        consumer.peer_with(provider)
        yield Pair(run, consumer, provider)
        for peer in (consumer, provider):
            peer.daemon.stop()


@pytest.fixture
def gold(pair: Pair, namespace: str) -> Iterator[str]:
    """A namespace with data that is extended to nodes which somebody has labelled by hand."""
    pair.label(tier="gold")
    pair.consumer.cluster.namespace(namespace)
    pair.consumer.api.create(
        "configmaps", namespace, {"kind": "ConfigMap", "metadata": {"name": "data"}, "data": {"key": "value"}}
    )
    terms = [{"matchExpressions": [{"key": "tier", "operator": "In", "values": ["gold"]}]}]
    offloading = objects.offloading(clusterSelector={"nodeSelectorTerms": terms})
    pair.consumer.api.apply("namespaceoffloadings", namespace, offloading)
    there = lambda: pair.provider.api.find("configmaps", f"{namespace}-ulm", "data")  # noqa: E731
    wait_for(there, SOON, "the data to be in the twin")
    yield namespace
    pair.consumer.api.delete("namespaceoffloadings", namespace, "offloading")
    pair.consumer.api.delete("namespaces", None, namespace)


def slips(pair: Pair, namespace: str, slip: Callable[[], None]) -> None:
    """A slip is told before it does harm, and once it is put right the twin and its data are the same as before."""
    twin = pair.provider.api.get("namespaces", None, f"{namespace}-ulm")["metadata"]["uid"]
    data = pair.provider.api.get("configmaps", f"{namespace}-ulm", "data")["metadata"]["uid"]
    before = sum(event.get("count", 1) for event in pair.told(namespace, "WithdrawalPending"))
    slip()

    def told() -> bool:
        return sum(event.get("count", 1) for event in pair.told(namespace, "WithdrawalPending")) > before

    wait_for(told, SOON, "an event that says what will happen")
    pair.label(tier="gold")
    stays(lambda: pair.asked(namespace), GRACE + 3, "the wish for the twin")
    assert pair.provider.api.get("namespaces", None, f"{namespace}-ulm")["metadata"]["uid"] == twin
    assert pair.provider.api.get("configmaps", f"{namespace}-ulm", "data")["metadata"]["uid"] == data


def test_a_deleted_node_comes_back_and_takes_no_twin_with_it(pair: Pair, gold: str) -> None:
    uid = pair.node()["metadata"]["uid"]

    def delete_node() -> None:
        pair.consumer.api.delete("nodes", None, pair.provider.name)
        again = lambda: pair.node()["metadata"]["uid"] != uid  # noqa: E731
        wait_for(again, SOON, "the Node to be made again")
        assert "tier" not in pair.node()["metadata"]["labels"]

    slips(pair, gold, delete_node)
    wait_for(lambda: pair.consumer.node_ready(pair.provider.name), SOON, "the new Node to be Ready")


def test_a_label_that_is_lost_for_a_moment_takes_no_twin_away(pair: Pair, gold: str) -> None:
    slips(pair, gold, lambda: pair.label(tier=None))
    # Nobody puts the label back, so the change counts.
    pair.label(tier=None)
    wait_for(lambda: not pair.asked(gold), GRACE + SOON, "the twin to be given up")
    gone = lambda: pair.provider.api.find("namespaces", None, f"{gold}-ulm") is None  # noqa: E731
    wait_for(gone, 60, "the twin to go")


def test_a_node_that_has_lost_the_label_of_its_kind_is_put_right(pair: Pair, gold: str) -> None:
    twin = pair.provider.api.get("namespaces", None, f"{gold}-ulm")["metadata"]["uid"]
    pair.label(**{"liqo.io/type": None})
    back = lambda: pair.node()["metadata"]["labels"].get("liqo.io/type") == "virtual-node"  # noqa: E731
    wait_for(back, SOON, "the label to be back")
    assert pair.asked(gold)
    assert pair.provider.api.get("namespaces", None, f"{gold}-ulm")["metadata"]["uid"] == twin


def test_pods_that_were_there_before_the_namespace_was_extended_are_told(pair: Pair, namespace: str) -> None:
    pair.consumer.cluster.namespace(namespace)
    pair.consumer.api.create("pods", namespace, busybox("early"))
    pair.offload(namespace, "Remote")
    told = lambda: pair.told(namespace, "PodsBeforeOffloading")  # noqa: E731
    (event,) = wait_for(told, SOON, "an event that tells of the earlier pod")
    assert "before the namespace was extended: 1 " in event["message"]
    pair.consumer.api.delete("pods", namespace, "early")
    pair.close(namespace)


@pytest.mark.refusals("the consumer tries on while its quota is cordoned")
def test_pods_of_a_drained_tenant_end_at_home_and_run_elsewhere(pair: Pair, namespace: str) -> None:
    (local,) = [n["metadata"]["name"] for n in pair.consumer.api.list("nodes") if n["metadata"]["name"] != "jena"]
    cordon = lambda closed: pair.consumer.api.patch("nodes", None, local, {"spec": {"unschedulable": closed}})  # noqa: E731
    pair.offload(namespace, "LocalAndRemote")
    cordon(True)
    pair.deploy(namespace, 3)
    wait_for(lambda: len(pair.on(namespace, "jena")) == 3, 60, "three pods to run in jena")
    cordon(False)
    pair.provider.liqoctl("drain", "tenant", "ulm", "--skip-confirm")

    wait_for(lambda: len(pair.on(namespace, local)) == 3, 60, "three pods to run at home")
    wait_for(lambda: pair.taint() == "denied", SOON, "the node to be closed")
    ended = pair.on(namespace, "jena", "Failed")
    assert len(ended) == 3 and {pod["status"]["reason"] for pod in ended} == {"OffloadingAborted"}
    disrupted = [c["status"] for pod in ended for c in pod["status"]["conditions"] if c["type"] == "DisruptionTarget"]
    assert disrupted == ["True"] * 3
    assert not pair.on(namespace, "jena") and not pair.on(namespace, "jena", "Pending"), "the node attracts none"
    wait_for(lambda: not pair.provider.cluster.pods(f"{namespace}-ulm"), SOON, "the pods in jena to be gone")

    pair.provider.liqoctl("activate", "tenant", "ulm")
    wait_for(lambda: pair.taint() == "", SOON, "the node to take pods again")
    pair.close(namespace)


@pytest.mark.refusals("the pods that wait are tried again while the slice is cordoned")
def test_a_cordoned_slice_keeps_what_runs_and_attracts_nothing(pair: Pair, namespace: str) -> None:
    pair.offload(namespace, "Remote")
    pair.deploy(namespace, 1)
    wait_for(lambda: len(pair.on(namespace, "jena")) == 1, 60, "the pod to run in jena")
    pair.provider.liqoctl("cordon", "resourceslice", "jena", "--remote-cluster-id", "ulm", "--skip-confirm")
    wait_for(lambda: pair.taint() == "cordoned", SOON, "the node to be closed")
    pair.consumer.api.patch("deployments", namespace, "web", {"spec": {"replicas": 2}})
    wait_for(lambda: len(pair.consumer.cluster.pods(namespace)) == 2, SOON, "the second pod")
    stays(lambda: len(pair.on(namespace, "jena")) == 1, 3, "one pod")
    pair.provider.liqoctl("uncordon", "resourceslice", "jena", "--remote-cluster-id", "ulm", "--skip-confirm")
    wait_for(lambda: len(pair.on(namespace, "jena")) == 2, 60, "both to run")
    pair.close(namespace)


def test_a_node_that_is_not_wanted_is_drained_and_comes_back_when_it_is(pair: Pair, namespace: str) -> None:
    pair.offload(namespace, "Remote")
    pair.deploy(namespace, 1)
    wait_for(lambda: len(pair.on(namespace, "jena")) == 1, 60, "the pod to run in jena")

    def want(node: bool) -> None:
        pair.consumer.api.patch("virtualnodes", pair.home, "jena", {"spec": {"createNode": node}})

    want(False)
    wait_for(lambda: pair.consumer.api.find("nodes", None, "jena") is None, 60, "the Node to go")
    wait_for(lambda: pair.virtual_node("Node")[0] == "None", SOON, "the VirtualNode to say so")
    assert not pair.provider.cluster.pods(f"{namespace}-ulm"), "drained before it went"
    want(True)
    wait_for(lambda: pair.consumer.node_ready("jena"), SOON, "the Node to be Ready again")
    wait_for(lambda: len(pair.on(namespace, "jena")) == 1, 60, "the pod to run in jena again")
    wait_for(lambda: pair.virtual_node("Node")[0] == "Running", SOON, "the VirtualNode to say so")
    pair.close(namespace)


def test_a_machine_that_takes_the_name_of_a_virtual_node_ends_its_session(pair: Pair) -> None:
    machine = {"status": {"nodeInfo": {"machineID": "4c4c4544", "bootID": "9d1f"}}}
    pair.consumer.api.patch("nodes", None, "jena", machine, "status")
    told = lambda: "a machine has registered" in pair.virtual_node("VirtualKubelet")[1]  # noqa: E731
    wait_for(told, SOON, "the VirtualNode to say that a machine has its Node")
    events = lambda: pair.consumer.cluster.events(pair.home, "jena")  # noqa: E731
    wait_for(lambda: any(event.get("reason") == "NodeNameTaken" for event in events()), SOON, "an Event about it")
    pair.consumer.api.delete("nodes", None, "jena")
    wait_for(lambda: pair.consumer.node_ready("jena"), 60, "the Node to be made anew")


def test_pods_of_a_provider_that_is_gone_are_marked_evicted_and_removed_by_force(pair: Pair, namespace: str) -> None:
    """The last of the stories: jena never comes back."""
    pair.offload(namespace, "Remote")
    seconds = [
        {"key": f"node.kubernetes.io/{trouble}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 2}
        for trouble in ("not-ready", "unreachable")
    ]
    everything = {"key": TAINT, "operator": "Exists", "effect": "NoExecute"}
    pair.deploy(namespace, 1, tolerations=[*seconds, everything])
    (pod,) = wait_for(lambda: pair.on(namespace, "jena"), 60, "the pod to run in jena")

    pair.run.network.cut("jena")
    try:
        wait_for(lambda: not pair.consumer.node_ready("jena"), SOON, "the Node not to be Ready")

        def seen() -> dict[str, Any]:
            return pair.consumer.cluster.pod(namespace, pod["metadata"]["name"]) or {}

        marked = lambda: seen()["metadata"]["labels"].get("liqo.io/remote-unavailable") == "true"  # noqa: E731
        wait_for(marked, SOON, "the pod to be marked as out of reach")
        tainted = lambda: any(  # noqa: E731
            taint["key"] == "node.kubernetes.io/not-ready" for taint in pair.node()["spec"].get("taints", [])
        )
        wait_for(tainted, SOON, "Kubernetes to taint the Node")
        evicted = lambda: "deletionTimestamp" in seen()["metadata"]  # noqa: E731
        wait_for(evicted, 60, "Kubernetes to evict the pod")
        # Nobody knows that the pod has ended, so it stays until somebody says that the provider is gone for good.
        stays(lambda: bool(seen()), 3, "the pod")
        lost = {"metadata": {"annotations": {"liqo.io/foreign-cluster-permanently-unreachable": "true"}}}
        (foreign,) = pair.consumer.api.list("foreignclusters")
        pair.consumer.api.patch("foreignclusters", None, foreign["metadata"]["name"], lost)
        pair.consumer.liqoctl("delete", "resourceslice", "jena", "--remote-cluster-id", "jena", "--skip-confirm", timeout=200)
        wait_for(lambda: not seen(), 60, "the pod to be removed by force")
        wait_for(lambda: pair.consumer.api.find("nodes", None, "jena") is None, 60, "the Node to go")
    finally:
        pair.run.network.heal("jena")
