"""A namespace is extended to other clusters as its user says, on both sides, and nothing remains when it is withdrawn.

Replication has stories of its own; here its part is played by hand (Peering.carry), so that these are about namespaces.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness import objects
from harness.cluster.api import Refused
from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.daemons import Daemons
from harness.liqo.peering import Peering
from harness.run import Run
from harness.story import is_ready
from harness.wait import stays, wait_for

SELECTED = "the clusterSelector selects this cluster"
FAILED = "the twin namespace is not ready"


class Extension:
    """One namespace of the consumer, and its NamespaceOffloading."""

    def __init__(self, peering: Peering, namespace: str):
        self.peering, self.home, self.away = peering, peering.consumer.api, peering.provider.api
        self.namespace = peering.consumer.namespace(namespace)
        self.twin = f"{namespace}-{peering.consumer.name}"

    def offload(self, unchecked: bool = False, **spec: Any) -> None:
        """Applies it; `unchecked` goes past admission, as an object does that is older than the webhooks."""
        body = objects.offloading(**spec)
        body["metadata"]["labels"] = {"liqo.io/webhook-skip": "true"} if unchecked else {}
        self.home.apply("namespaceoffloadings", self.namespace, body)

    def unoffload(self) -> None:
        self.home.delete("namespaceoffloadings", self.namespace, "offloading")
        self.wait(lambda: self.find() is None, "the NamespaceOffloading to be gone")

    def find(self) -> dict | None:
        return self.home.find("namespaceoffloadings", self.namespace, "offloading")

    def status(self) -> dict[str, Any]:
        return (self.find() or {}).get("status", {})

    def conditions(self, cluster: str = "parma") -> dict[str, dict[str, Any]]:
        listed = self.status().get("remoteNamespacesConditions", {}).get(cluster, [])
        return {condition["type"]: condition for condition in listed}

    def wait(self, holds: Callable[[], object], what: str, timeout: float = 30) -> None:
        """Waits, with wishes and answers carried between the clusters meanwhile."""

        def looked() -> object:
            self.peering.carry()
            return holds()

        wait_for(looked, timeout, f"{what}; {self.status()}")

    def wait_phase(self, phase: str, timeout: float = 30) -> None:
        self.wait(lambda: self.status().get("offloadingPhase") == phase, f"the phase to be {phase}", timeout)

    def desired(self, cluster: str = "parma") -> dict[str, str]:
        found = self.home.find("namespacemaps", f"liqo-tenant-{cluster}", cluster) or {}
        return found.get("spec", {}).get("desiredMapping") or {}

    def labels(self) -> dict[str, str]:
        return self.home.get("namespaces", None, self.namespace)["metadata"].get("labels", {})

    def close(self) -> None:
        if self.find():
            self.unoffload()
        self.home.delete("namespaces", None, self.namespace)
        # With the copy, liqod would remove twins that other stories make by hand.
        self.away.delete("namespacemaps", self.peering.away, "parma")
        copy = lambda: self.away.find("namespacemaps", self.peering.away, "parma")  # noqa: E731
        wait_for(lambda: copy() is None, 60, "the copy of the NamespaceMap to be gone")


def allow_twins(peering: Peering, *names: str) -> None:
    """The provider's policy: which names twins may have besides the usual ones."""
    policy = json.dumps({"twinNames": [f"*-{peering.consumer.name}", *names]})
    annotations = {"liqo.io/pod-policy": policy if names else None}
    peering.provider.api.patch("namespaces", None, peering.away, {"metadata": {"annotations": annotations}})


@pytest.fixture(scope="module")
def siena_to_parma(run: Run, daemons: Daemons) -> Iterator[Peering]:
    """Two clusters of their own: a namespace without a selector is extended to every provider that other stories left."""
    with run.borrow(siena=Options(), parma=Options()) as (consumer, provider):
        provider.add_kwok_nodes(1)
        daemons.of(consumer), daemons.of(provider)
        yield Peering(consumer, provider).establish().wait_ready()


@pytest.fixture
def extension(siena_to_parma: Peering, namespace: str) -> Iterator[Extension]:
    made = Extension(siena_to_parma, namespace)
    yield made
    made.close()
    allow_twins(siena_to_parma)


def by_region(*regions: str, operator: str = "In") -> dict[str, Any]:
    requirement = {"key": "region", "operator": operator, "values": list(regions)}
    return {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}


