"""Namespaces are offloaded for their labels: no pod of theirs slips by, and one that loses the labels is withdrawn."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from harness import settings
from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.daemons import Daemons
from harness.liqo.liqod import Liqod
from harness.liqo.peering import Peering
from harness.run import Run
from harness.story import is_ready
from harness.tools.liqoctl import Liqoctl
from harness.wait import wait_for

SELECTOR = "team=ml"
HOW_MANY = 100


@pytest.fixture
def peering(run: Run, daemons: Daemons) -> Iterator[Peering]:
    """A consumer with room of its own, so that a pod that slips by runs there."""
    with run.borrow(siena=Options(), parma=Options()) as (consumer, provider):
        consumer.add_kwok_nodes(2), provider.add_kwok_nodes(2)
        flags = ("--offload-namespaces", SELECTOR, "--offload-namespaces-pod-strategy", "Remote")
        liqod = Liqod(consumer, chart.install(consumer), flags=flags)
        chart.allow_namespaces(consumer)
        daemons.of(provider)
        liqod.ensure()
        yield Peering(consumer, provider).establish().wait_ready()


def objects(name: str) -> list[dict[str, Any]]:
    """A namespace and its pod, whose account is in the same file: Kubernetes makes that of the namespace a moment later."""
    pod = busybox("web")
    pod["metadata"]["namespace"] = name
    pod["spec"]["serviceAccountName"] = "web"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web", "namespace": name}}
    labels = {"team": "ml"}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}},
        account,
        {"apiVersion": "v1", "kind": "Pod", **pod},
    ]


def test_no_pod_slips_by_and_a_label_that_goes_brings_the_namespace_back(peering: Peering, tmp_path) -> None:
    home = peering.consumer
    names = [f"train-{number}" for number in range(HOW_MANY)]
    listed = [made for name in names for made in objects(name)]
    file = tmp_path / "apply.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": listed}))
    home.kubectl("apply", "-f", file)

    def pods() -> list[dict[str, Any]]:
        return [pod for pod in home.api.list("pods") if pod["metadata"]["namespace"] in names]

    assert len(pods()) == HOW_MANY
    for pod in pods():
        assert "virtual-node" in json.dumps(pod["spec"].get("affinity", {})), pod["metadata"]

    def all_run() -> bool:
        peering.carry()
        return all(is_ready(pod) for pod in pods())

    wait_for(all_run, 120, "all pods to run")
    assert {pod["spec"]["nodeName"] for pod in pods()} == {peering.node}
    twins = [ns["metadata"]["name"] for ns in peering.provider.api.list("namespaces")]
    assert all(f"{name}-siena" in twins for name in names)

    by_hand = Liqoctl(home).attempt("unoffload", "namespace", names[0], "--skip-confirm")
    assert by_hand.code != 0
    assert f"namespace {names[0]} is offloaded because it has the labels team=ml, and would be again" in by_hand.err

    home.kubectl("label", "namespace", names[0], "team-")

    def is_back() -> bool:
        peering.carry()
        labels = home.api.get("namespaces", None, names[0])["metadata"]["labels"]
        gone = home.api.find("namespaceoffloadings", names[0], "offloading") is None
        twin = peering.provider.api.find("namespaces", None, f"{names[0]}-siena")
        return gone and twin is None and "liqo.io/scheduling-enabled" not in labels

    wait_for(is_back, 60, "the namespace to be offloaded no longer")
    assert home.api.find("namespaceoffloadings", names[1], "offloading")


def test_a_selector_that_means_everything_is_refused() -> None:
    command = [settings.liqod(), "--cluster-id", "siena", "--node-ip", "10.0.0.1", "--offload-namespaces", "team!=ml"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "'team!=ml' selects namespace kube-system, which stays in this cluster" in ended.stderr
