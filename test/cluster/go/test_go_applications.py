"""Applications with a Go Liqo on the other side, which offers little of what they need: their pods run all the same.

Not part of a plain run: `tools/test go-peer` needs a release of the Go Liqo.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from harness.cluster.components import Options
from harness.liqo.hostile import annotate_policy
from harness.liqo.peers import Peer
from harness.run import Run
from harness.tools import go_stories
from harness.tools.go_liqo import GoPeer
from harness.tools.go_stories import ASKED, phase, pinned
from harness.wait import stays, wait_for

pytestmark = pytest.mark.go_peer

SOON = 60.0
READY = "tekton.dev/ready"
MESH = "sidecar.istio.io/inject"
WEB = {"matchLabels": {"app": "web"}}


@dataclass
class Mixed:
    """umea has the Go Liqo and vaasa ours, each with a kubelet."""

    go: GoPeer
    ours: Peer


@pytest.fixture(scope="module")
def mixed(run: Run) -> Iterator[Mixed]:
    release = go_stories.release()
    with run.borrow(umea=Options(kubelet=True), vaasa=Options(kubelet=True)) as (umea, vaasa):
        yield Mixed(GoPeer(umea, release), Peer(vaasa))


def web(node: str) -> dict[str, Any]:
    """A pod that reads about itself, is spread over zones, and wants no mesh."""
    pod = pinned("web", node, "echo $UID $NODE; sleep 1000000")
    (main,) = pod["spec"]["containers"]
    fields = {"UID": "metadata.uid", "NODE": "spec.nodeName"}
    main["env"] = [{"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in fields.items()]
    main["volumeMounts"] = [{"name": "info", "mountPath": "/info"}]
    items = [{"path": "ready", "fieldRef": {"fieldPath": f"metadata.annotations['{READY}']"}}]
    pod["spec"]["volumes"] = [{"name": "info", "downwardAPI": {"items": items}}]
    pod["metadata"] |= {"labels": {"app": "web", MESH: "false"}, "annotations": {READY: "no"}}
    return pod


def spread() -> list[dict[str, Any]]:
    return [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
             "labelSelector": WEB, "minDomains": 1}]  # fmt: skip


def times_told(mixed: Mixed, reason: str) -> int:
    found = mixed.ours.api.list("events", "moved", fields=f"reason={reason}")
    return sum(event.get("count") or 1 for event in found)


def test_a_pod_of_ours_reads_and_is_spread_as_home_says_at_a_go_provider(mixed: Mixed) -> None:
    ours, go = mixed.ours, mixed.go
    ranges = ("--pod-cidr", go.cluster.pod_cidr)
    ours.liqoctl("peer", "--remote-kubeconfig", go.cluster.kubeconfig, *ranges, *ASKED)
    wait_for(lambda: ours.node_ready("umea"), SOON, "the node of umea to be Ready in vaasa")
    ours.cluster.namespace("moved")
    ours.liqoctl("offload", "namespace", "moved", "--pod-offloading-strategy", "Remote")
    ours.api.create("poddisruptionbudgets", "moved", {
        "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": {"selector": WEB, "minAvailable": 1},
    })  # fmt: skip
    # Home counts its own zones; the virtual node has none, so the pod is bound by hand.
    pod = web("umea")
    pod["spec"] |= {"topologySpreadConstraints": spread(), "nodeName": "umea"}
    uid = ours.api.create("pods", "moved", pod)["metadata"]["uid"]
    wait_for(lambda: phase(ours.cluster, "moved", "web") == "Running", SOON, "the pod to be Running at home")
    assert go.cluster.kubectl("logs", "-n", "moved-vaasa", "web") == f"{uid} umea\n"
    remote = go.cluster.pod("moved-vaasa", "web")
    assert remote
    (sent,) = remote["spec"]["topologySpreadConstraints"]
    assert sent["whenUnsatisfiable"] == "ScheduleAnyway" and "minDomains" not in sent
    # It obeys the label: without it, its mesh would add a container.
    assert remote["metadata"]["labels"][MESH] == "false"

    ours.api.patch("pods", "moved", "web", {"metadata": {"annotations": {READY: "yes"}}})
    read = lambda: go.cluster.kubectl("exec", "-n", "moved-vaasa", "web", "--", "cat", "/info/ready")  # noqa: E731
    wait_for(lambda: read() == "yes", 2 * SOON, "the pod to read what has changed")


def test_what_a_go_provider_does_not_offer_is_told_once(mixed: Mixed) -> None:
    reasons = ("DisruptionBudgetsNotHeld", "NamesNotResolved")
    for reason in reasons:
        wait_for(lambda: times_told(mixed, reason), SOON, f"the Event {reason}")  # noqa: B023
    stays(lambda: all(times_told(mixed, reason) == 1 for reason in reasons), 15, "each Event")
    assert not mixed.go.api.list("poddisruptionbudgets", "moved-vaasa")
    # It gives no right to read the twin, so nothing in it names that as its owner.
    (shadow,) = mixed.go.api.list("shadowpods", "moved-vaasa")
    assert not shadow["metadata"].get("ownerReferences")
    mixed.ours.liqoctl("unoffload", "namespace", "moved", "--skip-confirm")
    wait_for(lambda: not mixed.go.api.find("namespaces", None, "moved-vaasa"), SOON, "the twin namespace to be gone")
    mixed.ours.liqoctl("unpeer", "--remote-kubeconfig", mixed.go.cluster.kubeconfig, "--skip-confirm")


@pytest.mark.refusals("the Go virtual kubelet runs on when its rights are gone")
def test_a_pod_of_a_go_consumer_runs_without_what_it_asks_of_no_mesh(mixed: Mixed) -> None:
    ours, go = mixed.ours, mixed.go
    go.liqoctl(
        "peer", "--remote-kubeconfig", ours.cluster.kubeconfig, "--networking-disabled", "--timeout=60s", *ASKED,
        "--create-virtual-node=true",
    )  # fmt: skip
    go.run_virtual_kubelet("vaasa", "liqo-tenant-vaasa", 10260)
    wait_for(lambda: go.node_ready("vaasa"), SOON, "the node of vaasa to be Ready in umea")
    # A Go consumer sends no budgets, and no owners; what is offered to it changes nothing.
    annotate_policy(ours.cluster, "liqo-tenant-umea", '{"disruptionBudgets": {"maxBlock": "10m"}}')
    go.cluster.namespace("shop")
    go.liqoctl("offload", "namespace", "shop", "--pod-offloading-strategy", "Remote")
    words = {"kind": "ConfigMap", "metadata": {"name": "words"}, "data": {"word": "afar"}}
    go.cluster.api.create("configmaps", "shop", words)
    go.cluster.api.create("pods", "shop", web("vaasa"))
    wait_for(lambda: phase(go.cluster, "shop", "web") == "Running", SOON, "the pod to be Running at home")
    remote = ours.cluster.pod("shop-umea", "web")
    assert remote and MESH not in remote["metadata"]["labels"] and remote["metadata"]["labels"]["app"] == "web"
    # It reads what the provider knows, as always with that version.
    assert ours.cluster.kubectl("logs", "-n", "shop-umea", "web").split()[0] == remote["metadata"]["uid"]
    copy = wait_for(lambda: ours.api.find("configmaps", "shop-umea", "words"), SOON, "the ConfigMap in vaasa")
    assert not copy["metadata"].get("ownerReferences")
    go.liqoctl("unoffload", "namespace", "shop", "--skip-confirm")
    wait_for(lambda: not ours.api.find("namespaces", None, "shop-umea"), SOON, "the twin namespace to be gone")
