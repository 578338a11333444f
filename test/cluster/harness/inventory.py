"""Everything that is in a cluster, to be compared with what was in it before."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cluster import Cluster

# Kinds whose objects come, go and change by themselves, whatever happens to a peering.
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
