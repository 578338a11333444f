"""A pod that runs in another cluster is resized in place, as on a real node, and within its quota."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.liqo.daemons import Daemons
from harness.liqo.peering import Peering
from harness.run import Run
from harness.story import is_ready
from harness.wait import wait_for

pytestmark = pytest.mark.refusals("what there is no room for is refused")

GRANTED = {"cpu": "1", "memory": "1Gi", "pods": "10"}


@pytest.fixture(scope="module")
def peering(run: Run, daemons: Daemons) -> Iterator[Peering]:
    """The provider's kubelet has cgroups for its pods, which it needs to resize them."""
    with run.borrow(siena=Options(), lecce=Options(kubelet=True, pod_cgroups=True)) as (consumer, provider):
        daemons.of(consumer), daemons.of(provider)
        yield Peering(consumer, provider).establish(GRANTED).wait_ready()


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
    patch = f'{{"spec":{{"containers":[{{"name":"main","resources":{{"requests":{{"cpu":"{cpu}"}}}}}}]}}}}'
    cluster.kubectl("patch", "pod", name, "-n", namespace, "--subresource", "resize", "-p", patch)


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
    peering.withdraw(namespace)
