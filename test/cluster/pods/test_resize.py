"""A pod that runs in another cluster is resized in place, as on a real node, and within its quota."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness import settings
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.liqo.daemons import Daemons
from harness.liqo.peering import Peering
from harness.run import Run
from harness.story import is_ready
from harness.wait import wait_for

pytestmark = pytest.mark.refusals("what there is no room for is refused")

GRANTED = {"cpu": "1", "memory": "1Gi", "pods": "10"}
MINOR = int(settings.KUBERNETES_VERSION.split(".")[1])
# The API server at home refuses resizes that the virtual node does not declare: in Kubernetes 1.35 if it is told to,
# from 1.36 on by default.
DECLARING = ("--feature-gates=NodeDeclaredFeatures=true",)
# What liqod would have to do itself, as the kubelet of the virtual node, and does not.
NOT_OURS = {
    "DRAOptionalNodeOperations",
    "ExtendWebSocketsToKubelet",
    "InPlacePodVerticalScalingMemoryBackedVolumes",
    "VolumeBindMountOptions",
}


@pytest.fixture(scope="module")
def peering(run: Run, daemons: Daemons) -> Iterator[Peering]:
    """The provider's kubelet has cgroups for its pods, which it needs to resize them."""
    home, away = Options(extra_apiserver=DECLARING), Options(kubelet=True, pod_cgroups=True)
    with run.borrow(siena=home, lecce=away) as (consumer, provider):
        daemons.of(consumer), daemons.of(provider)
        labels = {f"features.liqo.io/{feature}": "true" for feature in declared(provider)}
        yield Peering(consumer, provider).establish(GRANTED, labels=labels).wait_ready()


def declared(provider: Cluster) -> list[str]:
    """What the provider's liqod would tell in a slice. Kubelets of 1.35 do not say by themselves what they do."""
    if MINOR < 36:
        return ["GuaranteedQoSPodCPUResize"]
    nodes = [set(node["status"].get("declaredFeatures", [])) for node in provider.api.list("nodes")]
    return sorted(set.intersection(*nodes) - NOT_OURS)


def exactly(cpu: str) -> dict[str, Any]:
    """Resources of a container of a Guaranteed pod."""
    amounts = {"cpu": cpu, "memory": "64Mi"}
    return {"requests": amounts, "limits": amounts}


def with_requests(pod: dict[str, Any], cpu: str) -> dict[str, Any]:
    (container,) = pod["spec"]["containers"]
    container["resources"] = {"requests": {"cpu": cpu, "memory": "64Mi"}, "limits": {"cpu": "900m"}}
    return pod


def requested(pod: dict[str, Any] | None) -> str:
    return pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] if pod else ""


def set_aside(pod: dict[str, Any] | None) -> str:
    """The cpu that the node says it has set aside for the container; "" before it says so."""
    statuses = (pod or {}).get("status", {}).get("containerStatuses") or [{}]
    return statuses[0].get("resources", {}).get("requests", {}).get("cpu", "")


def pending(pod: dict[str, Any]) -> dict[str, str]:
    conditions = pod["status"].get("conditions", [])
    return next((known for known in conditions if known["type"] == "PodResizePending"), {})


def resize(cluster: Cluster, namespace: str, name: str, cpu: str) -> None:
    resize_to(cluster, namespace, name, {"requests": {"cpu": cpu}})


def resize_to(cluster: Cluster, namespace: str, name: str, resources: dict[str, Any]) -> None:
    patch_size(cluster, namespace, name, of_container(resources))


def of_container(resources: dict[str, Any]) -> dict[str, Any]:
    return {"containers": [{"name": "main", "resources": resources}]}


def patch_size(cluster: Cluster, namespace: str, name: str, spec: dict[str, Any]) -> None:
    cluster.kubectl(*patch_command(namespace, name, spec))


def patch_command(namespace: str, name: str, spec: dict[str, Any]) -> list[str]:
    return ["patch", "pod", name, "-n", namespace, "--subresource", "resize", "-p", json.dumps({"spec": spec})]


def take_room(peering: Peering, namespace: str, cpu: str) -> None:
    """Runs another pod that takes so much of the quota that a resize within the slice lacks room.

    From Kubernetes 1.36 on the API server at home refuses (403) a resize beyond what the virtual node has in all.
    """
    other = busybox("other")
    other["spec"]["containers"][0]["resources"] = exactly(cpu)
    peering.consumer.api.create("pods", namespace, peering.pinned(other))
    wait_for(lambda: is_ready(peering.consumer.pod(namespace, "other") or {"status": {}}), 60, "the other pod to run")


