"""Both liqods are updated while pods are made without a pause: none is refused, and none runs twice.

The new leader asks API servers for reviews that the version before may not know only when that version no longer
serves.
"""

from __future__ import annotations

from collections.abc import Iterator

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
    story.create(busybox("first"))
    story.wait_phase("first", "Running", 60)
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
