"""A slice that a consumer asks for becomes a Quota at the provider and a Node at the consumer.

milan asks and rome grants: rome has the fake nodes whose capacity is shared, and signs certificates for two minutes
only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest

from harness import objects
from harness.cluster.api import Refused, path
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.node import is_ready
from harness.liqo.handshake import SOON, Handshake
from harness.liqo.hostile import annotate_policy
from harness.liqo.peering import TAINT
from harness.wait import stays, wait_for

POLICY = "liqo-sharing-policy"


class Slices:
    """The slices of one handshake, seen from both sides."""

    def __init__(self, handshake: Handshake):
        self.consumer, self.provider = handshake.consumer, handshake.provider
        self.home, self.away = handshake.home, handshake.away

    def create(self, name: str, resources: dict[str, str], slice_class: str = "default", **annotations: str) -> None:
        """Creates a slice as the manual has it, with no label but the provider's."""
        marks = {f"liqo.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
        spec = {"class": slice_class, "providerClusterID": self.provider.name, "resources": resources}
        body = objects.resource_slice(name, objects.of_peer(self.provider.name), annotations=marks, **spec)
        self.consumer.api.create("resourceslices", self.home, body)

    def edit(self, name: str, spec: dict[str, Any]) -> None:
        self.consumer.api.patch("resourceslices", self.home, name, {"spec": spec})

    def condition(self, name: str, kind: str = "Resources", away: bool = False) -> tuple[str, str]:
        """Status and reason, at the consumer or at the provider; empty if there is none."""
        cluster, namespace = (self.provider, self.away) if away else (self.consumer, self.home)
        status = cluster.api.get("resourceslices", namespace, name).get("status", {})
        found = next((one for one in status.get("conditions", []) if one["type"] == kind), {})
        return found.get("status", ""), found.get("reason", "")

    def wait_accepted(self, name: str) -> None:
        wanted = ("Accepted", "ResourceSliceResourcesAccepted")
        wait_for(lambda: self.condition(name) == wanted, SOON, f"the resources of {name} to be accepted")

    def quota_name(self, name: str) -> str:
        return f"{name}-{hashlib.sha256(self.consumer.name.encode()).digest()[:6].hex()}"

    def quota(self, name: str) -> dict[str, Any]:
        found = self.provider.api.find("quotas", self.away, self.quota_name(name))
        return found["spec"] if found else {}

    def granted(self, name: str) -> dict[str, str]:
        return self.quota(name).get("resources", {})

    def capacity(self, name: str) -> dict[str, str]:
        node = self.consumer.api.find("nodes", None, name)
        return node["status"].get("capacity", {}) if node else {}

    def wait_size(self, name: str, size: dict[str, str]) -> None:
        wait_for(lambda: self.granted(name) == size, SOON, f"the Quota of {name} to be {size}", interval=0.1)
        # A grant that bounds no pods is a node like others.
        shown = {"pods": "110"} | size
        wait_for(lambda: self.capacity(name) == shown, SOON, f"the node {name} to be {shown}", interval=0.1)

    def share(self, percentage: str | None) -> None:
        """Sets what share the provider gives this consumer; None takes the setting away."""
        annotations = {"liqo.io/sharing-percentage": percentage}
        self.provider.api.patch("tenants", self.away, self.consumer.name, {"metadata": {"annotations": annotations}})

    def remove_all(self) -> None:
        for one in self.consumer.api.list("resourceslices", self.home):
            self.consumer.api.delete("resourceslices", self.home, one["metadata"]["name"])
        wait_for(lambda: not self.consumer.api.list("resourceslices", self.home), SOON, "the slices to go")
        wait_for(lambda: not self.provider.api.list("quotas", self.away), SOON, "their Quotas to go")


@pytest.fixture(scope="module")
def handshake(daemons, rome: Cluster, milan: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handshake]:
    daemons.of(rome), daemons.of(milan)
    made = Handshake(milan, rome, tmp_path_factory.mktemp("handshake"))
    made.complete()
    yield made
    made.undo()


@pytest.fixture
def slices(handshake: Handshake) -> Iterator[Slices]:
    made = Slices(handshake)
    yield made
    made.provider.api.delete("configmaps", "liqo", POLICY)
    made.provider.api.patch("tenants", made.away, made.consumer.name, {"spec": {"tenantCondition": "Active"}})
    made.remove_all()


def set_policy(provider: Cluster, data: dict[str, str]) -> None:
    provider.api.apply("configmaps", "liqo", {"kind": "ConfigMap", "metadata": {"name": POLICY}, "data": data})


def test_two_slices_become_two_quotas_and_two_nodes(slices: Slices) -> None:
    slices.create("pool", {"cpu": "8"})
    slices.create("gpu-pool", {"cpu": "4", "memory": "8Gi", "pods": "30", "nvidia.com/gpu": "2"})
    slices.create("no-node", {"cpu": "1"}, create_virtual_node="false")
    slices.wait_size("pool", {"cpu": "8", "memory": "8Gi", "pods": "110", "ephemeral-storage": "20Gi"})
    gpus = {"cpu": "4", "memory": "8Gi", "pods": "30", "nvidia.com/gpu": "2", "ephemeral-storage": "20Gi"}
    slices.wait_size("gpu-pool", gpus)
    slices.wait_accepted("no-node")
    assert slices.condition("pool", "Authentication") == ("Accepted", "ResourceSliceAuthenticationAccepted")
    assert slices.quota("pool")["user"] == slices.quota_name("pool")
    assert slices.quota("pool")["limitsEnforcement"] == "None"
    assert not slices.capacity("no-node")

    table = slices.provider.kubectl("-n", slices.away, "get", "quotas.offloading.liqo.io")
    assert table.splitlines()[0].split() == ["NAME", "ENFORCEMENT", "CORDONED", "AGE"]
    table = slices.consumer.kubectl("-n", slices.home, "get", "resourceslices.authentication.liqo.io", "gpu-pool")
    assert table.splitlines()[1].split()[:3] == ["gpu-pool", "Accepted", "Accepted"]

    # The new request is smaller and lacks a resource.
    slices.edit("gpu-pool", {"resources": {"cpu": "2", "nvidia.com/gpu": None}})
    slices.wait_size("gpu-pool", {"cpu": "2", "memory": "8Gi", "pods": "30", "ephemeral-storage": "20Gi"})

    # The node goes before the slice, with everything that belongs to it on both sides.
    slices.consumer.api.delete("resourceslices", slices.home, "gpu-pool")
    wait_for(lambda: not slices.quota("gpu-pool") and not slices.capacity("gpu-pool"), SOON, "nothing to be left")
    wait_for(
        lambda: slices.consumer.api.find("identities", slices.home, "resourceslice-gpu-pool") is None,
        SOON, "its Identity to go",
    )  # fmt: skip


def test_a_deleted_slice_is_drained_before_its_quota_goes(slices: Slices, namespace: str) -> None:
    slices.create("pool", {"cpu": "1k"})
    slices.wait_size("pool", {"cpu": "1k", "memory": "8Gi", "pods": "110", "ephemeral-storage": "20Gi"})
    home, away = slices.consumer.api, slices.provider.api
    slices.consumer.namespace(namespace)
    twin = f"{namespace}-{slices.consumer.name}"
    home.apply("namespaceoffloadings", namespace, objects.offloading())
    wait_for(lambda: away.find("namespaces", None, twin), SOON, "the twin namespace")
    pod = busybox("slow", nodeSelector={"kubernetes.io/hostname": "pool"}, tolerations=[{"key": TAINT, "operator": "Exists"}])
    # No node that the scheduler knows has so much: the pod is bound below.
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "500"}}
    home.create("pods", namespace, pod)
    remote = lambda: away.find("pods", twin, "slow")  # noqa: E731
    wait_for(remote, 60, "the pod at the provider")

    # The remote pod is bound to a node without a kubelet, so it ends when the test says so.
    away.create("nodes", None, {"kind": "Node", "metadata": {"name": "mute"}, "spec": {"unschedulable": True}})
    binding = {"kind": "Binding", "apiVersion": "v1", "metadata": {"name": "slow"}, "target": {"kind": "Node", "name": "mute"}}
    away.request("POST", path("pods", twin, "slow", "binding"), binding)
    home.delete("resourceslices", slices.home, "pool")
    wait_for(lambda: home.get("nodes", None, "pool")["spec"].get("unschedulable"), SOON, "the node to be cordoned")
    wait_for(lambda: "deletionTimestamp" in (remote() or {})["metadata"], SOON, "the pod to be evicted")

    def held() -> bool:
        replica = away.find("resourceslices", slices.away, "pool")
        return bool(replica and "deletionTimestamp" not in replica["metadata"] and slices.quota("pool"))

    stays(held, 3, "the replica and its Quota")
    assert slices.capacity("pool") and home.find("pods", namespace, "slow")
    away.delete("pods", twin, "slow", grace=0)
    wait_for(lambda: not slices.capacity("pool") and not slices.quota("pool"), 60, "the node and the Quota to go")
    assert remote() is None
    away.delete("nodes", None, "mute")
    home.delete("namespaceoffloadings", namespace, "offloading")
    wait_for(lambda: away.find("namespaces", None, twin) is None, 60, "the twin namespace to go")