def test_a_namespace_is_extended_runs_pods_and_is_withdrawn(extension: Extension) -> None:
    peering, twin = extension.peering, extension.twin
    extension.offload()
    extension.wait_phase("Ready")
    assert extension.status()["remoteNamespaceName"] == twin
    assert extension.labels()["liqo.io/scheduling-enabled"] == "true"
    conditions = extension.conditions()
    assert conditions["OffloadingRequired"]["message"] == SELECTED
    assert conditions["Ready"]["status"] == "True" and conditions["Ready"]["reason"] == "NamespaceCreated"

    made = extension.away.get("namespaces", None, twin)["metadata"]
    assert made["labels"]["liqo.io/remote-cluster-id"] == "siena"
    assert made["labels"]["pod-security.kubernetes.io/enforce"] == "baseline"
    assert made["annotations"]["liqo.io/original-name"] == extension.namespace
    assert made["annotations"]["liqo.io/managed-by-namespace-map"] == "liqo-tenant-siena/parma"
    binding = extension.away.get("rolebindings", twin, "liqo-tenant-siena")
    assert [(subject["kind"], subject["name"]) for subject in binding["subjects"]] == [("Group", "siena")]
    assert binding["roleRef"]["name"] == "liqo-virtual-kubelet-remote"

    extension.home.create("pods", extension.namespace, peering.pinned(busybox("one")))
    pod = peering.consumer.pod
    wait_for(lambda: is_ready(pod(extension.namespace, "one") or {"status": {}}), 60, "the pod to run")
    assert peering.provider.pod(twin, "one")
    extension.home.delete("pods", extension.namespace, "one")
    wait_for(lambda: pod(extension.namespace, "one") is None, 60, "the pod to be gone")

    extension.unoffload()
    assert extension.away.find("namespaces", None, twin) is None
    assert "liqo.io/scheduling-enabled" not in extension.labels()
    assert extension.namespace not in extension.desired()
    assert extension.namespace not in (peering.carry() or {}).get("status", {}).get("currentMapping", {})


def test_trouble_of_the_provider_with_a_twin_ends_no_pod_in_it(extension: Extension, daemons: Daemons) -> None:
    peering, namespace = extension.peering, extension.namespace
    extension.offload()
    extension.wait_phase("Ready")
    extension.home.create("pods", namespace, peering.pinned(busybox("one")))
    pod = lambda: peering.consumer.pod(namespace, "one")  # noqa: E731
    wait_for(lambda: is_ready(pod() or {"status": {}}), 60, "the pod to run")

    def report(phase: str) -> None:
        status = {"currentMapping": {namespace: {"phase": phase}}}
        extension.home.patch("namespacemaps", "liqo-tenant-parma", "parma", {"status": status}, "status")

    def runs() -> bool:
        return pod()["status"]["phase"] == "Running"

    report("CreationLoopBackOff")
    wait_for(lambda: extension.status()["offloadingPhase"] == "AllFailed", 30, "the trouble to be told")
    stays(runs, 3, "the pod")
    # A process that has never seen the twin in use must keep it, too.
    daemons.of(peering.consumer).restart()
    stays(runs, 5, "the pod after a restart")
    report("Accepted")
    extension.home.delete("pods", namespace, "one")
    wait_for(lambda: pod() is None, 60, "the pod to be gone")
    assert peering.provider.pod(extension.twin, "one") is None


def test_a_name_that_is_taken_is_told_and_gets_nobody_any_rights(extension: Extension) -> None:
    """The provider has a namespace of that name for itself; when it is removed, the twin takes its place."""
    name = extension.peering.provider.namespace(extension.namespace)
    allow_twins(extension.peering, name)
    extension.offload(namespaceMappingStrategy="EnforceSameName")
    extension.wait_phase("AllFailed")
    ready = extension.conditions()["Ready"]
    assert ready["status"] == "False" and ready["reason"] == "CreationLoopBackOff"
    assert ready["message"].startswith(FAILED + ": ") and "already" in ready["message"]
    assert extension.away.list("rolebindings", name) == []
    found = extension.away.get("namespaces", None, name)["metadata"]
    assert "liqo.io/remote-cluster-id" not in found["labels"] and "annotations" not in found
    extension.away.delete("namespaces", None, name)
    extension.wait_phase("Ready", 90)
    assert extension.away.get("rolebindings", name, "liqo-tenant-siena")


