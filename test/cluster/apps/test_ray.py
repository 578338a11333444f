"""A Ray cluster of KubeRay computes, whose head is at home and whose worker is at a provider."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.apps import pins
from harness.apps.two import Two, offload, rolled_out
from harness.cluster import served
from harness.wait import wait_for

pytestmark = [pytest.mark.apps, pytest.mark.refusals("an operator asks for more than it has to have")]

# Its twin has the same name, because KubeRay gives workers the name of the head with the namespace in it.
NAMESPACE = "same"
# Ray takes a minute and a half to start on two busy cores.
STARTED = 600.0
COMPUTE = """
import json, ray, socket
ray.init(address="auto", log_to_driver=False)

@ray.remote(num_cpus=0.5)
def square(number):
    return socket.gethostname(), number * number

found = ray.get([square.remote(number) for number in range(100)])
print(json.dumps({"sum": sum(value for _, value in found), "hosts": sorted({host for host, _ in found})}))
"""


def group(node: dict[str, str], **parameters: str) -> dict[str, Any]:
    """The head or the workers, on the nodes with these labels."""
    resources = {"cpu": "1", "memory": "1536Mi"}
    container = {
        "name": "ray", "image": pins.image_of("ray"), "resources": {"limits": resources, "requests": {**resources, "cpu": "300m"}},
        "env": [{"name": "RAY_USAGE_STATS_ENABLED", "value": "0"}],
    }  # fmt: skip
    spec = {"nodeSelector": node, "containers": [container], "terminationGracePeriodSeconds": 5}
    return {"rayStartParams": {"object-store-memory": "100000000", **parameters}, "template": {"spec": spec}}


def ray_cluster(head: str) -> dict[str, Any]:
    workers = group({"liqo.io/type": "virtual-node"}, **{"num-cpus": "1"})
    workers |= {"groupName": "away", "replicas": 1, "minReplicas": 1, "maxReplicas": 1}
    spec = {
        "rayVersion": pins.versions("ray")["ray"],
        "headGroupSpec": group({"kubernetes.io/hostname": head}, **{"num-cpus": "0"}),
        "workerGroupSpecs": [workers],
    }
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "squares"}, "spec": spec}


def test_a_ray_cluster_computes_with_its_head_at_home_and_its_worker_away(software: Callable[[str], Two]) -> None:
    software("kuberay")
    two = software("ray")
    home = two.home.cluster
    home.apply(home.kubectl("kustomize", pins.manifests("kuberay")))
    wait_for(lambda: served.kinds_established(home, "ray.io"), 60, "the kinds of KubeRay")
    rolled_out(home, "default", "kuberay-operator")
    offload(two, NAMESPACE, "--namespace-mapping-strategy", "EnforceSameName")
    home.kubectl("apply", "-n", NAMESPACE, "-f", "-", stdin=json.dumps(ray_cluster(f"{home.name}-1")))

    def ready() -> bool:
        status = two.get("rayclusters.ray.io", "squares", "-n", NAMESPACE).get("status", {})
        pods = {pod["metadata"]["name"]: pod["status"].get("phase") for pod in home.pods(NAMESPACE)}
        assert status.get("state") == "ready", f"{status.get('state')} {status.get('reason', '')}, pods {pods}"
        return True

    wait_for(ready, STARTED, "the Ray cluster to be ready", interval=2)
    (head,) = home.pods(NAMESPACE, "ray.io/node-type=head")
    (worker,) = home.pods(NAMESPACE, "ray.io/node-type=worker")
    assert head["spec"]["nodeName"] == f"{home.name}-1" and worker["spec"]["nodeName"] == two.away.name

    def computed() -> dict[str, Any]:
        name = head["metadata"]["name"]
        said = home.kubectl("exec", "-n", NAMESPACE, name, "-c", "ray", "--", "python3", "-c", COMPUTE, timeout=300)
        return json.loads(said.splitlines()[-1])

    result = wait_for(computed, 300, "the Ray cluster to compute", interval=2)
    assert result == {"sum": sum(number * number for number in range(100)), "hosts": [worker["metadata"]["name"]]}
    home.kubectl("delete", "rayclusters.ray.io", "squares", "-n", NAMESPACE, timeout=120)
    wait_for(lambda: not home.pods(NAMESPACE), 120, "the pods to be gone at home")
    wait_for(lambda: not two.away.cluster.pods(NAMESPACE), 120, "the pods to be gone at the provider")