def test_new_defaults_leave_what_is_accepted_alone(slices: Slices) -> None:
    slices.create("pool", {"cpu": "8"})
    before = {"cpu": "8", "memory": "8Gi", "pods": "110", "ephemeral-storage": "20Gi"}
    slices.wait_size("pool", before)
    set_policy(slices.provider, {"default-node-resources": "cpu=1,memory=1Gi", "default-limits-enforcement": "Hard"})
    wait_for(lambda: slices.quota("pool")["limitsEnforcement"] == "Hard", SOON, "the Quota to be strict")
    assert slices.granted("pool") == before
    slices.edit("pool", {"resources": {"cpu": "9"}})
    slices.wait_size("pool", {"cpu": "9", "memory": "1Gi"})


class Shop:
    """An offloaded namespace of the consumer, whose pods select the node "pool"."""

    def __init__(self, slices: Slices, namespace: str):
        self.slices, self.name, self.api = slices, namespace, slices.consumer.api
        self.twin = f"{namespace}-{slices.consumer.name}"
        slices.consumer.namespace(namespace)
        self.api.apply("namespaceoffloadings", namespace, objects.offloading())
        wait_for(lambda: slices.provider.api.find("namespaces", None, self.twin), SOON, "the twin namespace")

    def create(self, name: str) -> None:
        toleration = {"key": TAINT, "operator": "Exists"}
        pod = busybox(name, nodeSelector={"kubernetes.io/hostname": "pool"}, tolerations=[toleration])
        self.api.create("pods", self.name, pod)

    def phase(self, name: str) -> str:
        return self.api.get("pods", self.name, name).get("status", {}).get("phase", "")

    def wait_running(self, name: str) -> None:
        wait_for(lambda: self.phase(name) == "Running", 60, f"pod {name} to run")

    def is_scheduled(self, name: str) -> bool:
        return bool(self.api.get("pods", self.name, name)["spec"].get("nodeName"))

    def closed(self) -> str:
        """Why the node takes no new pods, as its taint says."""
        taints = self.api.get("nodes", None, "pool")["spec"].get("taints", [])
        return next((taint["value"] for taint in taints if taint["key"] == "virtual-node.liqo.io/closed"), "")

    def close(self) -> None:
        for pod in self.api.list("pods", self.name):
            self.api.delete("pods", self.name, pod["metadata"]["name"])
        wait_for(lambda: not self.api.list("pods", self.name), 60, "the pods to go")
        self.api.delete("namespaceoffloadings", self.name, "offloading")
        gone = lambda: self.slices.provider.api.find("namespaces", None, self.twin) is None  # noqa: E731
        wait_for(gone, 60, "the twin namespace to go")


