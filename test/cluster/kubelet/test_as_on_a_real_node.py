"""To kubectl, a pod of a virtual node behaves and looks as one of a real node does.

The same pod runs on the provider's own node too, in a namespace of its own, and what a user sees of both is compared.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from harness.cluster import audit
from harness.cluster.api import Api, Refused, path
from harness.cluster.cluster import busybox
from harness.cluster.images import BUSYBOX_IMAGE
from harness.story import Story, condition, container, is_ready
from harness.wait import wait_for


def kubectl(story: Story, *arguments: object, stdin: str | None = None, check: bool = True) -> str:
    """What a user types at home."""
    return story.consumer.kubectl("-n", story.namespace, *arguments, stdin=stdin, check=check)


@pytest.fixture
def own(story: Story) -> str:
    """A namespace of the provider's own, whose pods run on its node without Liqo."""
    return story.provider.namespace(f"own-{story.namespace}"[:60].rstrip("-"))


# -- the same pod on both ---------------------------------------------------------------------------------------------


def here_and_there(story: Story, own: str, pod: dict[str, Any]) -> str:
    """Runs the pod through the virtual node, and on the provider's own one; without a token, which is another there."""
    pod["spec"]["automountServiceAccountToken"] = False
    kubectl(story, "apply", "-f", "-", stdin=yaml.safe_dump(story.peering.pinned(pod)))
    story.provider.kubectl("-n", own, "apply", "-f", "-", stdin=yaml.safe_dump(pod))
    return pod["metadata"]["name"]


PASSING = {"startedAt", "finishedAt", "containerID", "lastTransitionTime", "lastProbeTime", "startTime", "uid"}
PLACES = {"podIP", "podIPs", "hostIP", "hostIPs"}


def without(value: Any, keys: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: without(entry, keys) for key, entry in value.items() if key not in keys}
    return [without(entry, keys) for entry in value] if isinstance(value, list) else value


# Kubelets since 1.36 report these of every pod. At home they are those of pods that ask for amounts as a whole.
OF_THE_WHOLE = ("resources", "allocatedResources")


def comparable(pod: dict[str, Any]) -> dict[str, Any]:
    """The status without times, IDs and addresses, and without what Liqo itself says in conditions of its own."""
    status = without(pod["status"], PASSING | PLACES | {"observedGeneration"})
    if "resources" not in pod["spec"]:
        status = {key: value for key, value in status.items() if key not in OF_THE_WHOLE}
    conditions = {entry["type"]: entry for entry in status.get("conditions", [])}
    return {**status, "conditions": {name: entry for name, entry in conditions.items() if "liqo.io/" not in name}}


