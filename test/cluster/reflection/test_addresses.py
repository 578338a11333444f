"""An offloaded pod shows at home only an address that the administrator there has declared for its provider.

vienna consumes from linz, whose nodes are fake, so that what a story writes into the status of a pod there stays as it
is. The stories follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import stays, wait_for

KEY = "liqo.io/remote-pod-cidrs"
STOLEN = "10.96.0.10"  # where the name server of a cluster usually is


class Pair:
    """A consumer with one offloaded pod, which a Service of home selects."""

    def __init__(self, home: Peer, away: Peer):
        self.home, self.away = home, away
        self.tenant = home.home(away)

    def shown(self) -> list[str]:
        """The addresses of the pod at home."""
        pod = self.home.cluster.pod("shop", "web") or {}
        return [one["ip"] for one in pod.get("status", {}).get("podIPs", [])]

    def endpoints(self) -> list[str]:
        slices = self.home.api.list("endpointslices", "shop")
        return [address for one in slices for each in one.get("endpoints") or [] for address in each["addresses"]]

    def real(self) -> str:
        return self.away.cluster.pod("shop-vienna", "web")["status"]["podIP"]

    def report(self, *addresses: str) -> None:
        """Lets the provider say that the pod has these addresses."""
        status = {"podIP": addresses[0], "podIPs": [{"ip": address} for address in addresses]}
        self.away.api.patch("pods", "shop-vienna", "web", {"status": status}, "status")

    def declare(self, text: str | None) -> None:
        self.home.api.patch("foreignclusters", None, "linz", {"metadata": {"annotations": {KEY: text}}})

    def peer(self) -> dict[str, Any]:
        return self.home.api.get("foreignclusters", None, "linz")

    def told(self) -> tuple[str, str, str]:
        """Status, reason and message of the one condition."""
        conditions = self.peer()["status"]["modules"]["networking"].get("conditions") or []
        assert [one["type"] for one in conditions] == ["NetworkConfigurationStatus"]
        (one,) = conditions
        return one["status"], one["reason"], one["message"]

    def events(self, reason: str) -> list[dict[str, Any]]:
        return [event for event in self.home.api.list("events") if event.get("reason") == reason]


@pytest.fixture(scope="module")
def pair(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    require_programs()
    with run.borrow(vienna=Options(), linz=Options()) as (vienna, linz):
        linz.add_kwok_nodes(1)
        pair = Pair(Peer(vienna), Peer(linz))
        _peer(pair, tmp_path_factory.mktemp("peering") / "linz.yaml")
        yield pair


def _peer(pair: Pair, kubeconfig: Path) -> None:
    """By a user who may do nothing but peer: what the provider publishes is for that user to read."""
    kubeconfig.write_text(pair.away.liqoctl("generate", "peering-user", "--consumer-cluster-id", "vienna"))
    done = pair.home.liqoctl.attempt("peer", "--remote-kubeconfig", kubeconfig, "--cpu=1", "--memory=1Gi", "--pods=10")
    assert done.code == 0, done.err
    assert f"pods of linz are in {pair.away.cluster.pod_cidr} (as linz says" in done.err, done.err
    assert f"ranges of pods of linz declared: {pair.away.cluster.pod_cidr}" in done.err, done.err
    pair.home.cluster.namespace("shop")
    pair.home.liqoctl("offload", "namespace", "shop", "--pod-offloading-strategy", "Remote")
    service = {"spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}
    pair.home.api.create("services", "shop", {"kind": "Service", "metadata": {"name": "web"}, **service})
    pod = busybox("web")
    pod["metadata"]["labels"] = {"app": "web"}
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m", "memory": "8Mi"}}
    pair.home.api.create("pods", "shop", pod)
    wait_for(lambda: pair.home.running("shop") == 1, 60, "the pod to run, as seen from home")


@pytest.mark.refusals("a peering user is refused what it need not see, and liqoctl goes on without")
def test_ranges_that_the_provider_publishes_are_declared_and_addresses_shown(pair: Pair) -> None:
    assert pair.peer()["metadata"]["annotations"][KEY] == pair.away.cluster.pod_cidr
    wait_for(lambda: pair.told()[:2] == ("Ready", "PodAddressesDeclared"), SOON, "the condition")
    wait_for(lambda: pair.shown() == [pair.real()], SOON, "the address of the pod to be shown at home")
    wait_for(lambda: pair.endpoints() == [pair.real()], SOON, "the Service of home to lead to the pod")
    wide = pair.home.cluster.kubectl("get", "pods", "-n", "shop", "-o", "wide")
    assert pair.real() in wide, wide


def test_ranges_of_this_cluster_are_refused(pair: Pair) -> None:
    def refused(*flags: str, code: int = 1) -> str:
        done = pair.home.liqoctl.attempt("peer", "--remote-kubeconfig", pair.away.cluster.kubeconfig, *flags)
        assert done.code == code, done.err
        return done.err

    assert "Services (ServiceCIDR kubernetes) in 10.96.0.0/16" in refused("--pod-cidr", "10.96.128.0/24")
    assert "--pod-cidr none" in refused("--pod-cidr", "10.0.0.0/8")
    assert "no range of addresses" in refused("--pod-cidr", "10.9.0.0", code=2)
    taken = refused("--pod-cidr", pair.away.cluster.pod_cidr, "--local-cidr", pair.away.cluster.pod_cidr)
    assert "--local-cidr" in taken
    assert pair.peer()["metadata"]["annotations"][KEY] == pair.away.cluster.pod_cidr


def test_a_provider_that_lies_gets_no_address_of_home_into_home(pair: Pair) -> None:
    before = pair.real()
    pair.report(STOLEN)
    wait_for(lambda: pair.shown() == [], SOON, "the address to be left out at home")
    (event,) = wait_for(lambda: pair.events("AddressLeftOut"), SOON, "an Event about it")
    assert STOLEN in event["message"] and pair.away.cluster.pod_cidr in event["message"] and KEY in event["message"]
    stays(lambda: STOLEN not in pair.shown() + pair.endpoints(), 2, "home without the stolen address")
    # Of two addresses only the declared one is shown; an address that is wrong again is not reported again.
    pair.report("10.96.0.1")
    pair.report(before, "fd00:96::10")
    wait_for(lambda: pair.shown() == [before], SOON, "the right address to be back")
    wait_for(lambda: pair.endpoints() == [before], SOON, "the Service to lead to the pod again")
    pair.report(before)
    assert [one.get("count", 1) for one in pair.events("AddressLeftOut")] == [1]


def test_none_means_no_addresses_and_no_declaration_likewise(pair: Pair) -> None:
    pair.declare("none")
    wait_for(lambda: pair.shown() == [], SOON, "the address to go")
    wait_for(lambda: pair.told()[:2] == ("None", "PodAddressesNone"), SOON, "the condition")
    pair.declare(None)
    wait_for(lambda: pair.told()[:2] == ("NotReady", "PodAddressesUndeclared"), SOON, "the condition to say why")
    assert f"kubectl annotate foreigncluster linz --overwrite {KEY}=" in pair.told()[2]
    assert "kubectl annotate foreigncluster" in pair.home.liqoctl("info", "peer", "linz", "--get", "network")
    stays(lambda: pair.shown() == [], 1, "the pod without address")
    pair.declare("10.250.0.0/16, " + pair.away.cluster.pod_cidr)
    wait_for(lambda: pair.shown() == [pair.real()], SOON, "the address to be back")
    pair.declare("10.250.0.0")
    wait_for(lambda: pair.told()[:2] == ("NotReady", "PodAddressesInvalid"), SOON, "the mistake to be told")
    wait_for(lambda: pair.shown() == [], SOON, "the address to go")


def test_what_the_network_maps_is_shown_as_it_is_reached_from_here(pair: Pair) -> None:
    api, real = pair.home.api, pair.real()
    metadata = {"name": "linz", "labels": {"liqo.io/remote-cluster-id": "linz"}}
    remote = {"remote": {"cidr": {"pod": [pair.away.cluster.pod_cidr], "external": ["10.70.0.0/16"]}}}
    seen = {"remote": {"cidr": {"pod": ["10.62.0.0/16"], "external": ["10.71.0.0/16"]}}}
    body = {"kind": "Configuration", "metadata": metadata, "spec": remote}
    generation = api.create("configurations", pair.tenant, body)["metadata"]["generation"]
    pair.declare(None)
    wait_for(lambda: "has no ranges yet" in pair.told()[2], SOON, "the condition to name the Configuration")
    assert pair.shown() == []
    configured = {"type": "NetworkCIDRsConfigured", "status": "True", "reason": "Configured", "message": ""}
    configured |= {"observedGeneration": generation, "lastTransitionTime": "2026-01-01T00:00:00Z"}
    api.patch("configurations", pair.tenant, "linz", {"status": {**seen, "conditions": [configured]}}, "status")
    mapped = "10.62." + real.split(".", 2)[2]
    wait_for(lambda: pair.shown() == [mapped], SOON, "the address as the network maps it")
    wait_for(lambda: pair.endpoints() == [mapped], SOON, "the Service to lead there")
    wait_for(lambda: pair.told()[:2] == ("Ready", "NetworkConfigurationPresence"), SOON, "the condition to say so")
    # The network has remapped one address.
    api.create("ips", pair.tenant, {"kind": "IP", "metadata": {"name": "one"}, "spec": {"ip": "192.0.2.9"}})
    pair.report("192.0.2.9")
    wait_for(lambda: pair.shown() == [], SOON, "an address without its place to be left out")
    api.patch("ips", pair.tenant, "one", {"status": {"ip": "10.70.0.1", "cidr": "10.70.0.0/16"}}, "status")
    wait_for(lambda: pair.shown() == ["10.70.0.1"], SOON, "the address that was assigned")
    api.delete("ips", pair.tenant, "one")
    api.delete("configurations", pair.tenant, "linz")
    pair.report(real)
    wait_for(lambda: pair.told()[1] == "PodAddressesUndeclared", SOON, "the mapping to be gone")
    wait_for(lambda: pair.shown() == [], SOON, "the address to go with it")


def test_a_peering_that_is_older_than_declarations_goes_on_with_a_warning(pair: Pair) -> None:
    pair.home.daemon.stop()
    # An older version left a status with the peer's role and no condition about addresses.
    status = {"modules": {"networking": {"enabled": False, "conditions": None}}}
    pair.home.api.patch("foreignclusters", None, "linz", {"status": status}, "status")
    pair.report("172.16.99.99")
    pair.home.daemon.start()
    wait_for(lambda: pair.told()[:2] == ("NotReady", "PodAddressesUnchecked"), SOON, "the warning")
    wait_for(lambda: pair.shown() == ["172.16.99.99"], SOON, "every address to be shown, as before")
    (event,) = wait_for(lambda: pair.events("PodAddressesUnchecked"), SOON, "an Event about it")
    assert "kubectl annotate foreigncluster linz" in event["message"]
    pair.home.daemon.restart()
    wait_for(lambda: pair.shown() == ["172.16.99.99"], SOON, "the address to be there still")
    assert [one.get("count", 1) for one in pair.events("PodAddressesUnchecked")] == [1]
    # An administrator mends this by peering again.
    pair.home.peer_with(pair.away)
    assert pair.peer()["metadata"]["annotations"][KEY] == pair.away.cluster.pod_cidr
    wait_for(lambda: pair.told()[:2] == ("Ready", "PodAddressesDeclared"), SOON, "the warning to go")
    wait_for(lambda: pair.shown() == [], SOON, "the wrong address to go")
