"""PodDisruptionBudgets of home hold drains at a provider that offers that, and no longer than it says.

The nodes of both clusters only pretend to run pods, so that drains take seconds.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster.cluster import Cluster, busybox
from harness.liqo.hostile import annotate_policy
from harness.story import Story, is_ready
from harness.wait import stays, wait_for

SOON = 60.0
LABEL = "quorum=one"


@pytest.fixture(autouse=True)
def open_nodes(fake_story: Story) -> Iterator[None]:
    """In the end all nodes are open, no budget is left, and the provider offers nothing."""
    yield
    fake_story.consumer.api.delete_all("poddisruptionbudgets", fake_story.namespace)
    for cluster in (fake_story.consumer, fake_story.provider):
        for node in cluster.api.list("nodes"):
            cluster.api.patch("nodes", None, node["metadata"]["name"], {"spec": {"unschedulable": None}})
    annotate_policy(fake_story.provider, fake_story.peering.away, None)
    mark_twin(fake_story, None)


def offer(story: Story, max_block: str) -> None:
    """The policy lets budgets hold; that the twin says so is the part of its NamespaceMap, which this peering has not."""
    policy = f'{{"disruptionBudgets": {{"maxBlock": "{max_block}"}}}}'
    annotate_policy(story.provider, story.peering.away, policy)
    mark_twin(story, "true")


def mark_twin(story: Story, value: str | None) -> None:
    annotations = {"offloading.liqo.io/holds-budgets": value}
    story.provider.api.patch("namespaces", None, story.twin, {"metadata": {"annotations": annotations}})


def marks(story: Story) -> dict[str, str]:
    """The annotations of the twin."""
    return story.provider.api.get("namespaces", None, story.twin)["metadata"].get("annotations", {})


def run_quorum(story: Story, here: int, there: int) -> None:
    """Runs so many pods at home, and so many at the provider, which one budget can select."""
    at_home = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "liqo.io/type", "operator": "DoesNotExist"}]}]}}}  # fmt: skip
    templates = {"here": busybox("here", affinity=at_home), "there": story.peering.pinned(busybox("there"))}
    for name, replicas in (("here", here), ("there", there)):
        labels = {"app": name, "quorum": "one"}
        template = {"metadata": {"labels": labels}, "spec": templates[name]["spec"]}
        spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
        deployment = {"kind": "Deployment", "metadata": {"name": name}, "spec": spec}
        story.consumer.api.create("deployments", story.namespace, deployment)
        if replicas:
            story.wait_ready_replicas(name, replicas, SOON)


def make_budget(story: Story, **spec: Any) -> None:
    body = {"kind": "PodDisruptionBudget", "metadata": {"name": "quorum"},
            "spec": {"selector": {"matchLabels": {"quorum": "one"}}, **spec}}  # fmt: skip
    story.consumer.api.create("poddisruptionbudgets", story.namespace, body)


def budget(story: Story) -> dict[str, Any]:
    return story.consumer.api.get("poddisruptionbudgets", story.namespace, "quorum")


def copy(story: Story) -> dict[str, Any]:
    """The copy; a LookupError if there is none."""
    found = story.provider.api.find("poddisruptionbudgets", story.twin, "quorum")
    if found is None:
        raise LookupError("no copy of the budget at the provider")
    return found


def wait_held(story: Story, pods: int) -> None:
    """Waits until the copy keeps that many pods, and the provider counts by it."""

    def is_held() -> bool:
        seen = copy(story)
        status = seen.get("status", {})
        assert seen["spec"]["minAvailable"] == pods, seen["spec"]
        assert status.get("observedGeneration") == seen["metadata"]["generation"], status
        return status["disruptionsAllowed"] == 0

    wait_for(is_held, SOON, f"the copy to keep {pods} pods")


def drain(cluster: Cluster, node: str, timeout: int) -> subprocess.Popen[bytes]:
    return cluster.kubectl_started(
        "drain", node, f"--pod-selector={LABEL}", "--ignore-daemonsets", "--delete-emptydir-data", "--force",
        f"--timeout={timeout}s",
    )  # fmt: skip


def node_of(cluster: Cluster, namespace: str, app: str) -> str:
    return cluster.pods(namespace, f"app={app}")[0]["spec"]["nodeName"]


def ready_of(cluster: Cluster, namespace: str, app: str) -> list[tuple[str, bool]]:
    """The pods, by UID, and whether they are ready and not leaving."""
    return sorted(
        (pod["metadata"]["uid"], is_ready(pod) and "deletionTimestamp" not in pod["metadata"])
        for pod in cluster.pods(namespace, f"app={app}")
    )


def test_drains_on_both_sides_together_keep_to_a_budget(fake_story: Story) -> None:
    story, home, there = fake_story, fake_story.consumer, fake_story.provider
    offer(story, "5m")
    run_quorum(story, here=2, there=2)
    make_budget(story, minAvailable="75%")
    wait_for(lambda: budget(story)["status"].get("disruptionsAllowed") == 1, SOON, "one of four to be dispensable")
    wait_held(story, 2)

    lows: list[int] = []
    away, own = node_of(there, story.twin, "there"), node_of(home, story.namespace, "here")
    drains = [drain(there, away, 180), drain(home, own, 180)]

    def have_ended() -> bool:
        # What the provider shows before and after is what it was while home was read.
        before = ready_of(there, story.twin, "there")
        here = ready_of(home, story.namespace, "here")
        if before == ready_of(there, story.twin, "there"):
            lows.append(sum(ready for _, ready in before) + sum(ready for _, ready in here))
        return all(one.poll() is not None for one in drains)

    wait_for(have_ended, 200, "both drains to end")
    for one in drains:
        out, err = one.communicate()
        assert one.returncode == 0, (out, err)
    assert min(lows) >= 3, lows
    reasons = {event["reason"] for event in home.events(story.namespace, "quorum")}
    assert "DisruptionLent" in reasons, reasons
    assert node_of(there, story.twin, "there") != away
    wait_for(lambda: not budget(story)["status"].get("disruptedPods"), SOON, "what was lent to be taken back")
    wait_held(story, 2)
    home.api.delete("poddisruptionbudgets", story.namespace, "quorum")
    wait_for(lambda: not there.api.find("poddisruptionbudgets", story.twin, "quorum"), SOON, "the copy to go")


@pytest.mark.refusals("a copy that is on its way when the provider lifts budgets")
def test_a_budget_that_nothing_satisfies_holds_a_drain_no_longer_than_allowed(fake_story: Story) -> None:
    story, home, there = fake_story, fake_story.consumer, fake_story.provider
    offer(story, "10s")
    run_quorum(story, here=0, there=2)
    make_budget(story, minAvailable="100%")
    wait_held(story, 2)
    away = node_of(there, story.twin, "there")
    draining = drain(there, away, 120)
    out, err = draining.communicate(timeout=150)
    assert draining.returncode == 0, (out, err)
    assert "Cannot evict pod as it would violate the pod's disruption budget" in err.decode()

    def reasons(cluster: Cluster, namespace: str, about: str) -> set[str]:
        return {event["reason"] for event in cluster.events(namespace, about)}

    wait_for(lambda: "DisruptionBudgetsLifted" in reasons(there, "default", away), SOON, "the node to say so")
    wait_for(lambda: "DisruptionBudgetsNotHeld" in reasons(home, story.namespace, "offloading"), SOON, "home to say so")
    wait_for(lambda: "offloading.liqo.io/budgets-lifted" not in marks(story), SOON, "the twin to be open again")


def test_a_provider_that_offers_no_budgets_is_told_once(fake_story: Story) -> None:
    story = fake_story
    run_quorum(story, here=0, there=1)
    make_budget(story, maxUnavailable=0)

    def told() -> list[dict]:
        events = story.consumer.events(story.namespace, "offloading")
        return [event for event in events if event["reason"] == "DisruptionBudgetsNotHeld"]

    wait_for(told, SOON, "home to say that the budget does not hold there")
    stays(lambda: [event.get("count", 1) for event in told()] == [1], 10, "one Event")
    assert "hold at home only" in told()[0]["message"]
    assert story.provider.api.list("poddisruptionbudgets", story.twin) == []
