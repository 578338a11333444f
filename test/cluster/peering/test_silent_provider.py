"""A provider whose liqod is away is told of wherever people look at home, and what waits runs soon after it is back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster.callers import WEBHOOK_PORT
from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import stays, wait_for

CONDITION = "offloading.liqo.io/Offloaded"
SILENT = "Liqo of cluster tyre has not run since "
SHOP = "shop"


class Pair:
    """sidon consumes and tyre, which has fake nodes, provides."""

    def __init__(self, consumer: Peer, provider: Peer):
        self.consumer, self.provider = consumer, provider
        self.home = consumer.home(provider)

    def create(self, name: str) -> None:
        pod = busybox(name, nodeSelector={"liqo.io/type": "virtual-node"})
        self.consumer.api.create("pods", SHOP, {"kind": "Pod", **pod})

    def pod(self, name: str) -> dict[str, Any]:
        return self.consumer.api.get("pods", SHOP, name)

    def runs(self, name: str) -> bool:
        return self.pod(name)["status"].get("phase") == "Running"

    def told(self, name: str) -> str:
        conditions = self.pod(name)["status"].get("conditions", [])
        return next((c.get("message", "") for c in conditions if c["type"] == CONDITION), "")

    def closed(self, name: str) -> str:
        """What the Event says for which it has no node; "" = there is none."""
        events = self.consumer.cluster.events(SHOP, name)
        return next((one["message"] for one in events if one.get("reason") == "VirtualNodeClosed"), "")

    def taint(self) -> str:
        taints = self.consumer.api.get("nodes", None, "tyre")["spec"].get("taints", [])
        return next((taint["value"] for taint in taints if taint["key"] == "virtual-node.liqo.io/closed"), "")

    def renewed(self) -> str:
        return self.provider.api.get("leases", "liqo", "liqod")["spec"].get("renewTime", "")

    def close(self) -> None:
        self.provider.daemon.ensure()
        self.consumer.api.delete_all("pods", SHOP, grace=0)
        wait_for(lambda: not self.consumer.cluster.pods(SHOP), 60, "the pods to go")
        wait_for(lambda: not self.taint(), 60, "the node to be open")


@pytest.fixture(scope="module")
def peers(run: Run) -> Iterator[Pair]:
    require_programs()
    with run.borrow(sidon=Options(), tyre=Options()) as (sidon, tyre):
        tyre.add_kwok_nodes(1)
        consumer, provider = Peer(sidon), Peer(tyre, ("--leader-elect",))
        consumer.peer_with(provider)
        sidon.namespace(SHOP)
        consumer.liqoctl("offload", "namespace", SHOP)
        yield Pair(consumer, provider)
        for peer in (consumer, provider):
            peer.daemon.stop()


@pytest.fixture
def pair(peers: Pair) -> Iterator[Pair]:
    yield peers
    peers.close()


def test_a_provider_that_is_scaled_to_none_and_back(pair: Pair) -> None:
    pair.create("before")
    wait_for(lambda: pair.runs("before"), SOON, "the first pod to run")
    pair.provider.daemon.stop()
    pair.create("waiting")
    wait_for(lambda: pair.told("waiting").startswith(SILENT), 20, "the pod to say who is away")
    assert "order" not in pair.told("waiting"), pair.told("waiting")
    events = lambda: pair.consumer.cluster.events(SHOP, "waiting")  # noqa: E731
    silent = lambda: [one["message"] for one in events() if one.get("reason") == "ProviderSilent"]  # noqa: E731
    wait_for(silent, SOON, "an Event that says so")
    assert "; it has 1 order of yours" in silent()[0], silent()
    assert "; it has 1 order of yours" in pair.consumer.liqoctl("info", "peer", "tyre")
    assert SILENT in pair.consumer.liqoctl("info")
    assert SILENT in pair.consumer.liqoctl("info", "peer", "tyre")
    assert SILENT in pair.consumer.liqoctl.attempt("check").out
    virtual_node = pair.consumer.api.get("virtualnodes", pair.home, "tyre")
    assert any(SILENT in c.get("message", "") for c in virtual_node["status"]["conditions"])
    pair.consumer.cluster.namespace("late")
    offloading = pair.consumer.liqoctl.attempt("offload", "namespace", "late", "--timeout", "5s")
    assert offloading.code != 0 and SILENT in offloading.err + offloading.out
    slices = ("create", "resourceslice", "more", "--remote-cluster-id", "tyre", "--timeout", "8s")
    asking = pair.consumer.liqoctl.attempt(*slices)
    assert asking.code != 0 and SILENT in asking.err + asking.out
    wait_for(lambda: pair.taint() == "silent", 90, "the node to take no new pods")
    pair.create("newcomer")
    wait_for(lambda: pair.closed("newcomer"), 60, "the pod that comes now to say why nothing takes it")
    assert "Liqo does not run in cluster tyre" in pair.closed("newcomer"), pair.closed("newcomer")
    stays(lambda: pair.runs("before") and pair.taint() == "silent", 10, "what runs, and the node")

    pair.provider.daemon.start()
    wait_for(lambda: pair.runs("waiting"), 10, "the waiting pod to run")
    wait_for(lambda: pair.runs("newcomer"), SOON, "the pod that came after the taint to run")
    wait_for(lambda: not pair.taint(), SOON, "the node to be open again")
    assert not pair.told("waiting")
    assert SILENT not in pair.consumer.liqoctl("info")
    pair.consumer.liqoctl("delete", "resourceslice", "more", "--skip-confirm")
    pair.consumer.liqoctl("unoffload", "namespace", "late", "--skip-confirm")


def test_a_provider_whose_webhooks_alone_are_away(pair: Pair) -> None:
    """The words of its API server are told; somebody leads, so that nothing else is."""
    command = list(pair.provider.daemon.command)
    url = ["--webhook-url", f"https://{pair.provider.cluster.address}:{WEBHOOK_PORT}"]
    at = command.index(url[0])
    assert command[at : at + 2] == url
    pair.provider.daemon.command = [*command[:at], "--webhook-port", "0", *command[at + 2 :]]
    try:
        pair.provider.daemon.restart()
        pair.create("waiting")
        wait_for(lambda: "failed calling webhook" in pair.told("waiting"), 40, "the pod to say what the server says")
        assert pair.told("waiting").startswith("cluster tyre cannot take the pod at present: ")
        stays(lambda: not pair.taint() and SILENT not in pair.told("waiting"), 20, "the open node")
    finally:
        pair.provider.daemon.command = command
        pair.provider.daemon.restart()
    pair.provider.daemon.wait_asked()
    wait_for(lambda: pair.runs("waiting"), 10, "the pod to run once the webhooks answer")
    assert not pair.told("waiting")


def test_a_provider_that_dies_again_and_again(pair: Pair) -> None:
    """Each process renews the Lease and is gone: what is told stays, and changes few objects."""
    pair.provider.daemon.kill()
    pair.create("waiting")
    wait_for(lambda: pair.told("waiting").startswith(SILENT), 60, "the pod to say who is away")
    before = pair.pod("waiting")["metadata"]["resourceVersion"]
    wait_for(lambda: pair.taint() == "silent", 90, "the node to take no new pods")
    informed = lambda: pair.told("waiting").startswith(SILENT) or pair.runs("waiting")  # noqa: E731
    for _ in range(2):
        seen = pair.renewed()
        pair.provider.daemon.start(ready_within=0)
        wait_for(lambda seen=seen: pair.renewed() != seen, 60, "the next process to lead")
        pair.provider.daemon.kill()
        # That process may have made the pod: between what was told before and its running is a moment.
        stays(lambda: wait_for(informed, 2, "what is told"), 10, "what is told")
    assert pair.runs("waiting") or pair.pod("waiting")["metadata"]["resourceVersion"] == before
    seen = pair.renewed()
    pair.provider.daemon.start()
    # The Lease of the process that was killed has to run out first.
    wait_for(lambda: pair.renewed() != seen, 60, "the process that stays to lead")
    wait_for(lambda: pair.runs("waiting"), 10, "the pod to run once the Lease is renewed")