def differences(one: Any, other: Any, where: str = "status") -> list[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted({*one, *other})
        return [found for key in keys for found in differences(one.get(key), other.get(key), f"{where}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for i, pair in pairs for found in differences(*pair, f"{where}[{i}]")]
    return [] if one == other else [f"{where}: at home {one!r}, on a node {other!r}"]


def wait_equal(story: Story, own: str, name: str, reached: Any) -> None:
    """Waits until the pod on the provider's own node has got there, and the one at home shows the same."""

    def same() -> bool:
        alone = story.provider.api.get("pods", own, name)
        assert reached(alone), f"on the provider's own node: {alone['status']}"
        found = differences(comparable(story.local(name)), comparable(alone))
        assert not found, "; ".join(found)
        return True

    wait_for(same, 60, f"{name} at home to be as on the provider's own node", interval=0.2)


def described(text: str) -> list[str]:
    """Of what `kubectl describe pod` shows: how the containers fare, the conditions and the class of service."""
    keys = ("State", "Last State", "Reason", "Exit Code", "Ready", "Restart Count", "Startup", "Readiness", "Status",
            "QoS Class", "Limits", "Requests", "Initialized", "ContainersReady", "PodScheduled")  # fmt: skip
    lines = [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]
    return [line for line in lines if re.split(r"[: ] ?", line, maxsplit=1)[0] in {key.split()[0] for key in keys}]


def test_restarts_probes_and_a_sidecar_look_the_same(story: Story, own: str) -> None:
    """It fails once, is started anew, is not started until its startup probe says so, and has a sidecar beside it."""
    script = (
        "if [ ! -e /state/ran ]; then touch /state/ran; echo the first time; exit 3; fi; "
        "trap 'exit 0' TERM; while true; do sleep 0.2; done"
    )
    pod = busybox("one", script, volumes=[{"name": "state", "emptyDir": {}}])
    main = pod["spec"]["containers"][0]
    main["volumeMounts"] = [{"name": "state", "mountPath": "/state"}]
    main["terminationMessagePolicy"] = "FallbackToLogsOnError"
    main["resources"] = {"requests": {"cpu": "10m"}}
    probe = {"exec": {"command": ["test", "-e", "/state/up"]}, "periodSeconds": 1}
    main["startupProbe"] = {**probe, "failureThreshold": 600}
    main["readinessProbe"] = probe
    sidecar = {"name": "proxy", "image": BUSYBOX_IMAGE, "imagePullPolicy": "Never", "restartPolicy": "Always"}
    pod["spec"]["initContainers"] = [{**sidecar, "command": ["sleep", "1000000"]}]
    name = here_and_there(story, own, pod)

    restarted = lambda pod: container(pod).get("restartCount") == 1 and "running" in container(pod)["state"]  # noqa: E731
    wait_equal(story, own, name, lambda pod: restarted(pod) and container(pod)["started"] is False)
    ended = container(story.local(name))["lastState"]["terminated"]
    assert (ended["exitCode"], ended["reason"], ended["message"]) == (3, "Error", "the first time\n")
    assert not is_ready(story.local(name))
    for say in (lambda *a: kubectl(story, *a), lambda *a: story.provider.kubectl("-n", own, *a)):
        say("exec", name, "-c", "main", "--", "touch", "/state/up")
    wait_equal(story, own, name, lambda pod: is_ready(pod) and container(pod)["started"] is True)
    home = described(kubectl(story, "describe", "pod", name))
    assert home == described(story.provider.kubectl("-n", own, "describe", "pod", name))
    assert "Restart Count: 1" in home and "Exit Code: 3" in home and "Ready: True" in home


def killed_for_memory(story: Story, own: str) -> str:
    """Runs pods that use more memory than they may until the node there has said of a pair why it killed both.

    A container runtime that learns of an exit before it learns of the reason says Error, and stays with it. Whatever
    it says of the one that home sent, home says the same.
    """
    reason = lambda pod: container(pod)["state"]["terminated"]["reason"]  # noqa: E731
    for attempt in range(5):
        hungry = busybox(f"hungry-{attempt}", "dd if=/dev/zero of=/dev/null bs=64M count=1", restartPolicy="Never")
        hungry["spec"]["containers"][0]["resources"] = {"limits": {"memory": "16Mi"}}
        name = here_and_there(story, own, hungry)
        story.wait_local(name, is_over, "to end")
        alone = wait_for(
            lambda n=name: (pod := story.provider.api.get("pods", own, n)) and is_over(pod) and pod, 60, f"{name} to end"
        )
        assert reason(story.local(name)) == reason(story.remote(name))
        if reason(story.local(name)) == reason(alone) == "OOMKilled":
            return name
    raise AssertionError("the runtime of the provider's node did not say OOMKilled of both pods five times over")


def is_over(pod: dict[str, Any]) -> bool:
    return pod["status"].get("phase") in ("Failed", "Succeeded")


def test_how_pods_end_looks_the_same(story: Story, own: str) -> None:
    """A pod ends with its exit code, or for want of memory if the node's cgroups bound that."""
    fails = here_and_there(story, own, busybox("fails", "echo no; exit 4", restartPolicy="Never"))
    for name in (fails, killed_for_memory(story, own)):
        wait_equal(story, own, name, is_over)
        assert described(kubectl(story, "describe", "pod", name)) == described(
            story.provider.kubectl("-n", own, "describe", "pod", name)
        )
    assert container(story.local(fails))["state"]["terminated"]["exitCode"] == 4


def test_a_pod_is_ready_when_its_gate_at_home_is_open(story: Story) -> None:
    kubectl(story, "apply", "-f", "-", stdin=yaml.safe_dump(
        story.peering.pinned(busybox("one", readinessGates=[{"conditionType": "example.com/open"}]))
    ))  # fmt: skip
    story.wait_local("one", lambda pod: condition(pod, "ContainersReady").get("status") == "True", "to have started")
    found = condition(story.local("one"), "Ready")
    assert (found["status"], found["reason"]) == ("False", "ReadinessGatesNotReady"), found
    gate = {"type": "example.com/open", "status": "True"}
    patch = json.dumps({"status": {"conditions": [gate]}})
    kubectl(story, "patch", "pod", "one", "--subresource=status", "--type=strategic", "-p", patch)
    kubectl(story, "wait", "--for=condition=Ready", "pod/one", "--timeout=60s")
    patch = json.dumps({"status": {"conditions": [{**gate, "status": "False"}]}})
    kubectl(story, "patch", "pod", "one", "--subresource=status", "--type=strategic", "-p", patch)
    kubectl(story, "wait", "--for=condition=Ready=False", "pod/one", "--timeout=60s")


def test_what_the_kubelet_there_warns_of_is_in_describe_and_events(story: Story, own: str) -> None:
    pod = busybox("one")
    pod["spec"]["containers"][0]["readinessProbe"] = {"exec": {"command": ["cat", "/none"]}, "periodSeconds": 1}
    name = here_and_there(story, own, pod)
    words = "Readiness probe failed: cat: can't open '/none'"
    for command in (("events", "--for", f"pod/{name}"), ("describe", "pod", name)):
        wait_for(lambda c=command: words in story.provider.kubectl("-n", own, *c), 60, "the node there to warn")
        wait_for(lambda c=command: words in kubectl(story, *c), 60, "the warning to be shown at home", interval=0.5)


# -- how they end -----------------------------------------------------------------------------------------------------


def test_the_hook_runs_there_in_the_time_that_delete_gives(story: Story) -> None:
    pod = busybox("one", "trap 'echo ended; exit 0' TERM; while true; do sleep 0.1; done",
                  terminationGracePeriodSeconds=600)  # fmt: skip
    hook = {"exec": {"command": ["/bin/sh", "-c", "echo leaving >/proc/1/fd/1"]}}
    pod["spec"]["containers"][0]["lifecycle"] = {"preStop": hook}
    kubectl(story, "apply", "-f", "-", stdin=yaml.safe_dump(story.peering.pinned(pod)))
    story.wait_ready("one")
    followed = story.consumer.kubectl_started("-n", story.namespace, "logs", "-f", "one")
    since = story.remote("one")["metadata"]["resourceVersion"]
    kubectl(story, "delete", "pod", "one", "--grace-period=47")
    said, _ = followed.communicate(timeout=60)
    assert said.decode().split() == ["leaving", "ended"]
    query = f"?watch=true&resourceVersion={since}&fieldSelector=metadata.name%3Done&timeoutSeconds=1"
    code, events = story.provider.api.raw("GET", path("pods", story.twin) + query)
    assert code == 200, events
    found = [json.loads(line)["object"]["metadata"] for line in events.splitlines()]
    assert {pod["deletionGracePeriodSeconds"] for pod in found if "deletionGracePeriodSeconds" in pod} <= {47, 0}
    assert any(pod.get("deletionGracePeriodSeconds") == 47 for pod in found), found


@pytest.fixture
def others(story: Story) -> Iterator[list[str]]:
    """Closes the other nodes of home; in the end all are open."""
    nodes = [node["metadata"]["name"] for node in story.consumer.api.list("nodes")]
    names = [name for name in nodes if name != story.peering.node]
    for name in names:
        story.consumer.cordon(name)
    yield names
    for name in nodes:
        story.consumer.api.patch("nodes", None, name, {"spec": {"unschedulable": None}})


def test_drain_keeps_to_a_disruption_budget_and_ends(story: Story, others: list[str]) -> None:
    node, home = story.peering.node, story.consumer
    labels = {"app": "web"}
    tolerations = [{"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists", "effect": "NoExecute"}]
    template = {"metadata": {"labels": labels}, "spec": {**busybox("web")["spec"], "tolerations": tolerations}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }
    kubectl(story, "apply", "-f", "-", stdin=yaml.safe_dump(deployment))
    kubectl(story, "create", "poddisruptionbudget", "web", "--selector=app=web", "--min-available=1")
    kubectl(story, "rollout", "status", "deployment", "web", "--timeout=60s")
    assert {pod["spec"]["nodeName"] for pod in home.pods(story.namespace)} == {node}
    budget = lambda: home.api.get("poddisruptionbudgets", story.namespace, "web")["status"]  # noqa: E731
    wait_for(lambda: budget().get("disruptionsAllowed") == 1, 60, "one of two to be dispensable")
    since = home.audit.mark()
    # No other node takes the pods: the first one goes, and the budget keeps the other.
    draining = home.kubectl_started(
        "drain", node, "--pod-selector=app=web", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=90s"
    )

    def evictions() -> list[int]:
        asked = [entry for entry in home.audit.entries(since) if audit.resource(entry) == "pods/eviction"]
        return [audit.code(entry) for entry in asked]

    wait_for(lambda: sorted(set(evictions())) == [201, 429], 60, "one to be let go, and one to be held")
    assert evictions().count(201) == 1 and draining.poll() is None
    assert condition(wait_for(
        lambda: next((pod for pod in home.pods(story.namespace) if not pod["spec"].get("nodeName")), None),
        60, "another one in its place",
    ), "Ready") == {}  # fmt: skip
    for name in others:
        home.kubectl("uncordon", name)
    out, err = draining.communicate(timeout=100)
    assert draining.returncode == 0 and f"node/{node} drained" in out.decode(), (out, err)
    assert "Cannot evict pod as it would violate the pod's disruption budget" in err.decode()
    assert evictions().count(201) == 2
    wait_for(lambda: story.provider.pods(story.twin) == [], 60, "nothing to be left at the provider")
    kubectl(story, "rollout", "status", "deployment", "web", "--timeout=60s")

    # A cordoned node takes no pods; after uncordon it does.
    kubectl(story, "apply", "-f", "-", stdin=yaml.safe_dump(story.peering.pinned(busybox("one"))))
    waits = story.wait_local("one", lambda pod: bool(condition(pod, "PodScheduled")), "to be looked at")
    assert condition(waits, "PodScheduled")["reason"] == "Unschedulable" and not story.shadow("one")
    assert "SchedulingDisabled" in home.kubectl("get", "node", node)
    home.kubectl("uncordon", node)
    story.wait_ready("one")


# -- what they ask for ------------------------------------------------------------------------------------------------


def test_fields_of_newer_pods_are_those_of_the_pod_that_runs(story: Story) -> None:
    """The container runtime of this test may not be able to run them: what is shown is what its node was asked for."""
    pod = busybox("one", hostUsers=False, volumes=[{"name": "v", "image": {"reference": BUSYBOX_IMAGE,
                                                                           "pullPolicy": "IfNotPresent"}}])  # fmt: skip
    pod["spec"]["resources"] = {"requests": {"cpu": "20m"}, "limits": {"memory": "64Mi"}}
    sidecar = {"name": "proxy", "image": BUSYBOX_IMAGE, "imagePullPolicy": "Never", "restartPolicy": "Always"}
    pod["spec"]["initContainers"] = [{**sidecar, "command": ["sleep", "1000000"]}]
    kubectl(story, "apply", "-f", "-", stdin=yaml.safe_dump(story.peering.pinned(pod)))
    spec = wait_for(lambda: story.remote("one"), 60, "the pod to be at the provider")["spec"]
    home = story.local("one")["spec"]
    assert spec["hostUsers"] is False and spec["resources"] == home["resources"] and spec["resources"]["requests"]
    assert spec["initContainers"][0]["restartPolicy"] == "Always"
    assert [volume for volume in spec["volumes"] if "image" in volume] == pod["spec"]["volumes"]


@pytest.mark.refusals("that is what it is about")
def test_devices_are_refused_by_the_name_of_their_field(story: Story) -> None:
    claim = {"name": "gpu", "resourceClaimName": "one"}
    # The pod is bound here: the scheduler would look for a node with devices, and a virtual node has none.
    pod = busybox("one", resourceClaims=[claim], nodeName=story.peering.node)
    kubectl(story, "apply", "-f", "-", stdin=yaml.safe_dump(story.peering.pinned(pod)))
    refused = lambda pod: condition(pod, "offloading.liqo.io/Offloaded").get("reason") == "OffloadingRefused"  # noqa: E731
    told = condition(story.wait_local("one", refused, "to be refused"), "offloading.liqo.io/Offloaded")["message"]
    assert "spec.resourceClaims takes devices that no quota counts" in told
    assert story.shadow("one") is None


def test_fields_that_are_not_sent_are_told_once(story: Story) -> None:
    kubectl(story, "apply", "-f", "-", stdin=yaml.safe_dump(story.peering.pinned(busybox("one", os={"name": "linux"}))))
    spec = wait_for(lambda: story.remote("one"), 60, "the pod to be at the provider")["spec"]
    assert "os" not in spec
    words = f"these fields have no effect in cluster {story.provider.name}: os"

    def told() -> list[str]:
        return [line for line in kubectl(story, "events", "--for", "pod/one").splitlines() if words in line]

    lines = wait_for(told, 60, "what is not sent to be told")
    assert len(lines) == 1 and "OffloadingFieldsDropped" in lines[0]


def priority_class(name: str, value: int) -> dict[str, Any]:
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
    return {**kind, "value": value, "preemptionPolicy": "Never"}


def is_known(api: Api, name: str) -> bool:
    """Whether pods can have the class: admission learns of it by a watch."""
    try:
        pod = busybox("probe", priorityClassName=name)
        return bool(api.request("POST", path("pods", "default"), pod, query={"dryRun": "All"}))
    except Refused:
        return False


@pytest.mark.refusals("a class that the provider does not have")
def test_the_policy_says_what_a_priority_class_becomes(story: Story) -> None:
    home, there, tenant = story.consumer, story.provider, story.peering.away
    names = ("high", "urgent", "odd")
    for name in names:
        home.apply(priority_class(name, 1_000_000))
    there.apply(priority_class("tenants-high", 7))
    for api, name in (*((home.api, name) for name in names), (there.api, "tenants-high")):
        wait_for(lambda a=api, n=name: is_known(a, n), 60, f"admission to know class {name}")
    policy = json.dumps({"priorityClasses": {"high": "tenants-high", "urgent": "tenants-urgent"}})
    there.kubectl("annotate", "namespace", tenant, f"liqo.io/pod-policy={policy}")
    numbers = itertools.count(1)

    def make(name: str, of_class: str) -> None:
        pod = story.peering.pinned(busybox(name, priorityClassName=of_class))
        kubectl(story, "apply", "-f", "-", stdin=yaml.safe_dump(pod))

    def mapped() -> str:
        """The first pod that is made after liqod at the provider has read the policy."""
        name = f"high-{next(numbers)}"
        make(name, "high")
        spec = wait_for(lambda: story.remote(name), 60, f"{name} to be at the provider")["spec"]
        assert spec.get("priorityClassName") == "tenants-high", f"class {spec.get('priorityClassName')}"
        return name

    try:
        name = wait_for(mapped, 60, "the class to be mapped")
        spec, local = story.remote(name)["spec"], story.local(name)["spec"]
        assert (spec["priority"], spec["preemptionPolicy"]) == (7, "Never")
        assert (local["priorityClassName"], local["priority"]) == ("high", 1_000_000)
        assert "without" not in kubectl(story, "events", "--for", f"pod/{name}")

        make("odd", "odd")
        make("urgent", "urgent")
        spec = wait_for(lambda: story.remote("odd"), 60, "the one that has no effect to run")["spec"]
        assert spec["priority"] == 0 and "priorityClassName" not in spec
        words = "without: priority class odd"
        wait_for(lambda: words in kubectl(story, "events", "--for", "pod/odd"), 60, "what it lacks to be told")
        refused = lambda pod: "no PriorityClass with name tenants-urgent was found" in condition(  # noqa: E731
            pod, "offloading.liqo.io/Offloaded"
        ).get("message", "")
        story.wait_local("urgent", refused, "to say what is missing")
    finally:
        there.kubectl("annotate", "namespace", tenant, "liqo.io/pod-policy-")