def test_the_name_of_the_twin_can_be_chosen_but_no_system_namespace(extension: Extension) -> None:
    extension.offload(namespaceMappingStrategy="SelectedName", remoteNamespaceName="chosen-by-us")
    extension.wait_phase("AllFailed")
    assert "(twinNames)" in extension.conditions()["Ready"]["message"]
    assert extension.away.find("namespaces", None, "chosen-by-us") is None
    allow_twins(extension.peering, "chosen-*")
    extension.wait_phase("Ready")
    assert extension.status()["remoteNamespaceName"] == "chosen-by-us"
    assert extension.away.get("namespaces", None, "chosen-by-us")
    extension.unoffload()
    assert extension.away.find("namespaces", None, "chosen-by-us") is None

    with pytest.raises(Refused, match="Kubernetes keeps for itself"):
        extension.offload(namespaceMappingStrategy="SelectedName", remoteNamespaceName="kube-system")
    for name in ("kube-system", "liqo", "liqo-tenant-turin"):
        extension.offload(unchecked=True, namespaceMappingStrategy="SelectedName", remoteNamespaceName=name)
        extension.wait_phase("AllFailed")
        assert "choose another name" in extension.conditions()["Ready"]["message"]
        extension.unoffload()
    assert extension.away.find("namespaces", None, "liqo-tenant-turin") is None
    assert extension.away.find("rolebindings", "kube-system", "liqo-tenant-siena") is None


def test_a_name_that_is_too_long_is_told_with_a_way_out(siena_to_parma: Peering) -> None:
    extension = Extension(siena_to_parma, "n" * 60)
    try:
        extension.offload()
        extension.wait_phase("AllFailed")
        message = extension.conditions()["Ready"]["message"]
        assert "66 characters" in message and "EnforceSameName" in message
        assert extension.namespace not in extension.desired()
    finally:
        extension.close()


def test_the_cluster_selector_chooses_among_providers_and_follows_their_labels(extension: Extension) -> None:
    """turin is a provider that nobody can reach: to be selected, or not, needs no answer."""
    peering, home = extension.peering, extension.home
    peering.consumer.namespace(
        "liqo-tenant-turin", {"liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": "turin"}
    )
    turin = {"clusterID": "turin", "createNode": False, "labels": {"region": "asia"}, "resourceQuota": {"hard": {}}}
    home.apply("virtualnodes", "liqo-tenant-turin", objects.liqo_object("offloading", "VirtualNode", "turin-far", turin))
    try:
        wait_for(lambda: home.find("namespacemaps", "liqo-tenant-turin", "turin"), 60, "turin's NamespaceMap")
        peering.write_virtual_node(labels={"region": "europe"})
        extension.offload(clusterSelector=by_region("europe"))
        extension.wait_phase("Ready")
        assert extension.namespace not in extension.desired("turin")
        assert extension.conditions("turin").keys() == {"OffloadingRequired"}
        assert extension.conditions("turin")["OffloadingRequired"]["reason"] == "ClusterNotSelected"

        extension.offload(clusterSelector=by_region("europe", "asia"))
        extension.wait(lambda: extension.namespace in extension.desired("turin"), "turin to be asked, too")
        extension.wait_phase("InProgress")
        assert extension.conditions("turin")["Ready"]["reason"] == "Creating"

        peering.write_virtual_node(labels={"region": "africa"})
        extension.wait(lambda: extension.away.find("namespaces", None, extension.twin) is None, "the twin to go", 60)
        assert "Ready" in extension.conditions("turin")
    finally:
        peering.write_virtual_node()
        home.delete("virtualnodes", "liqo-tenant-turin", "turin-far")
    gone = lambda: home.find("namespacemaps", "liqo-tenant-turin", "turin") is None  # noqa: E731
    wait_for(gone, 60, "turin's NamespaceMap to go with its last VirtualNode")
    extension.wait(lambda: not extension.conditions("turin"), "turin not to be told of any more")


def test_an_invalid_selector_is_told_once_and_takes_nothing_away(extension: Extension) -> None:
    with pytest.raises(Refused, match="Exists takes no values"):
        extension.offload(clusterSelector=by_region("europe", operator="Exists"))
    extension.offload(unchecked=True, clusterSelector=by_region("europe", operator="Exists"))

    def told() -> list[dict]:
        events = extension.peering.consumer.events(extension.namespace, "offloading")
        return [event for event in events if "Exists takes no values" in event.get("message", "")]

    wait_for(told, 60, "an event that says what is wrong")
    extension.wait_phase("NoClusterSelected")
    assert "liqo.io/scheduling-enabled" not in extension.labels()
    assert extension.namespace not in extension.desired()

    extension.home.patch("namespaceoffloadings", extension.namespace, "offloading", {"spec": {"clusterSelector": None}})
    extension.wait_phase("Ready")
    extension.offload(unchecked=True, clusterSelector=by_region("europe", operator="Exists"))
    generation = (extension.find() or {})["metadata"]["generation"]
    extension.wait(lambda: extension.status().get("observedGeneration") == generation, "the new selector to be seen")
    stays(lambda: extension.away.find("namespaces", None, extension.twin), 2, "the twin")
    assert extension.status()["offloadingPhase"] == "Ready"


