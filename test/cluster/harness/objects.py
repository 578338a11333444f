"""Objects of Liqo as stories make them: what varies is a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def liqo_object(group: str, kind: str, name: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """An object of a kind of Liqo; `metadata` adds to its name."""
    version = f"{group}.liqo.io/v1beta1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def of_peer(cluster: str) -> dict[str, str]:
    """The label of what concerns one peer."""
    return {"liqo.io/remote-cluster-id": cluster}


def replica_labels(consumer: str, provider: str) -> dict[str, str]:
    """Labels of a replica at the provider, which a consumer's liqod has copied."""
    marks = {"liqo.io/replicated": "true", "liqo.io/replication": "false"}
    return {**marks, "liqo.io/originID": consumer, "liqo.io/remoteID": provider, **of_peer(consumer)}


def one_container(**container: Any) -> dict[str, Any]:
    """The spec of a pod that is not to run: one container, to which `container` adds."""
    return {"containers": [{"name": "main", "image": "busybox", **container}]}


def endpoints(*addresses: str) -> list[dict[str, Any]]:
    """The endpoints of an EndpointSlice, a ready one at each address."""
    return [{"addresses": [address], "conditions": {"ready": True}} for address in addresses]


def shadow_pod(name: str, origin: str, pod: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    """A ShadowPod of the consumer `origin` ("": of nobody) for a pod of that spec, or of one container."""
    labels = {"offloading.liqo.io/origin": origin} if origin else {}
    metadata["labels"] = {**labels, **metadata.get("labels", {})}
    return liqo_object("offloading", "ShadowPod", name, {"pod": one_container() if pod is None else pod}, **metadata)


def quota(name: str, user: str, resources: Mapping[str, str], **spec: Any) -> dict[str, Any]:
    """A Quota of the user of a slice; `spec` adds to its spec."""
    return liqo_object("offloading", "Quota", name, {"user": user, "resources": resources, **spec})


def unenforced_quota(user: str, resources: Mapping[str, str], **spec: Any) -> dict[str, Any]:
    """The Quota of a user as a provider makes it, named after that user, and without enforcement of limits unless `spec`
    says otherwise."""
    return quota(user, user, resources, **{"limitsEnforcement": "None", **spec})


def tenant(consumer: str, labels: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """The Tenant of a consumer, named after the consumer."""
    metadata = {} if labels is None else {"labels": dict(labels)}
    return liqo_object("authentication", "Tenant", consumer, {"clusterID": consumer, **spec}, **metadata)


def resource_slice(
    name: str, labels: Mapping[str, str], annotations: Mapping[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    """A ResourceSlice: at home with the labels `of_peer`, at the provider with `replica_labels`."""
    metadata = {} if annotations is None else {"annotations": dict(annotations)}
    return liqo_object("authentication", "ResourceSlice", name, spec, labels=dict(labels), **metadata)


def offloading(name: str = "offloading", **spec: Any) -> dict[str, Any]:
    """A NamespaceOffloading; admission takes no other name."""
    return liqo_object("offloading", "NamespaceOffloading", name, spec)


def asking_for(twin: str, **spec: Any) -> dict[str, Any]:
    """A NamespaceOffloading that asks for a twin of that name, as liqod leaves it: from its finalizer on, the NamespaceMap
    asks for the twin."""
    asked = offloading(namespaceMappingStrategy="SelectedName", remoteNamespaceName=twin, **spec)
    asked["metadata"]["finalizers"] = ["namespaceoffloading-controller.liqo.io/finalizer"]
    return asked


def namespace_map(name: str, labels: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """A NamespaceMap, named after the provider."""
    metadata = {} if labels is None else {"labels": dict(labels)}
    return liqo_object("offloading", "NamespaceMap", name, spec, **metadata)


def foreign_cluster(cluster: str, **metadata: Any) -> dict[str, Any]:
    """The ForeignCluster of a peer, named after the peer."""
    return liqo_object("core", "ForeignCluster", cluster, {"clusterID": cluster}, labels=of_peer(cluster), **metadata)


def virtual_node(name: str, provider: str, **spec: Any) -> dict[str, Any]:
    """A VirtualNode of a provider; `spec` adds to its spec."""
    return liqo_object("offloading", "VirtualNode", name, {"clusterID": provider, **spec}, labels=of_peer(provider))
