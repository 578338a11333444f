"""A liqod with AddressSanitizer and UBSan survives a provider's delayed execs, its restarts, and replaced sessions.

$LIQOD_SANITIZED names that build; without it these stories are skipped, and fail if CI is set.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.liqo.peering import Peering
from harness.monitoring.slow_exec import SlowExec
from harness.required import unavailable
from harness.run import Run
from harness.story import Story
from harness.wait import patient, wait_for

# A sanitized liqod is much slower than the one of users.
SLOW = 60.0
REPORT = re.compile(r"ERROR: \w+Sanitizer|runtime error:|SUMMARY: \w+Sanitizer")


@pytest.fixture(scope="module")
def binary() -> Path:
    given = os.environ.get("LIQOD_SANITIZED")
    if not given or not Path(given).exists():
        unavailable("there is no sanitized liqod: $LIQOD_SANITIZED names one")
    return Path(given)


@pytest.fixture(scope="module")
def daemons(run: Run, binary: Path) -> Iterator[tuple[Liqod, Liqod]]:
    """The daemons at home and at the provider; neither may have anything to report in the end."""
    with run.borrow(ulm=Options(), jena=Options(kubelet=True)) as (ulm, jena):
        # The real kubelet has the usual port, so liqod takes another.
        pair = (
            Liqod(ulm, chart.install(ulm), flags=("--metrics-hide-peers",), binary=binary),
            Liqod(jena, chart.install(jena), 10260, binary=binary),
        )
        for daemon in pair:
            daemon.start(SLOW)
        yield pair
        for daemon in pair:
            assert daemon.stop(SLOW) == 0
            clean(daemon)


def clean(daemon: Liqod) -> None:
    """Asserts that no sanitizer has reported anything in its log."""
    found = REPORT.search(daemon.log())
    assert not found, f"liqod of {daemon.cluster.name}: {daemon.log()[found.start():][:4000]}"


@pytest.fixture
def told(daemons: tuple[Liqod, Liqod], namespace: str) -> Iterator[Story]:
    home, away = daemons
    peering = Peering(home.cluster, away.cluster).establish().wait_ready(SLOW)
    story = Story(peering, namespace, home, away)
    yield story
    story.close()


def executing(story: Story, *command: str) -> list[str]:
    words = story.consumer.kubectl_command("-n", story.namespace, "exec", "one", "--", *command)
    return story.consumer.space.entering(words)


def run_command(story: Story, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(executing(story, *command), capture_output=True, text=True, timeout=patient(120))


def sessions(story: Story) -> int:
    return story.home.log().count("session with the provider started")


def change_session(story: Story, number: int) -> None:
    """What a provider brings about with the status of its slice: the virtual node is to offload in another way."""
    before = sessions(story)
    patch = {"spec": {"offloadingPatch": {"annotationsNotReflected": [f"example.com/{number}"]}}}
    story.consumer.api.patch("virtualnodes", story.peering.home, story.peering.node, patch)
    wait_for(lambda: sessions(story) > before, SLOW, "the session to be replaced")


def change_back(story: Story) -> None:
    before = sessions(story)
    patch = {"spec": {"offloadingPatch": None}}
    story.consumer.api.patch("virtualnodes", story.peering.home, story.peering.node, patch)
    wait_for(lambda: sessions(story) > before, SLOW, "the session to be replaced")


def test_the_figures_name_no_peer(told: Story) -> None:
    told.create(busybox("one"))
    told.wait_ready("one", SLOW)

    def figures() -> str:
        code, text = told.home.get("/metrics", SLOW)
        return text if code == 200 and 'cluster_id="peer-' in text else ""

    text = wait_for(figures, SLOW, "the figures of the peer")
    for name in ("jena", "ulm", told.provider.address):
        assert f'"{name}' not in text


def alive(story: Story) -> None:
    for daemon in (story.home, story.away):
        clean(daemon)
        assert daemon.running, daemon.log()[-3000:]


@pytest.mark.refusals("exec is refused on purpose, and by WebSocket as no role grants it")
def test_a_provider_that_replaces_the_session_between_attempts_at_exec(told: Story) -> None:
    told.create(busybox("one"))
    told.wait_ready("one", SLOW)
    slow = SlowExec(told.peering)
    usual, before = told.peering.kubeconfig(), sessions(told)
    try:
        told.peering.write_secret(slow.kubeconfig)
        wait_for(lambda: sessions(told) > before, SLOW, "the session through the slow provider")
        told.wait_ready("one", SLOW)
        for number in range(3):
            slow.hold()
            asked = slow.asked
            running = subprocess.Popen(
                executing(told, "true"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            wait_for(lambda: slow.asked > asked, SLOW, "the provider to be asked for exec")
            change_session(told, number)
            slow.answer()
            _, errors = running.communicate(timeout=patient(120))
            assert running.returncode != 0 and errors
            alive(told)
        change_back(told)
    finally:
        slow.close()
        told.peering.write_secret(usual)
    wait_for(lambda: run_command(told, "true").returncode == 0, SLOW, "exec to go on", interval=1)
    alive(told)


@pytest.mark.refusals("exec by WebSocket, which no role grants")
def test_execs_over_restarts_of_the_provider_and_new_sessions(told: Story) -> None:
    told.create(busybox("one", "while true; do date; sleep 0.1; done"))
    told.wait_ready("one", SLOW)
    followed = told.consumer.kubectl_started("-n", told.namespace, "logs", "-f", "one")
    try:
        for number in range(3):
            open_ones = [
                subprocess.Popen(executing(told, "sleep", "300"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(4)
            ]
            told.provider.restart("kube-apiserver")
            change_session(told, number)
            for each in open_ones:
                each.terminate()
                each.communicate(timeout=patient(60))
            wait_for(lambda: run_command(told, "true").returncode == 0, SLOW, "exec to go on", interval=1)
            alive(told)
        change_back(told)
    finally:
        followed.terminate()
        followed.wait(patient(60))
    wait_for(lambda: run_command(told, "true").returncode == 0, SLOW, "exec to go on", interval=1)
    alive(told)