def check_refusal_without(peering: Peering, feature: str, command: list[str]) -> None:
    """Takes the feature from the virtual node for a while. API servers see what a node declares a moment later."""
    home = peering.consumer
    why = f"pod update requires features {feature} which are not available on node"

    def label(value: str | None) -> None:
        labels = {f"features.liqo.io/{feature}": value}
        home.api.patch("virtualnodes", peering.home, peering.node, {"spec": {"labels": labels}})

    def refusal() -> str:
        try:
            home.kubectl(*command, "--dry-run=server")
        except AssertionError as error:
            return str(error)
        return ""

    label(None)
    wait_for(lambda: why in refusal(), 30, "the API server at home to refuse the resize")
    with pytest.raises(AssertionError, match=why):
        home.kubectl(*command)
    label("true")
    wait_for(lambda: not refusal(), 30, "the API server at home to take the resize")


def leave(peering: Peering, namespace: str, twin: str) -> None:
    """Ends what runs, so that the next story has the whole quota."""
    for pod in peering.consumer.pods(namespace):
        peering.consumer.api.delete("pods", namespace, pod["metadata"]["name"])
    left = lambda: peering.consumer.pods(namespace) or peering.provider.api.list("shadowpods", twin)  # noqa: E731
    wait_for(lambda: not left(), 60, "the pods to go")
    peering.withdraw(namespace)


def test_a_pod_gets_what_it_is_resized_to_where_the_quota_has_room(peering: Peering, namespace: str) -> None:
    home, away = peering.consumer, peering.provider
    home.namespace(namespace)
    twin = peering.offload(namespace)
    for name in ("web", "other"):
        home.api.create("pods", namespace, peering.pinned(with_requests(busybox(name), "300m")))
    pods = lambda: [home.pod(namespace, name) for name in ("web", "other")]  # noqa: E731
    wait_for(lambda: all(is_ready(pod or {"status": {}}) for pod in pods()), 60, "both pods to run")
    first = away.pod(twin, "web")
    assert first

    resize(home, namespace, "web", "600m")
    wait_for(lambda: set_aside(home.pod(namespace, "web")) == "600m", 60, "the pod at home to show what it has got")
    grown = away.pod(twin, "web")
    assert grown and requested(grown) == "600m"
    # The container is still the same.
    assert grown["metadata"]["uid"] == first["metadata"]["uid"]
    assert grown["status"]["containerStatuses"][0]["restartCount"] == 0
    assert not pending(home.pod(namespace, "web"))

    # The two pods have 600m and 300m of the quota of 1.
    resize(home, namespace, "other", "500m")
    wait_for(lambda: pending(home.pod(namespace, "other")), 60, "the refusal to be told")
    told = pending(home.pod(namespace, "other"))
    assert told["reason"] == "Deferred"
    assert "has not enough cpu: asked 200m, used 900m of 1, free 100m" in told["message"]
    assert requested(away.pod(twin, "other")) == "300m"

    # The other pod gets what the first gives back.
    resize(home, namespace, "web", "200m")
    wait_for(lambda: set_aside(home.pod(namespace, "other")) == "500m", 90, "the other one to get it")
    assert set_aside(away.pod(twin, "web")) == "200m"
    assert not pending(home.pod(namespace, "other"))

    limits = {"type": "Container", "max": {"cpu": "550m"}}
    away.api.create("limitranges", twin, {"metadata": {"name": "small"}, "spec": {"limits": [limits]}})
    resize(home, namespace, "other", "600m")
    wait_for(lambda: pending(home.pod(namespace, "other")), 60, "the refusal of the cluster to be told")
    told = pending(home.pod(namespace, "other"))
    assert told["reason"] == "Infeasible"
    assert "cluster lecce does not resize the pod: " in told["message"] and "maximum cpu usage" in told["message"]
    away.api.delete("limitranges", twin, "small")
    wait_for(lambda: set_aside(home.pod(namespace, "other")) == "600m", 120, "what is allowed again to be done")
    leave(peering, namespace, twin)


