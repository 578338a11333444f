"""Objects of Liqo as stories make them: what varies is a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def made(group: str, kind: str, name: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """An object of a kind of Liqo; `metadata` adds to its name."""
    version = f"{group}.liqo.io/v1beta1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def of_peer(cluster: str) -> dict[str, str]:
    """The label of what concerns one peer."""
    return {"liqo.io/remote-cluster-id": cluster}


def replica_labels(consumer: str, provider: str) -> dict[str, str]:
    """Those of what a consumer's liqod has copied to the provider."""
    marks = {"liqo.io/replicated": "true", "liqo.io/replication": "false"}
    return {**marks, "liqo.io/originID": consumer, "liqo.io/remoteID": provider, **of_peer(consumer)}


def one_container(**container: Any) -> dict[str, Any]:
    """The spec of a pod that is not to run: one container, to which `container` adds."""
    return {"containers": [{"name": "main", "image": "busybox", **container}]}


def shadow_pod(name: str, origin: str, pod: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    """A ShadowPod of the consumer `origin` ("": of nobody) for a pod of that spec, or of one container."""
    labels = {"offloading.liqo.io/origin": origin} if origin else {}
    metadata["labels"] = {**labels, **metadata.get("labels", {})}
    return made("offloading", "ShadowPod", name, {"pod": one_container() if pod is None else pod}, **metadata)


def quota(name: str, user: str, resources: Mapping[str, str], **spec: Any) -> dict[str, Any]:
    """A Quota of the user of a slice; `spec` adds to its spec."""
    return made("offloading", "Quota", name, {"user": user, "resources": resources, **spec})


def granted(user: str, resources: Mapping[str, str], **spec: Any) -> dict[str, Any]:
    """The Quota of a user as a provider makes it, of the name of its user, and without enforcement of limits unless `spec`
    says otherwise."""
    return quota(user, user, resources, **{"limitsEnforcement": "None", **spec})


def tenant(consumer: str, labels: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """The Tenant of a consumer, of its name."""
    metadata = {} if labels is None else {"labels": dict(labels)}
    return made("authentication", "Tenant", consumer, {"clusterID": consumer, **spec}, **metadata)


def resource_slice(name: str, labels: Mapping[str, str], spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """A ResourceSlice: at home with the labels `of_peer`, at the provider with `replica_labels`."""
    return made("authentication", "ResourceSlice", name, spec, labels=dict(labels), **metadata)


def virtual_node(name: str, provider: str, **spec: Any) -> dict[str, Any]:
    """A VirtualNode of a provider; `spec` adds to its spec."""
    return made("offloading", "VirtualNode", name, {"clusterID": provider, **spec}, labels=of_peer(provider))
