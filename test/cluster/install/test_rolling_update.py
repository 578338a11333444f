"""Both liqods are updated while pods are made without a pause: none is refused, and none runs twice.

The new leader asks API servers for reviews that the version before may not know only when that version no longer
serves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.peering import Peering
from harness.liqo.replicas import Replicas
from harness.monitoring.load import Load, refused_shadow_pods
from harness.required import require_liqod
from harness.run import Run
from harness.story import Story
from harness.wait import wait_for

ROLLS = 2
STEP = "tekton.dev/ready"


def waiting_step() -> dict[str, Any]:
    """A pod as Tekton makes it, which reads an annotation of its own that changes later."""
    pod = busybox("first")
    items = [{"path": "ready", "fieldRef": {"fieldPath": f"metadata.annotations['{STEP}']"}}]
    pod["spec"]["volumes"] = [{"name": "info", "downwardAPI": {"items": items}}]
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "info", "mountPath": "/info"}]
    pod["metadata"]["annotations"] = {STEP: ""}
    return pod


@pytest.fixture(scope="module")
def sides(run: Run) -> Iterator[tuple[Replicas, Replicas]]:
    """The replicas at home and at the provider, whose nodes are fake."""
    require_liqod()
    with run.borrow(basel=Options(), bern=Options()) as (basel, bern):
        bern.add_kwok_nodes(4)
        yield Replicas(basel), Replicas(bern)


def test_both_sides_are_updated_under_a_load_of_pods(sides: tuple[Replicas, Replicas], namespace: str) -> None:
    home, away = sides
    peering = Peering(home.cluster, away.cluster).establish().wait_ready(60)
    story = Story(peering, namespace, home.current, away.current)
    api = home.cluster.api
    # From here on the webhooks at home review each new pod, too.
    wait_for(
        lambda: api.get("namespaces", None, namespace)["metadata"]["labels"].get("liqo.io/scheduling-enabled"),
        30, "the namespace to be offloaded",
    )  # fmt: skip
    story.create(waiting_step())
    story.wait_phase("first", "Running", 60)
    order = story.shadow("first")
    since = away.cluster.audit.mark()
    with Load(lambda name: story.create(busybox(name)), pause=0.15) as load:
        for _ in range(ROLLS):
            for side in (away, home):
                side.roll()
                load.wait_for_more(20)
        story.home, story.away = home.current, away.current
    assert not load.refused, load.refused[:5]
    refused = refused_shadow_pods(away.cluster, since)
    assert not refused, refused[:5]
    running = lambda: sum(pod["status"].get("phase") == "Running" for pod in home.cluster.pods(namespace))  # noqa: E731
    wait_for(lambda: running() == len(load.names) + 1, 120, "every pod to run", interval=0.5)
    story.nothing_was_doubled()
    # Who leads now finds the order as it was, and goes on with it.
    kept = story.shadow("first")
    assert order and kept and kept["metadata"]["uid"] == order["metadata"]["uid"] and kept["spec"] == order["spec"]
    api.patch("pods", namespace, "first", {"metadata": {"annotations": {STEP: "READY"}}})
    read = lambda: "READY" in story.remote("first")["metadata"]["annotations"].values()  # noqa: E731
    wait_for(read, 30, "the pod to read what has changed")
    story.close()


def test_the_lease_is_let_go_when_the_webhooks_are_served_no_more(sides: tuple[Replicas, Replicas]) -> None:
    home, _ = sides
    wait_for(lambda: home.leader() != "", 60, "a leader")
    before = home.leader()
    old = home.begin_roll()
    assert home.serves_webhooks(old), "the old replica still answers reviews"
    assert home.leader() == before
    wait_for(lambda: home.leader() != before, 40, "the lease to be let go", interval=0.02)
    assert not home.serves_webhooks(old)
    assert old.process and old.process.wait(60) == 0, old.log()[-2000:]
    wait_for(lambda: home.leader() not in ("", before), 30, "the new replica to lead")
