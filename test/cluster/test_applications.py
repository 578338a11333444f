"""docs/applications.md, tried: every command of it, in order, on three clusters with real nodes, name servers and an
Ingress; and what becomes of the shop's customers while the clusters fail."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import chart, ingress, manual, python_image, settings
from harness.cluster import PORT, Cluster
from harness.components import Options
from harness.console import Console
from harness.customers import Customers
from harness.images import BUSYBOX_IMAGE
from harness.peers import Peer
from harness.run import Run
from harness.wait import patient, wait_for

PAGE = settings.TREE / "docs/applications.md"
EXAMPLE = settings.TREE / "examples/shop"
SECTIONS = {section.title: section for section in manual.read(PAGE)}
PYTHON, BUSYBOX = "docker.io/library/python:3.13-slim", "docker.io/library/busybox:1.37"
HOST = "shop.example"
NODES = {"rome-1", "milan-1", "turin-1"}


@dataclass
class Three:
    """rome, where the shop is, and its providers milan and turin, each with a console of its user."""

    rome: Peer
    milan: Peer
    turin: Peer
    consoles: dict[str, Console]

    def type(self, title: str) -> None:
        """Types a section of the page."""
        for step in SECTIONS[title].steps:
            manual.try_step(PAGE.name, self.consoles[step.user], step)

    def customers(self) -> Customers:
        return Customers(self.rome.cluster, HOST)

    def leads_to(self, cluster: Cluster) -> bool:
        """Whether the Service of the catalog leads to a pod of that cluster."""
        slices = self.rome.api.list("endpointslices", "shop", "kubernetes.io/service-name=catalog")
        ready = [each for one in slices for each in one.get("endpoints") or [] if each["conditions"]["ready"]]
        own = cluster.pod_cidr.rpartition(".0.0/")[0] + "."
        return any(address.startswith(own) for each in ready for address in each["addresses"])


def give_images(cluster: Cluster, python: Path) -> None:
    assert cluster.node
    cluster.node.give(python)
    cluster.node.name_image(BUSYBOX_IMAGE, BUSYBOX)


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """A run of its own, so that the clusters have the names that they have on the page."""
    if missing := settings.missing_requirements():
        pytest.skip(f"real clusters need {', '.join(missing)}")
    with closing(Run()) as the_run:
        yield the_run


@pytest.fixture(scope="module")
def three(run: Run, daemons: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Three]:
    here = Path(shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("example") / "shop"))
    python = here.parent / "python.tar"
    python_image.write(python, PYTHON)
    real = Options(kubelet=True, proxy=True, dns=True)
    clusters = run.start(rome=real, milan=real, turin=real)
    with ThreadPoolExecutor(3) as pool:
        given = [pool.submit(give_images, cluster, python) for cluster in clusters.values()]
        flags = (
            ("--home-api-server-host", clusters["rome"].address, "--home-api-server-port", str(PORT),
             "--reflect-custom=deliveries.shop.example,status"), (), (),
        )  # fmt: skip
        rome, milan, turin = pool.map(Peer, clusters.values(), flags)
        for done in given:
            done.result()
    chart.allow_tokens(rome.cluster)
    chart.allow_custom(rome.cluster, "shop.example", "deliveries")
    chart.allow_tenant_roles(milan.cluster, "deliveries")
    for provider in (milan, turin):
        rome.peer_with(provider, "--cpu=2", "--memory=4Gi", "--pods=60")
    with closing(ingress.Controller(rome.cluster)):
        yield Three(rome, milan, turin, {name: Console(cluster, here) for name, cluster in clusters.items()})


def test_the_shop_runs_in_three_clusters(three: Three) -> None:
    for title in ("Declare where the endpoints are", "A web shop"):
        three.type(title)
    with three.customers() as customers:
        wait_for(lambda: customers.served() == NODES, 60, "each of the three to serve customers")
    assert not customers.failed, customers.failed[:5]


def test_no_customer_notices_that_a_liqod_is_killed(three: Three) -> None:
    with three.customers() as customers:
        for peer in (three.rome, three.milan):
            peer.daemon.kill()
            customers.wait_for_more(50)
            peer.daemon.start()
            customers.wait_for_more(50)
    assert not customers.failed, customers.failed[:5]


def test_no_customer_notices_that_an_api_server_restarts(three: Three) -> None:
    with three.customers() as customers:
        for peer in (three.rome, three.milan):
            peer.cluster.kill("kube-apiserver")
            customers.wait_for_more(50)
            peer.cluster.start_again("kube-apiserver")
            customers.wait_for_more(50)
            peer.daemon.ensure()
    assert not customers.failed, customers.failed[:5]
    wait_for(lambda: three.rome.node_ready("milan"), 60, "the node of milan to be Ready")


@pytest.mark.refusals("a provider that is drained takes no pods, and those that end are made again at once")
def test_no_customer_notices_that_a_provider_drains(three: Three) -> None:
    with three.customers() as customers:
        three.type("Drain a provider")
        customers.wait_for_more(50)
    assert not customers.failed, customers.failed[:5]


def test_only_the_share_of_a_provider_that_is_cut_off_fails(three: Three) -> None:
    """The last that customers see: a kernel keeps for two minutes where it has led a connection that was never
    answered, and leads there whoever has the same port by then."""
    network, milan = three.milan.cluster.network, three.milan.cluster
    wait_for(lambda: three.leads_to(milan), 60, "the catalog to have its pod in milan")
    with three.customers() as customers:
        wait_for(lambda: customers.served() == NODES, 60, "each of the three to serve customers")
        cut = time.monotonic()
        network.cut("milan")
        try:
            wait_for(lambda: not three.leads_to(milan), 60, "no Service to lead to milan any more")
            alone = time.monotonic()
            customers.wait_for_more(50)
        finally:
            network.heal("milan")
        healed = time.monotonic()
        wait_for(lambda: "milan-1" in customers.served(since=healed), 60, "milan to serve customers again")
        back = time.monotonic()
    meanwhile = [answer for answer in customers.answers if cut <= answer.sent < alone]
    assert {answer.text.split()[0] for answer in meanwhile if not answer.failed} >= NODES - {"milan-1"}
    # A third of the requests, each of which takes the frontend's two seconds.
    assert 0 < len(customers.failed) <= 0.6 * len(meanwhile), (len(customers.failed), len(meanwhile))
    # Who was asked just before the cable was cut has not answered either.
    assert all(cut - 8 < answer.sent < cut + patient(40) for answer in customers.failed), customers.failed
    assert back - healed < patient(15)


def test_a_hundred_jobs_have_their_secrets(three: Three) -> None:
    three.type("A hundred Jobs")


def test_an_operator_in_another_cluster_works_on_a_kind_of_the_shop(three: Three) -> None:
    three.type("A kind of your own")


def test_pods_of_the_provider_use_a_service_of_home(three: Three) -> None:
    three.type("Services for pods of the provider")


@pytest.mark.refusals("a pod is made again in a twin that is about to go")
def test_the_applications_are_taken_away(three: Three) -> None:
    three.type("Take it away")


def test_every_section_of_the_page_is_typed() -> None:
    source = Path(__file__).read_text()
    assert not [title for title in SECTIONS if f'"{title}"' not in source]
