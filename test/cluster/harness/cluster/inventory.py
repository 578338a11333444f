"""Lists everything that is in a cluster, so that it can be compared with what was there before."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..wait import wait_for

if TYPE_CHECKING:
    from .cluster import Cluster

# Kinds whose objects come, go and change by themselves, without any peering.
RESTLESS = {
    "certificatesigningrequests",
    "componentstatuses",
    "endpointslices",
    "events",
    "leases",
    "replicasets",
}
# What Kubernetes keeps up to date by itself in objects that nobody touches; of Quotas it is ours, and for people only.
_MOVING_METADATA = ("resourceVersion", "managedFields", "generation")
_MOVING_STATUS = {"nodes", "apiservices", "flowschemas", "prioritylevelconfigurations", "quotas"}

Inventory = dict[str, dict[str, Any]]


def take(cluster: Cluster) -> Inventory:
    """Every object of the cluster by its path, without what changes by itself."""
    found: Inventory = {}
    groups = cluster.api.request("GET", "/apis")["groups"]
    for group in ["/api/v1", *(f"/apis/{one['preferredVersion']['groupVersion']}" for one in groups)]:
        if "metrics" in group:
            continue
        for resource in cluster.api.request("GET", group)["resources"]:
            name = resource["name"]
            if "/" in name or "list" not in resource["verbs"] or name in RESTLESS:
                continue
            for item in cluster.api.request("GET", f"{group}/{name}")["items"]:
                metadata = item["metadata"]
                place = f"{group}/{metadata.get('namespace', '')}/{name}/{metadata['name']}"
                found[place] = _at_rest(name, item)
    return found


def beside_kinds(lines: list[str]) -> list[str]:
    """Of such differences those that are more than kinds that are there, and that Kubernetes notes to serve them."""
    return [line for line in lines if "/customresourcedefinitions/" not in line and "/apiservices/" not in line]


def of_new_cluster(cluster: Cluster) -> Inventory:
    """Every object of a cluster that has just started, once Kubernetes has done all that it does by itself, and liqod
    if it runs there."""

    def is_complete() -> bool:
        spaces = [space["metadata"]["name"] for space in cluster.api.list("namespaces")]
        nodes = cluster.api.list("nodes")
        collected = [role for role in cluster.api.list("clusterroles") if role.get("aggregationRule")]
        kubelets = [node for node in nodes if node["metadata"].get("labels", {}).get("type") != "kwok"]
        return (
            len(spaces) >= 4
            and all(role.get("rules") for role in collected)
            and not any(node["spec"].get("taints") for node in nodes)
            and len(cluster.api.list("csinodes")) == len(kubelets)
            and all(
                cluster.api.find("configmaps", space, "kube-root-ca.crt")
                and cluster.api.find("serviceaccounts", space, "default")
                for space in spaces
            )
        )

    wait_for(is_complete, 60, f"{cluster.name} to be complete")
    return at_rest(cluster)


def at_rest(cluster: Cluster, look: Callable[[Cluster], Inventory] = take) -> Inventory:
    """What `look` sees once nothing has changed for two seconds: controllers may still write what was asked before."""
    seen: list[Inventory] = []

    def is_at_rest() -> bool:
        seen.append(look(cluster))
        return len(seen) > 2 and seen[-1] == seen[-2] == seen[-3]

    wait_for(is_at_rest, 60, f"{cluster.name} to be at rest for a moment", interval=1)
    return seen[-1]


def _at_rest(resource: str, item: dict[str, Any]) -> dict[str, Any]:
    kept = copy.deepcopy(item)
    for key in _MOVING_METADATA:
        kept["metadata"].pop(key, None)
    if resource in _MOVING_STATUS:
        kept.pop("status", None)
    return kept


def differences(before: Inventory, after: Inventory) -> list[str]:
    """One line for each object that is new, gone or not what it was, with the parts that differ."""
    told = [f"new: {path}" for path in sorted(after.keys() - before.keys())]
    told += [f"gone: {path}" for path in sorted(before.keys() - after.keys())]
    for path in sorted(before.keys() & after.keys()):
        changed = _parts(before[path], after[path])
        if changed:
            told.append(f"changed: {path}: {'; '.join(changed)}"[:1000])
    return told


def _parts(before: Any, after: Any, where: str = "") -> list[str]:
    if before == after:
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        keys = sorted(before.keys() | after.keys())
        return [part for key in keys for part in _parts(before.get(key), after.get(key), f"{where}.{key}")]
    return [f"{where} was {json.dumps(before)} and is {json.dumps(after)}"]
