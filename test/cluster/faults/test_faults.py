"""Processes die, servers restart and links fall silent: no pod is lost, none runs twice, and everything recovers."""

from __future__ import annotations

import signal
import statistics
import time
from collections.abc import Callable

import pytest

from harness.cluster.api import Refused, path
from harness.cluster.cluster import busybox
from harness.liqo.peering import Peering
from harness.run import Run
from harness.story import Story, container, is_ready
from harness.wait import patient, stays, wait_for


def test_a_kill_of_liqod_does_not_touch_what_runs(story: Story) -> None:
    story.create(busybox("one"))
    before = story.wait_ready("one")
    for daemon in (story.home, story.away):
        daemon.kill()
        daemon.start()
    stays(lambda: container(story.local("one")) == container(before), 5, "the container as it was")
    assert story.times_run("one") == 1


def test_a_stop_of_liqod_is_orderly(story: Story) -> None:
    """SIGTERM ends it with 0 within seconds, and the node does not vanish: its pods would be lost with it."""
    story.create(busybox("one"))
    story.wait_ready("one")
    began = time.monotonic()
    assert story.home.stop() == 0
    assert time.monotonic() - began < patient(15)
    assert story.peering.node_object() and story.remote("one")
    story.home.start()
    wait_for(story.peering.node_ready, 60, "the node to be ready again")
    assert story.times_run("one") == 1


def test_what_happened_while_liqod_was_away_is_made_up_for(story: Story) -> None:
    story.create(busybox("kept"))
    story.create(busybox("deleted"))
    story.create(busybox("ended", "while [ ! -e /tmp/end ]; do sleep 0.1; done", restartPolicy="Never"))
    for name in ("kept", "deleted", "ended"):
        story.wait_ready(name)
    story.home.kill()
    story.consumer.api.delete("pods", story.namespace, "deleted")
    # Without liqod nobody can decide where a pod of this namespace may run, so creating one fails.
    with pytest.raises(Refused, match="failed calling webhook"):
        story.create(busybox("refused"))
    story.deployment("new", 1, busybox("new"))
    story.provider.kubectl("-n", story.twin, "exec", "ended", "--", "touch", "/tmp/end")
    remotely_ended = lambda: story.remote("ended")["status"]["phase"] == "Succeeded"  # noqa: E731
    wait_for(remotely_ended, 60, "the remote pod to end")
    story.home.start()
    story.wait_ready_replicas("new", 1, 60)
    story.wait_phase("ended", "Succeeded")
    wait_for(lambda: story.consumer.pod(story.namespace, "deleted") is None, 60, "the deleted pod to be gone at home")
    wait_for(lambda: story.provider.pod(story.twin, "deleted") is None, 60, "the deleted pod to be gone in milan")
    assert story.phase("kept") == "Running"
    story.nothing_was_doubled()


@pytest.mark.parametrize(
    ("policy", "grace"),
    [("Never", 0), ("Never", None), ("OnFailure", None)],
    ids=["never-at-once", "never-gracefully", "on-failure"],
)
def test_a_pod_that_is_lost_while_nobody_watches_does_not_run_again(
    story: Story, policy: str, grace: int | None
) -> None:
    """Nothing is on record: liqod of milan is killed before the pod starts, and only its finalizer remembers."""
    first = {**busybox("first", "sleep 4")["spec"]["containers"][0], "name": "first"}
    story.create(busybox("one", restartPolicy=policy, initContainers=[first]))
    wait_for(lambda: story.remote("one"), 30, "the remote pod to be there", interval=0.02)
    story.away.kill()
    wait_for(lambda: story.remote("one")["status"]["phase"] == "Running", 60, "the remote pod to run")
    story.provider.api.delete("pods", story.twin, "one", grace)
    has_ended = lambda: story.remote("one")["status"]["phase"] == "Failed"  # noqa: E731
    wait_for(has_ended, 60, "the remote pod to be stopped")
    stays(lambda: story.remote("one")["metadata"]["deletionTimestamp"], 3, "what is left of it")
    story.away.start()
    wait_for(lambda: story.provider.pod(story.twin, "one") is None, 60, "the remote pod to be let go")
    story.wait_phase("one", "Failed")
    assert story.shadow("one")["status"]["phase"] == "Failed"
    stays(lambda: story.phase("one") == "Failed" and story.times_run("one") == 1, 5, "the pod Failed, run once,")


