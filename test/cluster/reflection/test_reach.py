"""How offloaded applications are reached: leaders in hand-written Endpoints, doors at a provider, and NetworkPolicies.

bari, whose Services may have two IP families, consumes from lecce, where they have one. The nodes of lecce are fake, so
that what a story writes into the status of an object there stays as it is. The stories follow each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import stays, wait_for

TWIN = "shop-bari"
SHOWN = "offloading.liqo.io/remote-addresses"
PORTS = [{"port": 5432}]
TWO_FAMILIES = "10.96.0.0/16,fd00:10:96::/112"


class Pair:
    """A consumer with an offloaded namespace that has a NetworkPolicy, and what its user read when it was offloaded."""

    def __init__(self, home: Peer, away: Peer, said: str):
        self.home, self.away, self.said = home, away, said

    def run(self, name: str) -> str:
        """Runs a pod at the provider, and returns the address that home shows."""
        pod = busybox(name)
        pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "10m", "memory": "8Mi"}}
        self.home.api.create("pods", "shop", pod)
        return wait_for(lambda: self.home.cluster.pod("shop", name)["status"]["podIP"], 60, f"{name} to have an address")

    def lead_to(self, *addresses: dict[str, Any]) -> None:
        """Writes the Endpoints of Service pg, as a leader does."""
        subsets = [{"addresses": list(addresses), "ports": PORTS}] if addresses else []
        self.home.api.apply("endpoints", "shop", {"kind": "Endpoints", "metadata": {"name": "pg"}, "subsets": subsets})

    def leads_to(self) -> list[str]:
        """Where Service pg leads at the provider."""
        slices = self.away.api.list("endpointslices", TWIN, "kubernetes.io/service-name=pg")
        return sorted(
            address for one in slices for each in one.get("endpoints") or [] for address in each["addresses"]
        )

    def shown(self, resource: str) -> dict[str, list[str]]:
        metadata = self.home.api.get(resource, "shop", "door")["metadata"]
        return json.loads(metadata.get("annotations", {}).get(SHOWN, "{}"))

    def told(self, reason: str) -> list[dict[str, Any]]:
        return [event for event in self.home.api.list("events", "shop") if event.get("reason") == reason]


@pytest.fixture(scope="module")
def pair(run: Run) -> Iterator[Pair]:
    require_programs()
    with run.borrow(bari=Options(service_cidr=TWO_FAMILIES), lecce=Options()) as (bari, lecce):
        lecce.add_kwok_nodes(1)
        home, away = Peer(bari), Peer(lecce)
        home.peer_with(away, "--cpu=2", "--memory=2Gi", "--pods=10")
        bari.namespace("shop")
        policy = {"spec": {"podSelector": {}, "policyTypes": ["Ingress"]}}
        home.api.create("networkpolicies", "shop", {"kind": "NetworkPolicy", "metadata": {"name": "deny"}, **policy})
        done = home.liqoctl.attempt("offload", "namespace", "shop", "--pod-offloading-strategy", "Remote")
        assert done.code == 0, done.err
        yield Pair(home, away, done.out + done.err)


def test_a_namespace_with_networkpolicies_is_told_that_they_do_not_hold_there(pair: Pair) -> None:
    assert "NetworkPolicies of shop do not hold for its pods in other clusters: deny" in pair.said
    (event,) = wait_for(lambda: pair.told("NetworkPoliciesAtHome"), SOON, "an Event about it")
    assert "(deny) does not hold in cluster lecce" in event["message"], event["message"]
    assert TWIN in event["message"] and event["involvedObject"]["kind"] == "NamespaceOffloading"

    def noted() -> str | None:
        offloading = pair.home.api.get("namespaceoffloadings", "shop", "offloading")
        return offloading["metadata"].get("annotations", {}).get("offloading.liqo.io/network-policies-reported")

    # A process that ends between the Event and its note reports again.
    wait_for(noted, SOON, "the note that it was reported")
    pair.home.daemon.restart()
    assert pair.away.api.list("networkpolicies", TWIN) == []


def test_a_leader_that_writes_its_own_address_is_reached_at_the_provider(pair: Pair) -> None:
    leader, other = pair.run("pg-0"), pair.run("pg-1")
    pair.home.api.create("services", "shop", {"kind": "Service", "metadata": {"name": "pg"}, "spec": {"ports": PORTS}})
    pair.lead_to({"ip": leader})
    wait_for(lambda: pair.leads_to() == [leader], SOON, "the Service to lead to the leader, which is declared nowhere")
    # Knative writes the node, too.
    pair.lead_to({"ip": other, "nodeName": "lecce"})
    wait_for(lambda: pair.leads_to() == [other], SOON, "the Service to follow")

    # A leader renews its lease every few seconds, and that writes nothing at the provider.
    def versions() -> list[str]:
        return [one["metadata"]["resourceVersion"] for one in pair.away.api.list("endpointslices", TWIN)]

    before = versions()
    for second in range(3):
        renewal = {"metadata": {"annotations": {"renewTime": f"2026-11-30T05:39:1{second}+00:00"}}}
        pair.home.api.patch("endpoints", "shop", "pg", renewal)
    stays(lambda: versions() == before, 3, "the EndpointSlices of the twin")
    assert not pair.told("AddressLeftOut")
    # What was reported of NetworkPolicies is not repeated by the process that has started since.
    (event,) = pair.told("NetworkPoliciesAtHome")
    assert event.get("count", 1) == 1


def test_no_pod_of_anybody_else_and_no_node_is_reached_so(pair: Pair) -> None:
    own = pair.home.cluster.pod("shop", "pg-0")["status"]["podIP"]
    pair.away.api.create("pods", "default", busybox("vault"))
    theirs = wait_for(lambda: pair.away.cluster.pod("default", "vault")["status"]["podIP"], 60, "the provider's pod")
    # kwok gives its nodes no addresses, and keeps what they have.
    (node,) = pair.away.api.list("nodes")
    machine = "198.51.100.77"
    addresses = [{"type": "InternalIP", "address": machine}]
    pair.away.api.patch("nodes", None, node["metadata"]["name"], {"status": {"addresses": addresses}}, "status")
    pair.lead_to({"ip": own}, {"ip": theirs, "nodeName": "lecce"}, {"ip": machine})
    wait_for(lambda: pair.leads_to() == [own], SOON, "the Service to lead to the consumer's own pod")
    stays(lambda: pair.leads_to() == [own], 2, "the Service")
    # The provider's pod gets the address of a pod that has ended, while the Endpoints go on to name it.
    pair.home.api.delete("pods", "shop", "pg-0")
    wait_for(lambda: pair.leads_to() == [], SOON, "the address to be withdrawn with its pod")
    taken = {"podIP": own, "podIPs": [{"ip": own}]}
    pair.away.api.patch("pods", "default", "vault", {"status": taken}, "status")
    stays(lambda: pair.leads_to() == [], 3, "the Service without the address of somebody else")


@pytest.mark.refusals("a name of a namespace that has no twin is refused by the provider")
def test_what_a_copy_does_in_another_way_is_told_where_the_object_is(pair: Pair) -> None:
    def serve(name: str, **spec: Any) -> None:
        metadata = {"name": name}
        pair.home.api.create("services", "shop", {"kind": "Service", "metadata": metadata, "spec": spec})

    def spec_of(name: str) -> dict[str, Any]:
        copy = pair.away.api.find("services", TWIN, name)
        if copy is None:
            raise LookupError(f"there is no copy of {name}")
        return copy["spec"]

    def about(name: str, reason: str) -> str:
        found = [one for one in pair.told(reason) if one["involvedObject"]["name"] == name]
        assert len(found) == 1 and found[0].get("count", 1) == 1, found
        return found[0]["message"]

    serve("both", ports=PORTS, selector={"app": "pg"}, ipFamilyPolicy="RequireDualStack")
    serve("near", ports=PORTS, selector={"app": "pg"}, internalTrafficPolicy="Local")
    serve("alias", type="ExternalName", externalName="pg.shop.svc.cluster.local")
    serve("other", type="ExternalName", externalName="db.bank.svc.cluster.local")
    rule = {"defaultBackend": {"service": {"name": "near", "port": {"number": 5432}}}}
    pair.home.api.create("ingresses", "shop", {"kind": "Ingress", "metadata": {"name": "classless"}, "spec": rule})

    # A cluster with one family gives what it has.
    wait_for(lambda: spec_of("both")["ipFamilies"] == ["IPv4"], SOON, "the Service with two families to be copied")
    assert "has only IPv4" in wait_for(lambda: about("both", "CopyDiffers"), SOON, "the missing family to be told")
    assert "internalTrafficPolicy is Local" in wait_for(lambda: about("near", "CopyDiffers"), SOON, "local traffic")
    assert "has no class" in wait_for(lambda: about("classless", "CopyDiffers"), SOON, "the missing class to be told")
    # Names get the twin of their namespace, as soon as there is one.
    alias = f"pg.{TWIN}.svc.cluster.local"
    wait_for(lambda: spec_of("alias")["externalName"] == alias, SOON, "the name of the own namespace")
    words = wait_for(lambda: about("other", "AddressLeftOut"), SOON, "the lost name to be told")
    assert "namespace bank is not offloaded" in words, words
    pair.home.cluster.namespace("bank")
    pair.home.liqoctl("offload", "namespace", "bank", "--pod-offloading-strategy", "Remote")
    alias = "db.bank-bari.svc.cluster.local"
    wait_for(lambda: spec_of("other")["externalName"] == alias, 2 * SOON, "the name to follow the twin")
    pair.home.api.delete("services", "shop", "other")
    wait_for(lambda: pair.away.api.find("services", TWIN, "other") is None, SOON, "its copy to go")
    pair.home.liqoctl("unoffload", "namespace", "bank", "--skip-confirm")


@pytest.mark.refusals("pods of a twin that is being removed are made again until their ShadowPods are gone, too")
def test_the_addresses_of_doors_are_shown_at_home_and_go_with_the_copies(pair: Pair) -> None:
    door = {"metadata": {"name": "door"}}
    spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    pair.home.api.create("services", "shop", {"kind": "Service", **door, "spec": spec})
    backend = {"service": {"name": "door", "port": {"number": 80}}}
    pair.home.api.create("ingresses", "shop", {"kind": "Ingress", **door, "spec": {"defaultBackend": backend}})
    given = {"status": {"loadBalancer": {"ingress": [{"ip": "198.51.100.9"}, {"hostname": "lb.example.org"}]}}}
    for resource in ("services", "ingresses"):
        wait_for(lambda: pair.away.api.find(resource, TWIN, "door"), SOON, f"the copy in {resource}")  # noqa: B023
        pair.away.api.patch(resource, TWIN, "door", given, "status")
        wait_for(
            lambda: pair.shown(resource) == {"lecce": ["198.51.100.9", "lb.example.org"]},  # noqa: B023
            2 * SOON,
            f"the addresses to be shown in {resource}",
        )
        status = pair.home.api.get(resource, "shop", "door").get("status", {})
        assert not status.get("loadBalancer"), "home has no address of its own"
        copy = pair.away.api.get(resource, TWIN, "door")["metadata"]
        assert SHOWN not in copy.get("annotations", {})
    described = pair.home.liqoctl("describe", "service", "door", "-n", "shop")
    assert "Addresses at providers" in described and "198.51.100.9, lb.example.org" in described, described
    # The provider takes one back.
    pair.away.api.patch("services", TWIN, "door", {"status": {"loadBalancer": {"ingress": None}}}, "status")
    wait_for(lambda: pair.shown("services") == {}, 2 * SOON, "the addresses of the Service to go")
    pair.home.liqoctl("unoffload", "namespace", "shop", "--skip-confirm")
    assert pair.shown("ingresses") == {}
