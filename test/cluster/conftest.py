"""Fixtures of the stories: a run, its clusters, and the rules that hold for every story."""

from __future__ import annotations

import itertools
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import pytest

from harness import settings
from harness.cluster import audit
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo.daemons import Daemons
from harness.liqo.peering import Peering
from harness.required import require_liqod, require_machine, unavailable
from harness.run import Run
from harness.story import Story

_kept: list[str] = []


def pytest_configure() -> None:
    """A terminated run ends as an interrupted one does: fixtures are torn down."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt("terminated")

    signal.signal(signal.SIGTERM, interrupt)


@pytest.fixture(scope="session")
def run() -> Iterator[Run]:
    require_machine()
    if not all(made.exists() for made in (*map(settings.tool, ("kube", "kwok", "coredns")), settings.images())):
        built = subprocess.run([settings.SUITE / "build-tools"], capture_output=True, text=True)
        if built.returncode != 0:
            unavailable(f"test/cluster/build-tools failed: {(built.stdout + built.stderr).strip()[-500:]}")
    with closing(Run()) as the_run:
        yield the_run


@pytest.fixture(scope="session")
def clusters(run: Run) -> dict[str, Cluster]:
    """rome, which has fake nodes, and milan, which has a real kubelet.

    rome signs certificates for two minutes only, so that every longer run lives through renewals.
    """
    started = run.start(rome=Options(signing_duration="2m"), milan=Options(kubelet=True))
    started["rome"].add_kwok_nodes(2)
    return started


@pytest.fixture(scope="session")
def rome(clusters: dict[str, Cluster]) -> Cluster:
    return clusters["rome"]


@pytest.fixture(scope="session")
def milan(clusters: dict[str, Cluster]) -> Cluster:
    return clusters["milan"]


_numbers = itertools.count(1)


@pytest.fixture
def namespace(request: pytest.FixtureRequest) -> str:
    """A name for this story's own namespaces; the story creates them where it needs them."""
    words = re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_").lower())
    return f"{words[:40].strip('-')}-{next(_numbers)}"


@pytest.fixture(scope="session")
def daemons() -> Daemons:
    require_liqod()
    return Daemons()


@pytest.fixture(scope="session")
def rome_to_milan(daemons: Daemons, rome: Cluster, milan: Cluster) -> Peering:
    """rome offloads to milan's real kubelet."""
    daemons.of(rome), daemons.of(milan)
    return Peering(rome, milan).establish().wait_ready().wait_serving()


@pytest.fixture(scope="session")
def rome_to_turin(run: Run, daemons: Daemons, rome: Cluster) -> Peering:
    """rome offloads to turin's fake nodes, which hold a thousand pods."""
    return _fake_provider(run, daemons, rome, "turin")


@pytest.fixture(scope="session")
def rome_to_naples(run: Run, daemons: Daemons, rome: Cluster) -> Peering:
    """Like turin: another provider with fake nodes."""
    return _fake_provider(run, daemons, rome, "naples")


def _fake_provider(run: Run, daemons: Daemons, rome: Cluster, name: str) -> Peering:
    provider = run.start(**{name: Options()})[name]
    provider.add_kwok_nodes(4)
    daemons.of(rome), daemons.of(provider)
    return Peering(rome, provider).establish().wait_ready()


@pytest.fixture
def story(rome_to_milan: Peering, daemons: Daemons, namespace: str) -> Iterator[Story]:
    """A namespace of rome that is offloaded to milan."""
    yield from _story(rome_to_milan, daemons, namespace)


@pytest.fixture
def fake_story(rome_to_turin: Peering, daemons: Daemons, namespace: str) -> Iterator[Story]:
    """A namespace of rome that is offloaded to turin, where pods only pretend to run."""
    yield from _story(rome_to_turin, daemons, namespace)


def _story(peering: Peering, daemons: Daemons, namespace: str) -> Iterator[Story]:
    told = Story(peering, namespace, daemons.of(peering.consumer), daemons.of(peering.provider))
    yield told
    told.close()


@pytest.fixture(autouse=True)
def nobody_is_refused(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever runs under test has the rights it needs: a 403 that the story does not expect fails it."""
    the_run: Run | None = request.getfixturevalue("run") if "run" in request.fixturenames else None
    before = {name: cluster.audit.mark() for name, cluster in the_run.clusters.items()} if the_run else {}
    yield
    if the_run is None or request.node.get_closest_marker("refusals"):
        return
    refused = [
        f"{name}: {audit.described(entry)}"
        for name, cluster in the_run.clusters.items()
        for entry in cluster.refused(before.get(name, 0))
        if not audit.falls_back(entry)
    ]
    assert not refused, "requests were answered 403:\n" + "\n".join(sorted(set(refused)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    the_run = getattr(item, "funcargs", {}).get("run")
    if report.failed and the_run is not None:
        place = the_run.keep_logs(re.sub(r"\W+", "-", item.name))
        _kept.append(f"{item.name} ({report.when}): {place}")
        report.sections.append(("logs", f"kept in {place}"))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = Counter(str(report.longrepr[2]) for report in terminalreporter.getreports("skipped"))
    for reason, count in skipped.items():
        terminalreporter.write_line(f"{count} skipped: {reason.removeprefix('Skipped: ')}")
    for line in _kept:
        terminalreporter.write_line(f"logs of {line}")
    # `tools/test` counts these lines.
    for report in terminalreporter.getreports("passed"):
        for name, what in report.user_properties if report.when == "call" else ():
            if name == "flaky":
                terminalreporter.write_line(f"flaky, passed when run again: {' '.join(str(what).split())}")
