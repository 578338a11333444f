"""When a cluster's database is restored from a snapshot under load, liqod follows what the database says now."""

from __future__ import annotations

import pytest

from harness.cluster.cluster import Cluster, busybox
from harness.story import Story
from harness.wait import stays, wait_for

# Seconds until all is mended: liqod needs half of them, after Kubernetes' own controllers.
MENDED = 120.0


def version(cluster: Cluster) -> int:
    """The version of the database now."""
    return int(cluster.api.get("configmaps", "default")["metadata"]["resourceVersion"])


def write_beyond(cluster: Cluster, target: int) -> None:
    """Writes until the new history has passed a version of the old one."""
    number = 0
    while version(cluster) <= target:
        for _ in range(50):
            number += 1
            body = {"kind": "ConfigMap", "metadata": {"name": "passing"}, "data": {"n": str(number)}}
            cluster.api.apply("configmaps", "default", body)


def agree(story: Story) -> bool:
    """Both sides have the same pods: nobody shows what does not exist, and nothing runs that nobody asked for.

    What has ended is left out: its pod at home needs nothing at the provider any more.
    """
    local = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in story.consumer.pods(story.namespace)}
    shadows = {
        shadow["metadata"]["name"]: shadow["metadata"]["annotations"]["offloading.liqo.io/local-pod-uid"]
        for shadow in story.provider.api.list("shadowpods", story.twin)
    }
    remote = {pod["metadata"]["name"] for pod in story.provider.pods(story.twin)}
    for names in (local, shadows):
        names.pop("ended", None)
    assert shadows == local, f"only at home {set(local) - set(shadows)}, only shadow pods {set(shadows) - set(local)}"
    remote.discard("ended")
    assert remote == set(local), f"only at home {set(local) - remote}, only at the provider {remote - set(local)}"
    return True


@pytest.mark.parametrize("passed", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("side", ["provider", "consumer"])
def test_a_restored_database_is_believed(fake_story: Story, side: str, passed: bool) -> None:
    """Before or after its new history has passed the version that liqod had seen."""
    story = fake_story
    cluster = story.provider if side == "provider" else story.consumer
    story.deployment("web", 5, busybox("web"))
    story.create(busybox("ended", restartPolicy="Never"))
    story.create(busybox("deleted"))
    story.wait_ready_replicas("web", 5, 60)
    for name in ("ended", "deleted"):
        story.wait_ready(name)
    snapshot = cluster.snapshot()
    story.scale("web", 12)
    story.wait_ready_replicas("web", 12, 60)
    story.create(busybox("late"))
    story.wait_ready("late")
    story.provider.api.patch("pods", story.twin, "ended", {"status": {"phase": "Succeeded"}}, "status")
    story.wait_phase("ended", "Succeeded")
    story.consumer.api.delete("pods", story.namespace, "deleted", grace=0)
    wait_for(lambda: story.provider.pod(story.twin, "deleted") is None, 30, "the deleted pod to be gone")
    # This scaling is under way when the database goes.
    story.scale("web", 20)
    seen = version(cluster)
    daemons = (story.home, story.away)
    for daemon in daemons:
        daemon.freeze()
    try:
        cluster.restore(snapshot)
        if passed:
            write_beyond(cluster, seen + 100)
        else:
            assert version(cluster) < seen
    finally:
        for daemon in daemons:
            daemon.thaw()
    # The quota admits again within a minute, without anybody's help.
    story.deployment("new", 1, busybox("new"))
    story.wait_ready_replicas("new", 1, MENDED)
    story.wait_ready_replicas("web", 5 if side == "consumer" else 20, MENDED)
    wait_for(lambda: agree(story), MENDED, "both sides to agree")
    # One side still knows that the pod has ended, so it does not run again.
    story.wait_phase("ended", "Succeeded")
    stays(lambda: story.times_run("ended") == 1 and story.phase("ended") == "Succeeded", 5, "the pod ended, run once,")
    wait_for(lambda: agree(story), MENDED, "both sides to agree still")
