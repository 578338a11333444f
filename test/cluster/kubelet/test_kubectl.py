"""Every command of docs/kubectl.md works, in its order, on a cluster whose only node is virtual."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness import settings
from harness.cluster import metrics_server
from harness.cluster.components import QUICK_AUTOSCALER, Options
from harness.liqo.peers import Peer
from harness.run import Run
from harness.tools import manual
from harness.tools.console import Console

PAGE = settings.TREE / "docs/kubectl.md"
SECTIONS = manual.read(PAGE)


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """A run of its own, so that the clusters have the names that they have on the page."""
    yield from manual.own_run()


@pytest.fixture(scope="module")
def reader(run: Run, daemons: object, tmp_path_factory: pytest.TempPathFactory) -> Console:
    clusters = run.start(rome=Options(extra_manager=QUICK_AUTOSCALER), milan=Options(kubelet=True, pod_cgroups=True))
    node = clusters["milan"].node
    assert node
    node.name_containers()
    rome, milan = Peer(clusters["rome"]), Peer(clusters["milan"], usage=True)
    rome.peer_with(milan, "--cpu=2", "--memory=2Gi", "--pods=20")
    metrics_server.start(rome.cluster)
    return Console(rome.cluster, tmp_path_factory.mktemp("kubectl"))


_failed: list[str] = []


@pytest.mark.parametrize("section", SECTIONS, ids=[section.title for section in SECTIONS])
def test_the_page(reader: Console, section: manual.Section) -> None:
    if _failed:
        pytest.skip(f"the section before it failed: {_failed[0]}")
    _failed.append(section.title)
    for step in section.steps:
        manual.try_step(PAGE.name, reader, step)
    _failed.clear()