@pytest.fixture
def shop(slices: Slices, namespace: str) -> Iterator[Shop]:
    slices.create("pool", {"cpu": "8", "memory": "1Gi", "pods": "5", "ephemeral-storage": "1Gi"})
    slices.wait_size("pool", {"cpu": "8", "memory": "1Gi", "pods": "5", "ephemeral-storage": "1Gi"})
    made = Shop(slices, namespace)
    yield made
    made.close()


def test_a_denied_edit_keeps_the_quota_and_the_node(slices: Slices, shop: Shop) -> None:
    size = {"cpu": "8", "memory": "1Gi", "pods": "5", "ephemeral-storage": "1Gi"}
    set_policy(slices.provider, {"default-resource-slice-class-enabled": "false"})
    slices.edit("pool", {"resources": {"cpu": "80"}})
    denied = ("Denied", "DefaultResourceSliceClassDisabled")
    wait_for(lambda: slices.condition("pool") == denied, SOON, "the edit to be denied")
    stays(lambda: slices.granted("pool") == size and slices.capacity("pool") == size, 3, "what was granted")
    assert shop.closed() == ""
    shop.create("after-it")
    shop.wait_running("after-it")
    told = [event for event in slices.consumer.events(slices.home, "pool") if event["reason"] == "RequestDenied"]
    assert told and "granted as before: cpu 8" in told[0]["message"]
    set_policy(slices.provider, {})
    slices.wait_size("pool", {**size, "cpu": "80"})

    with pytest.raises(Refused, match="cannot be negative"):
        slices.edit("pool", {"resources": {"cpu": "-1"}})
    assert slices.granted("pool") == {**size, "cpu": "80"}


