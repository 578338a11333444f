"""Clusters of different versions share with each other in both directions, since clusters are updated one at a time.

Not part of a plain run: `tools/test skew` says which version of Liqo or of Kubernetes is on the other side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import settings
from harness.cluster import Cluster, busybox
from harness.components import Options
from harness.deployed import daemon_of
from harness.images import HELLO_IMAGE
from harness.liqoctl import Liqoctl
from harness.liqod import Liqod
from harness.node import is_ready
from harness.release import REPOSITORY
from harness.run import Run
from harness.story import condition
from harness.wait import wait_for

pytestmark = pytest.mark.skew

SOON = 120.0
# Kubelets of this minor version and later need containerd 2, which Debian 12 lacks: their clusters have fake nodes.
NO_KUBELET_FROM = 36


class Side:
    """A cluster with the programs of a build directory, installed by its liqoctl; liqod runs as its Deployment says."""

    def __init__(self, cluster: Cluster, build: Path):
        self.cluster, self.api, self.name = cluster, cluster.api, cluster.name
        self.liqoctl = Liqoctl(cluster, binary=build / "services/liqoctl/liqoctl")
        if not cluster.options.kubelet:
            cluster.add_kwok_nodes(1)
        address = f"apiServer.address={cluster.server}"
        image = f"image.repository={REPOSITORY}"
        cluster.apply(
            self.liqoctl("install", "--print", "--cluster-id", self.name, "--set", address, "--set", image)
        )
        # Its garbage collector looks for new kinds every 30 s only.
        cluster.restart("kube-controller-manager")
        self.daemon: Liqod = daemon_of(cluster, binary=build / "services/liqod/liqod").start(SOON)
        wait_for(lambda: self.api.find("secrets", "liqo", "authentication-keys"), SOON, f"the keys of {self.name}")
        hooks = lambda: self.api.list("validatingwebhookconfigurations")  # noqa: E731
        wait_for(hooks, SOON, f"the webhooks of {self.name}")


def options(version: str) -> Options:
    minor = int((version or settings.KUBERNETES_VERSION).split(".")[1])
    return Options(kubernetes=version, kubelet=minor < NO_KUBELET_FROM)


@pytest.fixture(scope="module")
def sides(run: Run) -> Iterator[tuple[Side, Side]]:
    """bonn has the other version, and graz today's."""
    today = settings.liqod()
    if today is None or not (settings.skewed() or settings.skewed_kubernetes()):
        pytest.skip("no other version is named: tools/test skew does so")
    build = today.parents[2]
    with run.borrow(bonn=options(settings.skewed_kubernetes()), graz=options("")) as (bonn, graz):
        yield Side(bonn, settings.skewed() or build), Side(graz, build)


@dataclass
class Pair:
    consumer: Side
    provider: Side


@pytest.fixture(scope="module", params=["the other version consumes", "the other version provides"])
def pair(request: pytest.FixtureRequest, sides: tuple[Side, Side]) -> Pair:
    other, today = sides
    return Pair(other, today) if "consumes" in request.param else Pair(today, other)


def test_they_peer_and_a_pod_runs(pair: Pair) -> None:
    home, away = pair.consumer, pair.provider
    asked = ("--cpu=2", "--memory=2Gi", "--pods=10")
    home.liqoctl("peer", "--remote-kubeconfig", away.cluster.kubeconfig, *asked)
    assert is_ready(home.api.get("nodes", None, away.name))
    home.cluster.namespace("shop")
    home.liqoctl("offload", "namespace", "shop", "--pod-offloading-strategy", "Remote")
    home.cluster.kubectl("create", "deployment", "web", "-n", "shop", "--image", HELLO_IMAGE)
    wait = ("rollout", "status", "deployment/web", "-n", "shop", f"--timeout={SOON:.0f}s")
    home.cluster.kubectl(*wait, timeout=SOON + 10)
    (pod,) = away.cluster.pods(f"shop-{home.name}")
    assert pod["status"]["phase"] == "Running"
    if away.cluster.options.kubelet:
        assert "hello from web-" in home.cluster.kubectl("logs", "-n", "shop", "deployment/web")
        assert home.cluster.kubectl("exec", "-n", "shop", "deployment/web", "--", "hostname").startswith("web-")


@pytest.mark.refusals("what is more than the quota is refused")
def test_a_pod_beyond_the_quota_is_refused(pair: Pair) -> None:
    home, away = pair.consumer, pair.provider
    pod = busybox("greedy")
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "3"}}
    # The pod is bound by hand: the scheduler would see that the node is too small.
    home.api.create("pods", "shop", {**pod, "spec": {**pod["spec"], "nodeName": away.name}})

    def told() -> bool:
        said = condition(home.api.get("pods", "shop", "greedy"), "offloading.liqo.io/Offloaded")
        return said.get("reason") == "OffloadingRefused" and "cpu" in said.get("message", "")

    wait_for(told, SOON, "the pod at home to say that it is refused, and why")
    assert not away.cluster.pod(f"shop-{home.name}", "greedy")
    home.cluster.kubectl("delete", "pod", "greedy", "-n", "shop", timeout=SOON)


@pytest.mark.refusals("a pod is made again in a twin namespace that is about to go")
def test_they_part(pair: Pair) -> None:
    home, away = pair.consumer, pair.provider
    home.liqoctl("unoffload", "namespace", "shop", "--skip-confirm")
    home.cluster.kubectl("delete", "namespace", "shop", timeout=SOON)
    home.liqoctl("unpeer", "--remote-kubeconfig", away.cluster.kubeconfig, "--skip-confirm")
    assert not home.api.find("nodes", None, away.name)
    for kind in ("tenants", "quotas", "shadowpods", "namespacemaps"):
        assert not away.api.list(kind)
    for kind in ("virtualnodes", "resourceslices", "identities", "namespacemaps"):
        assert not home.api.list(kind)
    left = lambda: away.api.find("namespaces", None, f"shop-{home.name}")  # noqa: E731
    wait_for(lambda: left() is None, SOON, "the twin namespace to be gone")
