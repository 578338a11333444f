"""The API of a cluster: kinds that were added to it, and APIs and ports behind its own server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cluster import Cluster


def kinds_established(cluster: Cluster, group: str = "") -> bool:
    """Whether there are CustomResourceDefinitions whose group ends with `group`, and all of them are served."""
    kinds = [kind for kind in cluster.api.list("customresourcedefinitions") if kind["spec"]["group"].endswith(group)]
    return bool(kinds) and all(_has_condition(kind, "Established") for kind in kinds)


def api_available(cluster: Cluster, name: str) -> bool:
    """Whether the API server reaches what an APIService leads to."""
    return _has_condition(cluster.api.find("apiservices", None, name) or {}, "Available")


def listens(cluster: Cluster, port: int) -> bool:
    """Whether a program takes connections at the address of the cluster."""
    try:
        cluster.space.connect(cluster.address, port, 3).close()
    except OSError:
        return False
    return True


def _has_condition(found: dict, kind: str) -> bool:
    conditions = found.get("status", {}).get("conditions") or []
    return any(one["type"] == kind and one["status"] == "True" for one in conditions)