def test_a_denied_edit_is_told_from_a_drain(slices: Slices, shop: Shop, daemons: Any) -> None:
    """By our provider and by one of the Go version, and if the request changes during the drain."""
    annotate_policy(slices.provider, slices.away, '{"maxSliceResources": {"cpu": "8"}}')
    slices.edit("pool", {"resources": {"cpu": "80"}})
    denied = ("Denied", "RequestDenied")
    wait_for(lambda: slices.condition("pool") == denied, SOON, "the edit to be denied")
    shop.create("during-it")
    shop.wait_running("during-it")

    def drain(state: str) -> None:
        slices.provider.api.patch("tenants", slices.away, slices.consumer.name, {"spec": {"tenantCondition": state}})

    drained = ("Denied", "ResourceSliceResourcesDenied")
    drain("Drained")
    wait_for(lambda: slices.condition("pool") == drained and shop.closed() == "denied", SOON, "the node to be closed")
    shop.create("in-drain")
    slices.edit("pool", {"resources": {"cpu": "90"}})
    stays(lambda: not shop.is_scheduled("in-drain") and shop.closed() == "denied", 3, "the node closed")
    drain("Active")
    wait_for(lambda: slices.condition("pool") == denied and not shop.closed(), SOON, "the node to be open again")
    shop.wait_running("in-drain")

    # A provider of the Go version denies a slice in these words when its tenant is drained, and does so once.
    daemon = daemons.of(slices.provider)
    daemon.stop()
    # Nobody would answer its reviews.
    slices.provider.api.delete("validatingwebhookconfigurations", None, "liqo-webhook")
    replica = slices.provider.api.get("resourceslices", slices.away, "pool")
    conditions = [one for one in replica["status"]["conditions"] if one["type"] != "Resources"]
    condition = {"type": "Resources", "status": "Denied", "reason": "ResourceSliceResourcesDenied"}
    condition |= {"message": "ResourceSlice resources denied", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = {"conditions": [*conditions, condition]}
    slices.provider.api.patch("resourceslices", slices.away, "pool", {"status": status}, "status")
    wait_for(lambda: shop.closed() == "denied", SOON, "the node to be closed")
    shop.create("in-drain-by-go")
    stays(lambda: not shop.is_scheduled("in-drain-by-go"), 3, "the pod unscheduled")
    daemon.start()
    shop.wait_running("in-drain-by-go")
    annotate_policy(slices.provider, slices.away, None)


def test_a_custom_class_is_left_to_its_controller(slices: Slices) -> None:
    slices.create("pool", {"cpu": "8"}, "gold")
    wait_for(lambda: slices.condition("pool", "Authentication")[0] == "Accepted", SOON, "the slice's identity")
    stays(lambda: slices.condition("pool") == ("", "") and not slices.quota("pool"), 3, "the slice unanswered")
    condition = {"type": "Resources", "status": "Accepted", "reason": "Gold", "message": "as the contract says"}
    replica = slices.provider.api.get("resourceslices", slices.away, "pool")
    conditions = [*replica["status"]["conditions"], {**condition, "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    status = {"resources": {"cpu": "2"}, "conditions": conditions}
    slices.provider.api.patch("resourceslices", slices.away, "pool", {"status": status}, "status")
    slices.wait_size("pool", {"cpu": "2"})
    assert slices.condition("pool") == ("Accepted", "Gold")


def test_cordon_and_drain_show_on_both_sides_and_are_taken_back(slices: Slices) -> None:
    slices.create("pool", {"cpu": "8"})
    slices.wait_accepted("pool")
    provider = slices.provider.api

    def mark(value: str | None) -> None:
        annotations = {"liqo.io/cordoned-resource": value}
        provider.patch("resourceslices", slices.away, "pool", {"metadata": {"annotations": annotations}})

    def shown(wanted: tuple[str, str], cordoned: bool) -> None:
        wait_for(lambda: slices.quota("pool").get("cordoned", False) == cordoned, SOON, f"cordoned: {cordoned}")
        wait_for(lambda: slices.condition("pool", away=True) == wanted, SOON, f"{wanted} at the provider")
        wait_for(lambda: slices.condition("pool") == wanted, SOON, f"{wanted} at the consumer")

    mark("true")
    shown(("Accepted", "ResourceSliceCordoned"), True)
    mark(None)
    shown(("Accepted", "ResourceSliceResourcesAccepted"), False)
    drain = {"metadata": {"annotations": {"liqo.io/drain": "true"}}}
    provider.patch("resourceslices", slices.away, "pool", drain)
    shown(("Denied", "ResourceSliceResourcesDenied"), True)
    drain["metadata"]["annotations"]["liqo.io/drain"] = None
    provider.patch("resourceslices", slices.away, "pool", drain)
    shown(("Accepted", "ResourceSliceResourcesAccepted"), False)
    for state, wanted in (
        ("Cordoned", ("Accepted", "ResourceSliceCordoned")),
        ("Drained", ("Denied", "ResourceSliceResourcesDenied")),
    ):
        provider.patch("tenants", slices.away, slices.consumer.name, {"spec": {"tenantCondition": state}})
        shown(wanted, True)
        provider.patch("tenants", slices.away, slices.consumer.name, {"spec": {"tenantCondition": "Active"}})
        shown(("Accepted", "ResourceSliceResourcesAccepted"), False)


def test_a_share_follows_the_nodes_and_pods_of_the_provider(slices: Slices, namespace: str) -> None:
    rome = slices.provider

    def cores() -> float:
        """The cores that a slice asking for all cpu was granted."""
        text = slices.granted("shared").get("cpu", "0")
        return float(text[:-1]) / 1000 if text.endswith("m") else float(text)

    def at_node(wanted: float) -> bool:
        return abs(cores() - wanted) < 0.001 and slices.capacity("shared").get("cpu") == slices.granted("shared")["cpu"]

    nodes = [one for one in rome.api.list("nodes") if one["metadata"]["labels"].get("type") == "kwok"]
    whole = 256 * len(nodes)
    slices.create("shared", {}, "share")
    wait_for(lambda: at_node(0.9 * whole), SOON, f"90 % of {whole} cores")

    rome.namespace(namespace)
    big = busybox("big")
    big["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100"}}
    big["spec"]["nodeName"] = nodes[0]["metadata"]["name"]
    rome.api.create("pods", namespace, big)
    wait_for(lambda: at_node(0.9 * (whole - 100)), SOON, "90 % of what is free")

    rome.add_kwok_nodes(1)
    added = max(
        (one["metadata"]["name"] for one in rome.api.list("nodes", selector="type=kwok")),
        key=lambda name: int(name.rsplit("-", 1)[1]),
    )
    try:
        wait_for(lambda: at_node(0.9 * (whole + 256 - 100)), SOON, "the new node to be shared")
        rome.api.patch("nodes", None, added, {"spec": {"unschedulable": True}})
        wait_for(lambda: at_node(0.9 * (whole - 100)), SOON, "the cordoned node not to be")
    finally:
        rome.api.delete("nodes", None, added)
        rome.api.delete("pods", namespace, "big", grace=0)
    wait_for(lambda: at_node(0.9 * whole), SOON, "90 % of everything again")

    slices.share("50")
    wait_for(lambda: at_node(0.5 * whole), SOON, "half of it")
    slices.share(None)


def test_a_share_of_nothing_keeps_the_node_and_what_runs_on_it(slices: Slices, namespace: str) -> None:
    slices.create("pool", {}, "share")
    slices.wait_accepted("pool")
    shop = Shop(slices, namespace)

    try:
        shop.create("before")
        shop.wait_running("before")
        uids = {
            api.get("pods", where, "before")["metadata"]["uid"]: (api, where)
            for api, where in ((shop.api, shop.name), (slices.provider.api, shop.twin))
        }
        slices.share("0")
        wait_for(lambda: shop.closed() == "nothing-granted", SOON, "the node to be closed")
        assert slices.granted("pool")["cpu"] == "0"
        shop.create("after")

        def undisturbed() -> bool:
            pods = {uid: api.get("pods", where, "before") for uid, (api, where) in uids.items()}
            return (
                is_ready(slices.consumer.api.get("nodes", None, "pool"))
                and not shop.is_scheduled("after")
                and all(
                    pod["metadata"]["uid"] == uid
                    and "deletionTimestamp" not in pod["metadata"]
                    and pod["status"]["phase"] == "Running"
                    for uid, pod in pods.items()
                )
            )

        # Longer than the 5 s after which an eviction for a taint of 0 s would show.
        stays(undisturbed, 6, "the pod running on a Ready node, and the new one waiting")
        slices.share(None)
        wait_for(lambda: not shop.closed(), SOON, "the node to be open again")
        shop.wait_running("after")
    finally:
        slices.share(None)
        shop.close()


@pytest.mark.refusals("the provider's own answer, tried by hand")
def test_nobody_but_the_provider_answers(slices: Slices, handshake: Handshake) -> None:
    slices.create("pool", {"cpu": "8"})
    slices.wait_size("pool", {"cpu": "8", "memory": "8Gi", "pods": "110", "ephemeral-storage": "20Gi"})
    as_consumer = slices.provider.as_user(handshake.user())
    before = slices.granted("pool")
    for what, body, code in (
        ("status", {"status": {"resources": {"cpu": "8000"}}}, 403),
        (None, {"spec": {"consumerClusterID": "turin"}}, 200),
    ):
        try:
            as_consumer.patch("resourceslices", slices.away, "pool", body, what)
            answered = 200
        except AssertionError as refusal:
            answered = getattr(refusal, "code", 0)
        assert answered in (code, 403), f"{what}: {answered}"
    stays(lambda: slices.granted("pool") == before, 3, "the grant")
