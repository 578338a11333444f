"""Whoever writes a malformed or impossible object is told what is wrong, and liqod goes on as before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from harness import objects
from harness.cluster.api import MERGE, Refused, path
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.run import Run
from harness.wait import wait_for

pytestmark = pytest.mark.refusals("refusals are what these stories are about")

TENANT, TWIN = "liqo-tenant-rome", "shop-rome"
SLICES, QUOTAS, NODES = path("resourceslices", TENANT), path("quotas", TENANT), path("virtualnodes", TENANT)
# The API server does not read two megabytes; one still reaches the checks of an object.
MEGABYTE = "x" * (1 << 20)


@pytest.fixture(scope="module")
def bergen(run: Run, daemons: object) -> Iterator[Cluster]:
    """A cluster with a tenant namespace, and an object of each kind that can be spoilt."""
    with run.borrow(bergen=Options()) as (cluster,):
        labels = {"liqo.io/remote-cluster-id": "rome"}
        cluster.namespace(TENANT, {**labels, "liqo.io/tenant-namespace": "true"})
        cluster.namespace("liqo-tenant-paris", {"liqo.io/remote-cluster-id": "paris"})
        cluster.namespace(TWIN, labels)
        daemon = Liqod(cluster, chart.install(cluster), webhooks=True).start()
        daemon.wait_asked()
        for resource, namespace, body in GOOD:
            make(cluster, path(resource, namespace), body)
        process = daemon.process
        yield cluster
        assert daemon.process is process and daemon.running


def make(cluster: Cluster, where: str, body: dict[str, Any]) -> None:
    """Makes an object, if liqod has not done so by itself, e.g. the NamespaceMap of a provider with a node."""

    def there() -> bool:
        try:
            cluster.api.request("POST", where, body)
        except Refused as refusal:
            return refusal.code == 409
        return True

    wait_for(there, 30, f"{where} to be made")


def a_slice(name: str, **spec: Any) -> dict[str, Any]:
    return objects.resource_slice(name, objects.of_peer("rome"), **spec)


def a_node(name: str, **spec: Any) -> dict[str, Any]:
    return objects.liqo_object("offloading", "VirtualNode", name, {"clusterID": "rome", "createNode": False, **spec})


def a_tenant(name: str, cluster: str) -> dict[str, Any]:
    return objects.liqo_object("authentication", "Tenant", name, {"clusterID": cluster})


def a_shadow(name: str, **spec: Any) -> dict[str, Any]:
    return objects.shadow_pod(name, "rome", {**objects.one_container(), **spec})


GOOD: list[tuple[str, str | None, dict[str, Any]]] = [
    ("resourceslices", TENANT, a_slice("pool")),
    ("quotas", TENANT, objects.quota("user", "user-1f00", {"cpu": "1"})),
    ("virtualnodes", TENANT, a_node("virtual")),
    ("tenants", TENANT, a_tenant("rome", "rome")),
    ("namespaceoffloadings", "default", objects.offloading("offloading", namespaceMappingStrategy="DefaultName")),
    ("namespacemaps", TENANT, objects.namespace_map("rome")),
    ("foreignclusters", None, objects.liqo_object("core", "ForeignCluster", "lima", {"clusterID": "lima"})),
]


@dataclass(frozen=True)
class Bad:
    """An object that somebody writes, and a word of the answer."""

    what: str
    where: str
    body: Any
    code: int
    word: str
    verb: str = "POST"


BAD = [
    Bad("less than nothing of a slice", SLICES, a_slice("s", resources={"cpu": "-1"}), 422, "cannot be negative"),
    Bad("many of a slice", SLICES, a_slice("s", resources={"cpu": "many"}), 422, "spec.resources"),
    Bad("a list of a slice", SLICES, a_slice("s", resources=["cpu"]), 422, "spec.resources"),
    Bad("an edit to less than nothing", SLICES + "/pool", {"spec": {"resources": {"cpu": "-1"}}}, 422,
        "cannot be negative", "PATCH"),
    Bad("less than nothing of a quota", QUOTAS, objects.quota("q", "q", {"cpu": "-1"}), 422, "cannot be negative"),
    Bad("a quota of nobody", QUOTAS, objects.quota("q", "", {}), 422, "spec.user"),
    Bad("less than nothing of a node", NODES, a_node("n", resourceQuota={"hard": {"cpu": "-1"}}), 422,
        "cannot be negative"),
    Bad("a name that is too long", SLICES, a_slice("s" * 51), 422, "50 characters"),
    Bad("two slices of one name", path("resourceslices", "liqo-tenant-paris"), a_slice("pool"), 403, f"{TENANT}/pool"),
    Bad("two quotas of one user", QUOTAS, objects.quota("q", "user-1f00", {}), 403,
        f"has a Quota already, {TENANT}/user"),
    Bad("a tenant of an unknown cluster", path("tenants", TENANT), a_tenant("oslo", "oslo"), 403,
        'tenant namespace of "rome"'),
    Bad("a tenant in no tenant namespace", path("tenants", "default"), a_tenant("rome", "rome"), 422,
        "not the tenant namespace"),
    Bad("a second tenant", path("tenants", TENANT), a_tenant("second", "rome"), 403, "has a Tenant already, rome"),
    Bad("another cluster of a Tenant", path("tenants", TENANT, "rome"), {"spec": {"clusterID": "oslo"}}, 422,
        "immutable", "PATCH"),
    Bad("another cluster of a ForeignCluster", path("foreignclusters", None, "lima"), {"spec": {"clusterID": "oslo"}},
        422, "immutable", "PATCH"),
    Bad("another cluster of a node", NODES + "/virtual", {"spec": {"clusterID": "oslo"}}, 403,
        "spec.clusterID cannot be changed", "PATCH"),
    Bad("another strategy of an offloading", path("namespaceoffloadings", "default", "offloading"),
        {"spec": {"namespaceMappingStrategy": "EnforceSameName"}}, 403, "namespaceMappingStrategy cannot be changed",
        "PATCH"),
    Bad("an offloading of another name", path("namespaceoffloadings", TWIN), objects.offloading("mine"), 403,
        'must be called "offloading"'),
    Bad("a strategy that does not exist", path("namespaceoffloadings", TWIN),
        objects.offloading("offloading", podOffloadingStrategy="Everywhere"), 422, "Everywhere"),
    Bad("a twin that is a namespace of the system", path("namespacemaps", TENANT, "rome"),
        {"spec": {"desiredMapping": {"a": "kube-system"}}}, 403, "keeps for itself", "PATCH"),
    Bad("one twin of two namespaces", path("namespacemaps", TENANT, "rome"),
        {"spec": {"desiredMapping": {"a": "c", "b": "c"}}}, 403, "is the twin of", "PATCH"),
    Bad("a pod of nobody", path("shadowpods", TWIN), {**a_shadow("x"), "metadata": {"name": "x"}}, 403,
        "offloading.liqo.io/origin is missing"),
    Bad("a pod with a field that nobody knows", path("shadowpods", TWIN) + "?fieldValidation=Strict",
        a_shadow("x", hostDoor=True), 400, 'unknown field "spec.pod.hostDoor"'),
    Bad("a pod without containers", path("shadowpods", TWIN), a_shadow("x", containers=[]), 422,
        "spec.containers is empty"),
    Bad("a pod whose containers are a number", path("shadowpods", TWIN), a_shadow("x", containers=7), 422,
        "spec.pod.containers"),
    Bad("a pod of a user without a quota", path("shadowpods", TWIN), a_shadow("x"), 403,
        "there is no quota for user"),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.what)
def test_it_is_told_what_is_wrong(bergen: Cluster, bad: Bad) -> None:
    kind = MERGE if bad.verb == "PATCH" else "application/json"
    code, answer = bergen.api.raw(bad.verb, bad.where, json.dumps(bad.body).encode(), kind)
    assert code == bad.code and bad.word in answer.decode().replace('\\"', '"'), f"{code} {answer.decode()[:600]}"


@pytest.mark.parametrize("resource", [resource for resource, _, _ in GOOD])
def test_an_annotation_of_a_megabyte_is_too_long(bergen: Cluster, resource: str) -> None:
    namespace, body = next((namespace, body) for kind, namespace, body in GOOD if kind == resource)
    change = json.dumps({"metadata": {"annotations": {"note": MEGABYTE}}}).encode()
    where = path(resource, namespace, body["metadata"]["name"])
    code, answer = bergen.api.raw("PATCH", where, change, MERGE)
    assert code == 422 and "Too long" in answer.decode(), f"{code} {answer.decode()[:600]}"


def test_a_slice_of_a_class_that_nobody_answers_says_so(bergen: Cluster) -> None:
    bergen.api.request("POST", SLICES, a_slice("rare", **{"class": "gold", "providerClusterID": "rome"}))

    def told() -> bool:
        return any("gold" in event["message"] for event in bergen.events(TENANT, "rare"))

    wait_for(told, 60, "an Event that says who has to answer")
    bergen.api.delete("resourceslices", TENANT, "rare")
