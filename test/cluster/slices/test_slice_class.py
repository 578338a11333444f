"""Every command of examples/slice-class/README.md works, in its order, on two clusters that are peered, and so does every
command of examples/slice-class-cpp/README.md: what its controller does is on the page of the other one."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from harness import settings
from harness.cluster import program_image, python_image
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo.peers import Peer
from harness.run import Run
from harness.tools import manual
from harness.tools.console import Console

sys.path.insert(0, str(settings.TREE / "tools"))

import installed  # noqa: E402

EXAMPLES = settings.TREE / "examples"


def sections(example: str) -> dict[str, manual.Section]:
    return {section.title: section for section in manual.read(EXAMPLES / example / "README.md")}


# The page of the controller in C++ has its own ways to install and remove it.
STORIES = {
    "slice-class": sections("slice-class"),
    "slice-class-cpp": sections("slice-class") | sections("slice-class-cpp"),
}
TITLES = list(STORIES["slice-class"])


def write_image(archive: Path, example: str) -> None:
    """Writes the image that the Deployment of the example runs."""
    (deployment,) = yaml.safe_load_all((EXAMPLES / example / "deployment.yaml").read_text())
    name = deployment["spec"]["template"]["spec"]["containers"][0]["image"]
    if example == "slice-class":
        python_image.write(archive, name)
        return
    liqod = settings.liqod()
    assert liqod, "there is no build to take the libraries from"
    built = installed.build_example(example, liqod.parents[2], archive.parent / "built")
    assert built, f"{example} cannot be built"
    program_image.write(archive, name, built / "pool", "usr/bin/pool")


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """A run of its own, so that the clusters have the names that they have on the page."""
    yield from manual.own_run()


@pytest.fixture(scope="module")
def clusters(run: Run, daemons: object) -> dict[str, Cluster]:
    return run.start(rome=Options(), milan=Options(kubelet=True, proxy=True))


@pytest.fixture(scope="module")
def peers(clusters: dict[str, Cluster]) -> tuple[Peer, Peer]:
    return Peer(clusters["rome"]), Peer(clusters["milan"])


@pytest.fixture(scope="module", params=STORIES)
def example(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def consoles(
    example: str, clusters: dict[str, Cluster], peers: tuple[Peer, Peer], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Console]]:
    """A console for each of the users of rome and milan, in a copy of the example."""
    here = Path(shutil.copytree(EXAMPLES / example, tmp_path_factory.mktemp("example") / example))
    archive = here.parent / "image.tar"
    write_image(archive, example)
    assert clusters["milan"].node
    clusters["milan"].node.give(archive)
    rome, milan = peers
    rome.peer_with(milan, "--create-resource-slice=false")
    yield {name: Console(cluster, here) for name, cluster in clusters.items()}
    rome.unpeer_from(milan)


@pytest.mark.parametrize("title", TITLES)
def test_the_page(consoles: dict[str, Console], example: str, title: str) -> None:
    section = STORIES[example][title]
    for step in section.steps:
        manual.try_step(f"README.md of {example}", consoles[step.user], step)


def test_the_page_in_cpp_has_no_section_of_its_own() -> None:
    assert list(STORIES["slice-class-cpp"]) == TITLES