@pytest.mark.parametrize("enforcement", ["None", "Hard"])
def test_a_guaranteed_pod_is_resized_also_where_limits_are_enforced(
    peering: Peering, namespace: str, enforcement: str
) -> None:
    home, away = peering.consumer, peering.provider
    node = lambda: home.api.get("nodes", None, peering.node)  # noqa: E731
    wait_for(lambda: node()["status"].get("declaredFeatures", []) == declared(away), 30, "the node to declare it")
    peering.write_quota(GRANTED, limitsEnforcement=enforcement)
    home.namespace(namespace)
    twin = peering.offload(namespace)
    pod = busybox("exact")
    pod["spec"]["containers"][0]["resources"] = exactly("300m")
    home.api.create("pods", namespace, peering.pinned(pod))
    wait_for(lambda: is_ready(home.pod(namespace, "exact") or {"status": {}}), 60, "the pod to run")
    first = away.pod(twin, "exact")
    assert first and first["status"]["qosClass"] == "Guaranteed"

    if MINOR < 36:
        command = patch_command(namespace, "exact", of_container(exactly("600m")))
        check_refusal_without(peering, "GuaranteedQoSPodCPUResize", command)
        assert requested(home.pod(namespace, "exact")) == "300m"

    def becomes(cpu: str) -> None:
        resize_to(home, namespace, "exact", exactly(cpu))
        wait_for(lambda: set_aside(home.pod(namespace, "exact")) == cpu, 60, f"the pod at home to show {cpu}")
        there = away.pod(twin, "exact")
        assert there and there["spec"]["containers"][0]["resources"] == exactly(cpu)
        # The container is still the same.
        assert there["metadata"]["uid"] == first["metadata"]["uid"]
        assert there["status"]["containerStatuses"][0]["restartCount"] == 0
        assert not pending(home.pod(namespace, "exact"))

    becomes("600m")
    becomes("200m")
    take_room(peering, namespace, "500m")
    resize_to(home, namespace, "exact", exactly("900m"))
    wait_for(lambda: pending(home.pod(namespace, "exact")), 60, "the refusal to be told")
    told = pending(home.pod(namespace, "exact"))
    assert told["reason"] == "Deferred"
    assert "has not enough cpu: asked 700m, used 700m of 1, free 300m" in told["message"]
    assert requested(away.pod(twin, "exact")) == "200m"
    leave(peering, namespace, twin)
    peering.write_quota(GRANTED)


@pytest.mark.skipif(MINOR < 36, reason="Kubernetes 1.35 resizes pods as a whole only behind a feature gate")
def test_a_pod_is_resized_as_a_whole(peering: Peering, namespace: str) -> None:
    home, away = peering.consumer, peering.provider
    assert "InPlacePodLevelResourcesVerticalScaling" in declared(away)
    home.namespace(namespace)
    twin = peering.offload(namespace)
    resources = {"requests": {"cpu": "300m", "memory": "64Mi"}, "limits": {"cpu": "900m", "memory": "128Mi"}}
    home.api.create("pods", namespace, peering.pinned(busybox("whole", resources=resources)))
    wait_for(lambda: is_ready(home.pod(namespace, "whole") or {"status": {}}), 60, "the pod to run")
    first = away.pod(twin, "whole")
    grow = patch_command(namespace, "whole", {"resources": {"requests": {"cpu": "600m"}}})
    check_refusal_without(peering, "InPlacePodLevelResourcesVerticalScaling", grow)
    home.kubectl(*grow)

    def set_aside_for(pod: dict[str, Any] | None) -> str:
        return (pod or {}).get("status", {}).get("resources", {}).get("requests", {}).get("cpu", "")

    wait_for(lambda: set_aside_for(home.pod(namespace, "whole")) == "600m", 60, "the pod at home to show it")
    grown = away.pod(twin, "whole")
    assert grown and grown["spec"]["resources"]["requests"]["cpu"] == "600m"
    assert first and grown["metadata"]["uid"] == first["metadata"]["uid"]
    take_room(peering, namespace, "300m")
    patch_size(home, namespace, "whole", {"resources": {"requests": {"cpu": "900m"}}})
    wait_for(lambda: pending(home.pod(namespace, "whole")), 60, "the refusal to be told")
    told = pending(home.pod(namespace, "whole"))
    assert "has not enough cpu: asked 300m, used 900m of 1, free 100m" in told["message"]
    leave(peering, namespace, twin)
