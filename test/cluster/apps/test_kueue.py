"""Kueue at home admits Jobs and pods that run at a provider, also if the provider has a Kueue of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.apps import pins
from harness.apps.two import Two, helm, offload, rolled_out
from harness.cluster.cluster import Cluster
from harness.cluster.images import LIBRARY_IMAGE
from harness.wait import stays, wait_for

pytestmark = [pytest.mark.apps, pytest.mark.refusals("an operator asks for more than it has to have")]

NAMESPACE, SYSTEM = "team", "kueue-system"
QUEUE = {"kueue.x-k8s.io/queue-name": "team"}
GATE = "kueue.x-k8s.io/admission"
# One of the Jobs fits into it, not both.
QUOTA = [{"name": "cpu", "nominalQuota": "500m"}, {"name": "memory", "nominalQuota": "256Mi"}]


def kueue(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec}


def install(cluster: Cluster) -> None:
    """By its own chart, with the image that the nodes have."""
    repository, tag = pins.image_of("kueue").split(":")
    image = "controllerManager.manager.image"
    helm(
        cluster, "install", "kueue", pins.manifests("kueue"), "--namespace", SYSTEM, "--create-namespace",
        "--set", f"{image}.repository={repository},{image}.tag={tag},{image}.pullPolicy=IfNotPresent",
    )  # fmt: skip
    rolled_out(cluster, SYSTEM, "kueue-controller-manager")


def make_queue(cluster: Cluster, namespace: str) -> None:
    """A queue for the pods of one namespace; Kueue's webhooks answer a moment after its pod is ready."""
    flavors = [{"name": "any", "resources": QUOTA}]
    groups = [{"coveredResources": ["cpu", "memory"], "flavors": flavors}]
    made = [
        kueue("ResourceFlavor", "any", {}),
        kueue("ClusterQueue", "all", {"namespaceSelector": {}, "resourceGroups": groups}),
        kueue("LocalQueue", "team", {"clusterQueue": "all"}),
    ]

    def accepted() -> bool:
        for each in made:
            cluster.kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(each))
        return True

    wait_for(accepted, 120, f"Kueue of {cluster.name} to take its queues", interval=1)


def template() -> dict[str, Any]:
    container = {"name": "main", "image": LIBRARY_IMAGE, "command": ["echo", "done"]}
    container["resources"] = {"requests": {"cpu": "200m", "memory": "32Mi"}}
    return {"restartPolicy": "Never", "containers": [container]}


def job(name: str) -> dict[str, Any]:
    """Two pods at once, both of which carry the label, as users write it."""
    pods = {"metadata": {"labels": {"app": name, **QUEUE}}, "spec": template()}
    spec = {"parallelism": 2, "completions": 2, "template": pods}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": QUEUE}, "spec": spec}


def pod(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": QUEUE}, "spec": template()}


def gates(cluster: Cluster, namespace: str, name: str) -> list[str]:
    found = cluster.pod(namespace, name)
    assert found, f"there is no pod {name}"
    return [gate["name"] for gate in found["spec"].get("schedulingGates", [])]


def run_all(two: Two, turn: str) -> None:
    """Two Jobs, of which one has to wait for the other, and a pod, all of which Kueue of home admits."""
    home = two.home.cluster
    names = [f"{turn}-one", f"{turn}-two"]
    for each in (*map(job, names), pod(f"{turn}-pod")):
        home.kubectl("apply", "-n", NAMESPACE, "-f", "-", stdin=json.dumps(each))

    def done() -> bool:
        seen = {name: two.home.api.get("jobs", NAMESPACE, name).get("status", {}) for name in names}
        phase = two.home.api.get("pods", NAMESPACE, f"{turn}-pod")["status"].get("phase")
        complete = all(status.get("succeeded") == 2 for status in seen.values())
        assert complete and phase == "Succeeded", f"{seen}, pod {phase}"
        return True

    wait_for(done, 180, f"what the queue has ({turn}) to be done", interval=0.5)
    for name in names:
        assert two.nodes(NAMESPACE, f"app={name}") == {two.away.name}
    workloads = two.get("workloads.kueue.x-k8s.io", "-n", NAMESPACE)["items"]
    admitted = [
        workload["metadata"]["name"]
        for workload in workloads
        if turn in workload["metadata"]["name"]
        if any(one["type"] == "QuotaReserved" for one in workload.get("status", {}).get("conditions", []))
    ]
    assert len(admitted) == 3, f"of {[one['metadata']['name'] for one in workloads]} were admitted {admitted}"


def test_kueue_admits_at_home_what_runs_at_a_provider_that_has_kueue_itself(software: Callable[[str], Two]) -> None:
    two = software("kueue")
    home, away = two.home.cluster, two.away.cluster
    install(home)
    offload(two, NAMESPACE, "--pod-offloading-strategy", "Remote")
    make_queue(home, NAMESPACE)
    run_all(two, "alone")

    install(away)
    away.namespace("own")

    def holds() -> bool:
        away.api.delete_all("pods", "own", grace=0)
        away.kubectl("apply", "-n", "own", "-f", "-", stdin=json.dumps(pod("held")))
        return gates(away, "own", "held") == [GATE]

    wait_for(holds, 120, "Kueue of the provider to hold a pod whose queue it lacks", interval=1)
    run_all(two, "both")
    stays(lambda: gates(away, "own", "held") == [GATE], 2, "the provider's own pod")
