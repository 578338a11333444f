"""The grace period with which a pod is deleted at home holds where it runs."""

from __future__ import annotations

import json

from harness.cluster.api import path
from harness.cluster.cluster import busybox
from harness.story import Story
from harness.wait import wait_for

STUBBORN = "trap '' TERM; while true; do sleep 0.2; done"
SLOW = "trap 'sleep 6; exit 0' TERM; while true; do sleep 0.2; done"


def start(story: Story, script: str, own: int) -> None:
    story.create(busybox("one", script, terminationGracePeriodSeconds=own))
    story.wait_ready("one")


def grace(story: Story) -> int | None:
    """What the remote pod has to end; None = it is not being deleted, or gone."""
    pod = story.provider.pod(story.twin, "one") or {"metadata": {}}
    return pod["metadata"].get("deletionGracePeriodSeconds")


def graces(story: Story, since: str) -> set[int]:
    """What the remote pod has had to end at any time after that resourceVersion."""
    query = f"?watch=true&resourceVersion={since}&fieldSelector=metadata.name%3Done&timeoutSeconds=2"
    code, events = story.provider.api.raw("GET", path("pods", story.twin) + query)
    assert code == 200, events
    found = [json.loads(line)["object"]["metadata"] for line in events.splitlines()]
    return {pod["deletionGracePeriodSeconds"] for pod in found if "deletionGracePeriodSeconds" in pod}


def ends(story: Story) -> None:
    for cluster, namespace in ((story.provider, story.twin), (story.consumer, story.namespace)):
        wait_for(lambda c=cluster, n=namespace: c.pod(n, "one") is None, 60, f"the pod to be gone from {cluster.name}")
    wait_for(lambda: story.shadow("one") is None, 60, "its ShadowPod to be gone")


def test_a_pod_ends_as_soon_as_the_deletion_at_home_says(story: Story) -> None:
    start(story, STUBBORN, 600)
    story.consumer.api.delete("pods", story.namespace, "one", grace=1)
    ends(story)
    assert story.times_run("one") == 1


def test_a_deletion_that_takes_too_long_is_hastened(story: Story) -> None:
    start(story, STUBBORN, 600)
    story.consumer.api.delete("pods", story.namespace, "one")
    wait_for(lambda: grace(story) == 600, 60, "the remote pod to end in its own time")
    story.consumer.api.delete("pods", story.namespace, "one", grace=1)
    wait_for(lambda: grace(story) == 1, 60, "the remote pod to hurry")
    # A kubelet that has given the container runtime 600 seconds does not shorten them, as for any pod.
    story.provider.api.delete("pods", story.twin, "one", grace=0)
    ends(story)
    assert story.times_run("one") == 1


def test_a_pod_gets_more_time_where_the_deletion_at_home_says_so(story: Story) -> None:
    start(story, SLOW, 2)
    since = story.remote("one")["metadata"]["resourceVersion"]
    story.consumer.api.delete("pods", story.namespace, "one", grace=60)
    ends(story)
    # The pod ends by itself after six seconds, and on a busy machine the test may look only then.
    wait_for(lambda: 60 in graces(story, since), 60, "the API server to tell that it had a minute")
    assert 2 not in graces(story, since), "and never its own time"
