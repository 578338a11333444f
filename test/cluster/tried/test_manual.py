"""Every command of docs/sharing.md works, in its order, on two clusters with a real node each.

Liqo is installed there from dist/, as the page says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import settings
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.run import Run
from harness.tools import manual
from harness.tools import release as releases
from harness.tools.console import Console, as_shown
from harness.tools.release import Release
from harness.wait import wait_for

PAGE = settings.TREE / "docs/sharing.md"
SECTIONS = manual.read(PAGE)


class Manual:
    """Two clusters, and a user of each who works through the page."""

    def __init__(self, clusters: dict[str, Cluster], release: Release):
        self.clusters = clusters
        programs = {"liqoctl": release.liqoctl_binary, "helm": settings.tool("helm3")}
        self.consoles = {name: Console(cluster, release.directory, programs) for name, cluster in clusters.items()}
        self.failed = ""

    def try_step(self, step: manual.Step) -> None:
        manual.try_step(PAGE.name, self.consoles[step.user], step)


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """A run of its own, so that the clusters have the names that they have on the page."""
    yield from manual.own_run()


@pytest.fixture(scope="module")
def reader(run: Run, daemons: object, tmp_path_factory: pytest.TempPathFactory) -> Manual:
    release = releases.make(tmp_path_factory.mktemp("manual") / "dist")
    real = Options(kubelet=True, proxy=True, extra_apiserver=("--enable-aggregator-routing=false",))
    clusters = run.start(rome=real, milan=real)
    for cluster in clusters.values():
        assert cluster.node
        # Most clusters label a control-plane node, which tells liqoctl where the API server is.
        cluster.kubectl("label", "node", cluster.node.name, "node-role.kubernetes.io/control-plane=")
        cluster.node.give(release.image)
    return Manual(clusters, release)


@pytest.mark.refusals("peering users are refused what they need not see, and pods what their quota has not")
@pytest.mark.parametrize("section", SECTIONS, ids=[section.title for section in SECTIONS])
def test_the_manual(reader: Manual, section: manual.Section) -> None:
    if reader.failed:
        pytest.skip(f"the section before it failed: {reader.failed}")
    reader.failed = section.title
    for step in section.steps:
        reader.try_step(step)
    if section.title == "Install":
        for cluster in reader.clusters.values():
            # Its garbage collector looks for new kinds every 30 s only.
            cluster.restart("kube-controller-manager")
    reader.failed = ""


def test_every_command_that_the_page_names_is_run_by_it() -> None:
    typed = [step.line for section in SECTIONS for step in section.steps]
    named = re.findall(r"`((?:liqoctl|kubectl) [a-z][^`]*)`", PAGE.read_text())
    for words in named:
        verb = " ".join(word for word in words.split()[:3] if not word.startswith("-") and word.islower())
        assert any(verb in line for line in typed), f"`{words}` is named, but no command of the page is like it"


def test_nothing_is_left_of_it(reader: Manual) -> None:
    assert not reader.failed
    for cluster in reader.clusters.values():
        for kind in ("foreignclusters", "tenants", "identities", "resourceslices", "quotas", "virtualnodes"):
            wait_for(lambda kind=kind: not cluster.api.list(kind), 60, f"the {kind} of {cluster.name} to go")  # noqa: B023


def test_what_the_page_shows_is_compared_with_what_is_shown(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "## Look\n\n```console\nrome $ kubectl get \\\n    nodes\nNAME  AGE\nmilan …\n\nrome $ liqoctl drain tenant x\n"
        "…\nSure? Go on? [y/N] y\n✖ no\n```\n"
    )
    ((looked, drained),) = [section.steps for section in manual.read(page)]
    assert looked.line == "kubectl get nodes" and looked.only_looks and not looked.fails and not looked.answers
    assert looked.matches("NAME    AGE\nmilan   21s\n") and looked.matches("NAME AGE\nmilan  1h, or so\n")
    for other in ("NAME AGE\nturin 1s\n", "NAME AGE\n", "NAME AGE\nmilan 1s\nturin 1s\n", "x\nNAME AGE\nmilan 1s\n"):
        assert not looked.matches(other)
    assert drained.fails and not drained.only_looks and drained.answers == [("Go on? [y/N]", "y")]
    assert drained.matches("a\nb\nSure? Go on? [y/N] y\n✖ no\n") and not drained.matches("Sure? Go on? [y/N] y\n")


def test_a_console_shows_what_is_left_on_the_screen() -> None:
    assert as_shown(b"\x1b[33mwaiting\x1b[0m 1s\r\x1b[2Kwaiting 2s\r\x1b[2K\x1b[32mok\x1b[0m\r\nnext\r\n") == "ok\nnext\n"
