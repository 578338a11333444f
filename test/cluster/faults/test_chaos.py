"""Kills of liqod at random moments of a rollout of 200 pods lose no pod and run none twice.

$LIQO_CHAOS_SEED and $LIQO_CHAOS_ROUNDS replace the fixed seed and number of kills; the same seed chooses the same
kills. `./chaos` goes on with new seeds until it is stopped.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable

from harness.cluster.cluster import busybox
from harness.run import Run
from harness.story import Story
from harness.wait import wait_for

SEED = int(os.environ.get("LIQO_CHAOS_SEED", "7"))
ROUNDS = int(os.environ.get("LIQO_CHAOS_ROUNDS", "8"))


def test_kills_at_random_moments_of_a_rollout_lose_and_double_nothing(fake_story: Story) -> None:
    """kill -9 of liqod, on either side, while 200 pods start and while they end."""
    story, dice = fake_story, random.Random(SEED)
    print(f"seed {SEED}")
    story.deployment("many", 200, busybox("many"))
    for _ in range(ROUNDS):
        kill_one(story, dice)
    story.ensure_daemons()
    story.wait_ready_replicas("many", 200, 180)
    story.nothing_was_doubled()
    story.scale("many", 0)
    for _ in range(ROUNDS // 2):
        kill_one(story, dice)
    story.ensure_daemons()
    story.wait_nothing_left(180)
    story.nothing_was_doubled()


def kill_one(story: Story, dice: random.Random) -> None:
    time.sleep(dice.uniform(0.05, 1.5))
    victim = dice.choice([story.home, story.home, story.away])
    if victim.running:
        victim.kill()
    time.sleep(dice.uniform(0, 0.5))
    victim.start(ready_within=0)


def test_nothing_is_lost_or_doubled_whatever_happens(run: Run, fake_story: Story) -> None:
    story, dice = fake_story, random.Random(SEED)
    provider = story.provider
    wanted = 60

    def kill_the_consumers_daemon() -> None:
        if story.home.running:
            story.home.kill()
        story.home.start(ready_within=0)

    def kill_the_providers_daemon() -> None:
        if story.away.running:
            story.away.kill()
        story.away.start(ready_within=0)

    def restart_the_consumers_api_server() -> None:
        story.consumer.restart("kube-apiserver")

    def restart_the_providers_api_server() -> None:
        provider.restart("kube-apiserver")

    def cut_the_link() -> None:
        run.network.cut(provider.name)
        time.sleep(dice.uniform(0.5, 12))
        run.network.heal(provider.name)

    def freeze_the_consumers_daemon() -> None:
        story.home.freeze()
        time.sleep(dice.uniform(0.5, 8))
        story.home.thaw()

    def scale() -> None:
        nonlocal wanted
        wanted = dice.randrange(20, 200)
        story.scale("many", wanted)

    def delete_some_pods_at_home() -> None:
        pods = story.consumer.pods(story.namespace, "app=many")
        for pod in dice.sample(pods, min(10, len(pods))):
            story.consumer.api.delete("pods", story.namespace, pod["metadata"]["name"], grace=dice.choice([None, 0]))

    faults: list[Callable[[], None]] = [
        kill_the_consumers_daemon,
        kill_the_providers_daemon,
        restart_the_consumers_api_server,
        restart_the_providers_api_server,
        cut_the_link,
        freeze_the_consumers_daemon,
        scale,
        delete_some_pods_at_home,
    ]
    story.deployment("many", wanted, busybox("many"))
    for _ in range(ROUNDS):
        fault = dice.choice(faults)
        print(f"seed {SEED}: {fault.__name__}")
        fault()
        time.sleep(dice.uniform(0, 2))
    story.ensure_daemons()
    wait_for(story.peering.node_ready, 90, "the node to be ready again")
    story.wait_ready_replicas("many", wanted, 240)
    wait_for(lambda: len(provider.pods(story.twin)) == wanted, 120, f"just {wanted} pods to be left at the provider")
    story.nothing_was_doubled()
    story.scale("many", 0)
    story.wait_nothing_left(180)
