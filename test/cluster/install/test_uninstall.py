"""The webhooks, which fail closed, go with an installation however it is removed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness import objects
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.liqo.peers import USAGE_PORT
from harness.required import require_liqod
from harness.run import Run
from harness.wait import stays, wait_for

CONFIGURATIONS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")


@pytest.fixture(scope="module")
def pisa(run: Run) -> Iterator[Cluster]:
    require_liqod()
    with run.borrow(pisa=Options()) as (cluster,):
        yield cluster


@pytest.fixture
def daemon(pisa: Cluster) -> Iterator[Liqod]:
    started = Liqod(pisa, chart.install(pisa), webhooks=True).start()
    wait_for(lambda: configurations(pisa) == 2, 60, "the webhook configurations to be written")
    yield started
    started.stop()


def configurations(cluster: Cluster) -> int:
    return sum(len(cluster.api.list(kind)) for kind in CONFIGURATIONS)


def wait_open(cluster: Cluster, name: str) -> None:
    """Waits until what the webhooks were asked about can be written, and taken away again. (The API server hears by a
    watch that they are gone.)"""
    cluster.namespace(name)
    offloading = objects.offloading()

    def is_open() -> bool:
        cluster.api.apply("namespaceoffloadings", name, offloading)
        cluster.kubectl("delete", "namespaceoffloading", "offloading", "-n", name, "--wait=false")
        return True

    wait_for(is_open, 60, "the API server to ask nobody any more")


def test_the_webhooks_go_with_the_roles_of_the_chart_while_liqod_still_runs(pisa: Cluster, daemon: Liqod) -> None:
    # Installers delete objects in any order: the webhook configurations go with this role, whatever is left.
    pisa.kubectl("delete", "clusterrole", "liqo-installation")
    wait_for(lambda: configurations(pisa) == 0, 60, "the webhook configurations to go")
    stays(lambda: configurations(pisa) == 0, 5, "nothing makes them again")
    daemon.stop()
    wait_open(pisa, "after-roles")


def test_the_webhooks_go_with_the_namespace(pisa: Cluster, daemon: Liqod) -> None:
    daemon.kill()
    pisa.kubectl("delete", "namespace", "liqo", "--wait=false")
    wait_for(lambda: configurations(pisa) == 0, 60, "the webhook configurations to go")
    wait_for(lambda: not pisa.api.find("clusterroles", None, "liqo-installation"), 60, "the role that owned them to go")
    wait_open(pisa, "after-namespace")


def test_a_namespace_that_is_deleted_goes_though_liqod_serves_figures(pisa: Cluster) -> None:
    kubeconfig = chart.install(pisa)
    chart.allow_usage(pisa)
    daemon = Liqod(pisa, kubeconfig, flags=("--metric-agent-port", str(USAGE_PORT)), webhooks=True).start()
    chart.serve_usage(pisa, USAGE_PORT)
    # Kubernetes deletes a ServiceAccount after the pods of its namespace. Here a pod stands in for liqod.
    pod = busybox("liqod-0")
    pod["metadata"]["finalizers"] = ["example.org/still-ending"]
    pisa.api.create("pods", chart.NAMESPACE, pod)
    pisa.kubectl("delete", "namespace", chart.NAMESPACE, "--wait=false")
    wait_for(lambda: not pisa.api.find("apiservices", None, chart.USAGE_API), 60, "the API of figures to go")
    daemon.kill()
    pisa.api.patch("pods", chart.NAMESPACE, "liqod-0", {"metadata": {"finalizers": None}})
    wait_for(lambda: not pisa.api.find("namespaces", None, chart.NAMESPACE), 60, "the namespace to go")
    wait_for(lambda: configurations(pisa) == 0, 60, "the webhook configurations to go")
