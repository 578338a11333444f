"""Fixtures of the stories of real software: two clusters with real nodes, and the sum of what each story takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from harness.apps import pins
from harness.apps.two import Two
from harness.cluster.cluster import PORT
from harness.cluster.components import Options
from harness.liqo.hostile import annotate_policy
from harness.liqo.peers import Peer
from harness.monitoring.machine import Use
from harness.required import require_programs
from harness.run import Run

REAL = Options(kubelet=True, proxy=True, dns=True)
# A namespace of home whose twin may have the same name.
SAME_NAME = "same"
_used: list[str] = []


@pytest.fixture(scope="module")
def two(run: Run) -> Iterator[Two]:
    """Pods in bolzano reach the API server of mantua, and Services of mantua lead to its pods."""
    require_programs()
    with run.borrow(mantua=REAL, bolzano=REAL) as (mantua, bolzano):
        reached = ("--home-api-server-host", mantua.address, "--home-api-server-port", str(PORT))
        home, away = Peer(mantua, reached), Peer(bolzano)
        home.peer_with(away, "--cpu=2", "--memory=4Gi", "--pods=30")
        policy = {"twinNames": [f"*-{home.name}", SAME_NAME], "endpointCIDRs": [mantua.pod_cidr]}
        annotate_policy(bolzano, f"liqo-tenant-{home.name}", json.dumps(policy))
        yield Two(home, away)


@pytest.fixture
def software(request: pytest.FixtureRequest, two: Two) -> Iterator[Callable[[str], Two]]:
    """Gives software to both clusters, and adds to the report what the story took."""
    with Use() as use:

        def give(name: str) -> Two:
            if not pins.archive(name).exists():
                pytest.fail(f"{name} is not built: test/cluster/build-tools apps", pytrace=False)
            two.give(name)
            return two

        yield give
    _used.append(f"{request.node.name}: {use}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in _used:
        terminalreporter.write_line(f"took: {line}")