def test_a_pod_on_failure_runs_again_when_its_node_falls_silent(story: Story) -> None:
    """None of its containers is known to have ended."""
    created = story.create(busybox("one", restartPolicy="OnFailure"))
    before = container(story.wait_ready("one"))["containerID"]
    kubelet = story.provider.process("kubelet")
    kubelet.send(signal.SIGSTOP)
    try:
        story.provider.api.delete("pods", story.twin, "one", grace=0)
        wait_for(lambda: story.times_run("one") == 2, 90, "another pod to be made")
    finally:
        kubelet.send(signal.SIGCONT)
    assert story.provider.node
    wait_for(story.provider.node.ready, 60, "the node to be ready again")
    anew = story.wait_local(
        "one", lambda pod: container(pod).get("containerID", before) != before and is_ready(pod), "to run anew", 90
    )
    assert anew["metadata"]["uid"] == created["metadata"]["uid"], "the pod at home is the same"
    assert container(anew)["restartCount"] == 1, "a loss counts as a restart"
    assert story.times_run("one") == 2, "run again once per loss"


def test_a_pod_goes_at_home_while_liqod_of_the_provider_is_not_there(story: Story) -> None:
    """The pod that has ended at the provider waits there to be let go; at home nobody has to wait for that."""
    story.create(busybox("one", restartPolicy="Never"))
    story.wait_ready("one")
    story.away.kill()
    story.consumer.api.delete("pods", story.namespace, "one")
    wait_for(lambda: story.consumer.pod(story.namespace, "one") is None, 60, "the pod to be gone at home")
    assert story.remote("one")["metadata"]["finalizers"] and story.shadow("one") is None
    story.away.start()
    story.wait_nothing_left(60)


@pytest.mark.refusals("the rights in the twin go with it")
def test_a_twin_that_is_deleted_ends_as_soon_as_liqod_of_the_provider_is_there(story: Story) -> None:
    """Pods that are held until their end is on record hold their namespace, but no longer than that."""
    policies = {"never": "Never", "on-failure": "OnFailure"}
    for name, policy in policies.items():
        story.create(busybox(name, restartPolicy=policy))
    for name in policies:
        story.wait_ready(name)
    story.away.kill()
    twin = lambda: story.provider.api.find("namespaces", None, story.twin)  # noqa: E731
    story.provider.api.delete("namespaces", None, story.twin)
    for name in policies:
        wait_for(lambda name=name: story.remote(name)["status"]["phase"] == "Failed", 60, f"{name} to be stopped")
    stays(twin, 3, "the twin")
    story.away.start()
    wait_for(lambda: twin() is None, 60, "the twin to be gone")
    for name in policies:
        story.wait_phase(name, "Failed")


@pytest.mark.parametrize("side", ["consumer", "provider"])
def test_an_api_server_restarts_in_the_middle_of_a_rollout(fake_story: Story, side: str) -> None:
    story = fake_story
    cluster = story.consumer if side == "consumer" else story.provider
    processes = (story.home.process, story.away.process)
    story.deployment("many", 60, busybox("many"))
    wait_for(lambda: len(story.provider.pods(story.twin)) >= 10, 60, "the rollout to be under way")
    cluster.restart("kube-apiserver")
    story.wait_ready_replicas("many", 60, 120)
    story.nothing_was_doubled()
    cluster.restart("kube-apiserver")
    story.scale("many", 0)
    story.wait_nothing_left(120)
    assert (story.home.process, story.away.process) == processes and story.home.running and story.away.running


@pytest.mark.parametrize("side", ["consumer", "provider"])
def test_a_watch_that_is_answered_with_410_misses_nothing(fake_story: Story, side: str) -> None:
    """The daemon sleeps while things change and the API server forgets how: it must list anew to know."""
    story = fake_story
    for name in ("kept", "deleted"):
        story.create(busybox(name))
        story.wait_ready(name)
    # Admission stands still with the daemon, so the pod is created now and may be scheduled later.
    story.create(busybox("new", schedulingGates=[{"name": "example.com/later"}]))
    cluster = story.consumer if side == "consumer" else story.provider
    namespace = story.namespace if side == "consumer" else story.twin
    version = cluster.api.get("pods", namespace)["metadata"]["resourceVersion"]
    story.home.freeze()
    try:
        cluster.api.delete("pods", namespace, "deleted", grace=0)
        story.consumer.api.patch("pods", story.namespace, "new", {"spec": {"schedulingGates": None}})
        # A restarted API server has no earlier changes in its cache, so a watch has missed them for good.
        cluster.restart("kube-apiserver")
        where = path("pods", namespace) + f"?watch=true&resourceVersion={version}&timeoutSeconds=1"

        def forgotten() -> bool:
            code, events = cluster.api.raw("GET", where)
            assert code == 410 or b'"code":410' in events, f"this story needs a 410, not {code} {events[:300]!r}"
            return True

        # While it fills its cache, the server asks clients to come again.
        wait_for(forgotten, 30, "a 410")
    finally:
        story.home.thaw()
    story.wait_ready("new", 60)
    if side == "consumer":
        wait_for(lambda: story.provider.pod(story.twin, "deleted") is None, 60, "the deleted pod to be gone in turin")
    else:
        # kwok sees the deletion late and deletes by name, so it may delete the second pod, too.
        wait_for(lambda: story.times_run("deleted") >= 2, 60, "the deleted pod to be run again")
        wait_for(lambda: story.remote("deleted")["status"]["phase"] == "Running", 30, "the deleted pod to run")
        story.wait_ready("deleted")
    assert story.times_run("kept") == 1 and story.times_run("new") == 1


