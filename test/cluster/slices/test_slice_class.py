"""Every command of examples/slice-class/README.md works, in its order, on two clusters that are peered."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from harness import settings
from harness.cluster import python_image
from harness.cluster.components import Options
from harness.liqo.peers import Peer
from harness.run import Run
from harness.tools import manual
from harness.tools.console import Console

EXAMPLE = settings.TREE / "examples/slice-class"
SECTIONS = manual.read(EXAMPLE / "README.md")


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """A run of its own, so that the clusters have the names that they have on the page."""
    yield from manual.own_run()


@pytest.fixture(scope="module")
def consoles(run: Run, daemons: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Console]]:
    """A console for each of the users of rome and milan, in a copy of the example."""
    here = Path(shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("example") / "slice-class"))
    (deployment,) = yaml.safe_load_all((EXAMPLE / "deployment.yaml").read_text())
    clusters = run.start(rome=Options(), milan=Options(kubelet=True, proxy=True))
    archive = here.parent / "python.tar"
    python_image.write(archive, deployment["spec"]["template"]["spec"]["containers"][0]["image"])
    assert clusters["milan"].node
    clusters["milan"].node.give(archive)
    rome, milan = (Peer(clusters[name]) for name in ("rome", "milan"))
    rome.peer_with(milan, "--create-resource-slice=false")
    yield {name: Console(cluster, here) for name, cluster in clusters.items()}
    rome.unpeer_from(milan)


@pytest.mark.parametrize("section", SECTIONS, ids=[section.title for section in SECTIONS])
def test_the_page(consoles: dict[str, Console], section: manual.Section) -> None:
    for step in section.steps:
        manual.try_step("README.md", consoles[step.user], step)