def test_the_strategy_local_extends_the_namespace_but_offloads_no_pods(extension: Extension) -> None:
    def secret(name: str) -> None:
        body = {"kind": "Secret", "metadata": {"name": name}, "stringData": {"word": "ciao"}}
        extension.home.create("secrets", extension.namespace, body)

    def copy(name: str) -> dict | None:
        return extension.away.find("secrets", extension.twin, name)

    secret("plain")
    extension.offload(podOffloadingStrategy="Remote")
    extension.wait_phase("Ready")
    assert extension.labels()["liqo.io/scheduling-enabled"] == "true"
    assert copy("plain") is None, "nothing refers to it"
    extension.offload(podOffloadingStrategy="Local")
    extension.wait(lambda: "liqo.io/scheduling-enabled" not in extension.labels(), "the label to go")
    assert extension.status()["offloadingPhase"] == "Ready"
    # The provider's own workloads may use Secrets to which nothing at home refers.
    wait_for(lambda: copy("plain"), 60, "the Secret to be in parma")
    secret("later")
    wait_for(lambda: copy("later"), 60, "the later Secret, too")


@pytest.mark.refusals("the consumer works in the twin while its rights are taken away")
def test_a_twin_is_made_again_and_its_binding_mended(extension: Extension) -> None:
    extension.offload()
    extension.wait_phase("Ready")
    uid = extension.away.get("namespaces", None, extension.twin)["metadata"]["uid"]
    subject = {"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}
    extension.away.patch("rolebindings", extension.twin, "liqo-tenant-siena", {"subjects": [subject]})

    def subjects() -> list[str]:
        found = extension.away.find("rolebindings", extension.twin, "liqo-tenant-siena") or {}
        return [subject["name"] for subject in found.get("subjects", [])]

    wait_for(lambda: subjects() == ["siena"], 60, "the subject to be the consumer again")
    extension.away.delete("rolebindings", extension.twin, "liqo-tenant-siena")
    wait_for(lambda: subjects() == ["siena"], 60, "the RoleBinding to be there again")
    extension.away.delete("namespaces", None, extension.twin)
    wait_for(
        lambda: (extension.away.find("namespaces", None, extension.twin) or {})["metadata"]["uid"] != uid,
        60,
        "the twin to be made again",
    )
    wait_for(lambda: subjects() == ["siena"], 60, "the new twin to have its RoleBinding")


def test_the_provider_sets_the_pod_security_level_of_each_tenant(extension: Extension) -> None:
    level = "pod-security.kubernetes.io/enforce"

    def twin_level() -> str | None:
        found = extension.away.find("namespaces", None, extension.twin)
        return found["metadata"]["labels"].get(level) if found else None

    def set_level(word: str | None) -> None:
        annotations = {"offloading.liqo.io/twin-pod-security": word}
        extension.away.patch("namespaces", None, extension.peering.away, {"metadata": {"annotations": annotations}})

    extension.offload()
    extension.wait_phase("Ready")
    assert twin_level() == "baseline"
    try:
        set_level("privileged")
        wait_for(lambda: twin_level() == "privileged", 60, "the twin to follow")
        set_level("no such level")
        wait_for(lambda: twin_level() == "baseline", 60, "the default for what is no level")
    finally:
        set_level(None)


def test_a_map_that_claims_to_be_of_another_cluster_is_not_followed(siena_to_parma: Peering) -> None:
    """A tenant can write its map and the labels on it; the tenant namespace says whose map it is."""
    provider = siena_to_parma.provider
    labels = {"liqo.io/originID": "turin", "liqo.io/replicated": "true", "liqo.io/remote-cluster-id": "turin"}
    forged = objects.namespace_map("forged", labels, desiredMapping={"shop": "shop-of-turin"})
    provider.api.create("namespacemaps", siena_to_parma.away, forged)
    try:
        wait_for(lambda: provider.events(siena_to_parma.away, "forged"), 60, "an event that says why")
        assert "tenant namespace of siena" in provider.events(siena_to_parma.away, "forged")[0]["message"]
        assert provider.api.find("namespaces", None, "shop-of-turin") is None
    finally:
        provider.api.delete("namespacemaps", siena_to_parma.away, "forged")