def test_a_link_that_is_cut_for_a_minute(run: Run, story: Story) -> None:
    story.create(busybox("one", "while true; do date +%s; sleep 1; done"))
    before = story.wait_ready("one")
    cut = time.monotonic()
    run.network.cut("milan")
    try:
        wait_for(lambda: not story.peering.node_ready(), 45, "the node not to be ready any more", interval=0.5)
        story.create(busybox("late"))
        while time.monotonic() - cut < 60:
            assert story.remote("one")["status"]["phase"] == "Running"
            time.sleep(1)
    finally:
        run.network.heal("milan")
    wait_for(story.peering.node_ready, 45, "the node to be ready again", interval=0.5)
    story.wait_ready("one", 60)
    story.wait_ready("late", 60)
    after = story.local("one")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert container(after)["containerID"] == container(before)["containerID"]
    story.nothing_was_doubled()
    seconds = [int(line) for line in story.provider.kubectl("-n", story.twin, "logs", "one").split()]
    gaps = [later - earlier for earlier, later in zip(seconds, seconds[1:], strict=False)]
    # A busy machine may stop for some seconds, but not for as long as the cut lasts.
    assert max(gaps) < 30, "the pod ran on all the while"


def test_a_pod_deleted_while_the_link_is_cut_ends_when_it_heals(run: Run, story: Story) -> None:
    story.create(busybox("one"))
    story.wait_ready("one")
    run.network.cut("milan")
    try:
        story.consumer.api.delete("pods", story.namespace, "one")
        stays(lambda: story.local("one") and story.remote("one"), 5, "the pod, on both sides,")
    finally:
        run.network.heal("milan")
    story.wait_nothing_left(90)


def test_a_link_that_is_cut_and_healed_again_and_again(run: Run, story: Story) -> None:
    story.deployment("many", 10, busybox("many"))
    for _ in range(5):
        run.network.cut("milan")
        time.sleep(2)
        run.network.heal("milan")
        time.sleep(1)
    story.wait_ready_replicas("many", 10, 120)
    story.nothing_was_doubled()


def test_a_narrow_link_is_slow_and_nothing_worse(run: Run, story: Story) -> None:
    run.network.slow("milan", kbit=512)
    try:
        story.deployment("many", 5, busybox("many"))
        story.wait_ready_replicas("many", 5, 120)
        assert story.peering.node_ready()
    finally:
        run.network.heal("milan")
    story.nothing_was_doubled()


def latencies(story: Story, count: int) -> list[float]:
    """Seconds from the creation of a pod until it is ready at home, one pod after the other."""
    measured = []
    for _ in range(count):
        began = time.monotonic()
        story.create(busybox("timed"))
        wait_for(lambda: is_ready(story.local("timed")), 30, "the pod to be ready", interval=0.005)
        measured.append(time.monotonic() - began)
        story.consumer.api.delete("pods", story.namespace, "timed", grace=0)
        wait_for(
            lambda: story.shadow("timed") is None and story.provider.pod(story.twin, "timed") is None, 30, "it to go"
        )
    return measured


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


@pytest.mark.alone("it compares latencies")
def test_a_dead_provider_does_not_slow_down_another(run: Run, fake_story: Story, rome_to_naples: Peering) -> None:
    """Alive and dead alternate, so that what else this machine does weighs on both alike."""
    story, namespace = fake_story, fake_story.namespace
    rome_to_naples.offload(namespace)
    template = rome_to_naples.pinned(busybox("elsewhere"))
    pin: Callable[[int], dict] = lambda n: {**template, "metadata": {"name": f"elsewhere-{n}"}}  # noqa: E731
    latencies(story, 5)
    alive: list[float] = []
    dead: list[float] = []
    for cycle in range(4):
        alive += latencies(story, 15)
        run.network.cut("naples")
        try:
            for number in range(20):
                story.consumer.api.create("pods", namespace, pin(cycle * 20 + number))
            dead += latencies(story, 15)
        finally:
            run.network.heal("naples")
        wait_for(rome_to_naples.node_ready, 60, "naples to be ready again")
    story.consumer.api.delete_all("pods", namespace)
    wait_for(lambda: not story.consumer.pods(namespace), 60, "the pods elsewhere to be gone")
    rome_to_naples.withdraw(namespace)
    print(f"p95 alive {p95(alive) * 1000:.0f} ms, dead {p95(dead) * 1000:.0f} ms")
    assert p95(dead) <= 1.2 * p95(alive), f"p95 alive {p95(alive):.3f} s, with a dead neighbour {p95(dead):.3f} s"
