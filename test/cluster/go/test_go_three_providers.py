"""One Deployment runs at three providers, one with the Go Liqo; what fails there costs only its share of the pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo.peers import Peer
from harness.run import Run
from harness.story import is_ready
from harness.tools import go_stories
from harness.tools.go_liqo import GoPeer
from harness.tools.go_stories import ASKED, pinned
from harness.wait import wait_for

pytestmark = pytest.mark.go_peer

LONG = 120.0
HERE, THERE = "fleet", "fleet-vasa"
PROVIDERS = ("oulu", "pori", "riga")
REPLICAS = 6


@dataclass
class Fleet:
    """vasa consumes from oulu and pori, which have ours, and from riga, which has the Go Liqo."""

    home: Peer
    providers: dict[str, Cluster]
    riga: GoPeer


@pytest.fixture(scope="module")
def fleet(run: Run) -> Iterator[Fleet]:
    release = go_stories.release()
    real = Options(kubelet=True)
    with run.borrow(vasa=Options(), oulu=real, pori=Options(), riga=real) as (vasa, oulu, pori, riga):
        pori.add_kwok_nodes(2)
        with ThreadPoolExecutor(3) as pool:
            home, *_ = pool.map(Peer, (vasa, oulu, pori))
        yield Fleet(home, {"oulu": oulu, "pori": pori, "riga": riga}, GoPeer(riga, release))


def by_provider(fleet: Fleet) -> dict[str, dict[str, tuple[str, bool]]]:
    """The pods at home by their nodes: UID, and whether each is Ready."""
    found: dict[str, dict[str, tuple[str, bool]]] = {name: {} for name in PROVIDERS}
    for pod in fleet.home.cluster.pods(HERE):
        node = pod["spec"].get("nodeName", "")
        found.setdefault(node, {})[pod["metadata"]["name"]] = (pod["metadata"]["uid"], is_ready(pod))
    return found


def remote_uids(fleet: Fleet, provider: str) -> dict[str, str]:
    pods = fleet.providers[provider].pods(THERE)
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}


def deployment() -> dict[str, Any]:
    spec = pinned("fleet", "", "sleep 1000000")["spec"]
    spec["nodeSelector"] = {"liqo.io/type": "virtual-node"}
    labels = {"app": "fleet"}
    spec["topologySpreadConstraints"] = [
        {
            "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": labels},
        }
    ]  # fmt: skip
    body = {"replicas": REPLICAS, "selector": {"matchLabels": labels}}
    body["template"] = {"metadata": {"labels": labels}, "spec": spec}
    return {"kind": "Deployment", "metadata": {"name": "fleet"}, "spec": body}


def test_a_deployment_is_spread_over_providers_of_both_versions(fleet: Fleet) -> None:
    home = fleet.home
    for provider in fleet.providers.values():
        home.liqoctl("peer", "--remote-kubeconfig", provider.kubeconfig, "--pod-cidr", provider.pod_cidr, *ASKED)
    for name in PROVIDERS:
        wait_for(lambda name=name: home.node_ready(name), LONG, f"the node of {name} to be Ready")
    home.cluster.namespace(HERE)
    home.liqoctl("offload", "namespace", HERE, "--pod-offloading-strategy", "Remote")
    home.api.create("deployments", HERE, deployment())

    def spread() -> bool:
        found = by_provider(fleet)
        ready = Counter({name: sum(is_up for _, is_up in pods.values()) for name, pods in found.items()})
        assert ready == Counter(dict.fromkeys(PROVIDERS, 2)), f"ready pods by node: {dict(ready)}"
        return True

    wait_for(spread, LONG, "two pods to be ready at each provider")
    for name in PROVIDERS:
        assert set(remote_uids(fleet, name)) == set(by_provider(fleet)[name])


def test_only_the_share_of_a_go_provider_that_is_cut_off_suffers(fleet: Fleet) -> None:
    home, before = fleet.home, by_provider(fleet)
    remote = {name: remote_uids(fleet, name) for name in PROVIDERS}
    network = home.cluster.network
    network.cut("riga")
    try:
        wait_for(lambda: not home.node_ready("riga"), LONG, "the node of riga not to be Ready")
        wait_for(lambda: not any(up for _, up in by_provider(fleet)["riga"].values()), LONG, "its pods not to be ready")
        now = by_provider(fleet)
        assert {name: now[name] for name in ("oulu", "pori")} == {name: before[name] for name in ("oulu", "pori")}
    finally:
        network.heal("riga")
    wait_for(lambda: home.node_ready("riga"), LONG, "the node of riga to be Ready again")
    wait_for(lambda: by_provider(fleet) == before, LONG, "every pod to be as it was")
    assert {name: remote_uids(fleet, name) for name in PROVIDERS} == remote


def test_a_go_provider_leaves_and_its_share_goes_to_the_others(fleet: Fleet) -> None:
    home, before = fleet.home, by_provider(fleet)
    home.liqoctl("unpeer", "--remote-kubeconfig", fleet.providers["riga"].kubeconfig, "--skip-confirm")

    def moved() -> bool:
        found = by_provider(fleet)
        ready = {name: sum(is_up for _, is_up in pods.values()) for name, pods in found.items() if pods}
        assert ready == {"oulu": 3, "pori": 3}, f"ready pods by node: {ready}"
        return True

    wait_for(moved, LONG, "all pods to run at the providers of ours")
    now = by_provider(fleet)
    for name in ("oulu", "pori"):
        assert before[name].items() <= now[name].items()
