"""A peering, made by hand through the API: everything that Liqo's own controllers will make is applied here instead.

At the consumer: the tenant namespace of the provider, the Secret with a kubeconfig for it, the VirtualNode, the
NamespaceMap with its current mapping. At the provider: the tenant namespace of the consumer, the Quota of its user, and
the binding that lets it read what its pods use. For each offloaded namespace there is a twin as well, with the binding
that lets that user work there and nowhere else.
"""

from __future__ import annotations

import hashlib
import json
import ssl
from collections.abc import Mapping
from typing import Any

from .. import objects
from ..cluster import pki, rights
from ..cluster.cluster import Cluster
from ..cluster.node import is_ready
from ..wait import wait_for
from . import chart

TAINT = "virtual-node.liqo.io/not-allowed"
# The quantities are written as the API server answers them.
RESOURCES = {"cpu": "256", "memory": "1Ti", "pods": "5k", "ephemeral-storage": "1Ti"}


class Peering:
    """`consumer` offloads to `provider` through a virtual node, by default named after the provider."""

    def __init__(self, consumer: Cluster, provider: Cluster, node: str | None = None):
        self.consumer, self.provider = consumer, provider
        self.node = node or provider.name
        self.home = f"liqo-tenant-{provider.name}"
        self.away = f"liqo-tenant-{consumer.name}"
        self.secret = f"kubeconfig-{self.node}"
        # The user of a resource slice: its name and a hash of who asked for it, with the consumer as the group.
        self.user = f"{self.node}-{hashlib.sha256(consumer.name.encode()).digest()[:6].hex()}"

    def establish(self, resources: Mapping[str, str] = RESOURCES, **spec: Any) -> Peering:
        """Applies everything but mappings. `spec` adds to the VirtualNode's spec."""
        self._tenant_namespace(self.provider, self.away, self.consumer)
        role, labels = chart.REMOTE_WIDE_ROLE, {"liqo.io/remote-cluster-id": self.consumer.name}
        name, group = f"liqo-binding-{role}-{self.consumer.name}", rights.group(self.consumer.name)
        rights.bind(self.provider, None, name, group, role, labels=labels)
        self.write_quota(resources)
        return self.establish_home(resources, **spec)

    def establish_home(self, resources: Mapping[str, str] = RESOURCES, **spec: Any) -> Peering:
        """Applies everything but mappings at the consumer alone: the provider's own side is somebody else's to make."""
        self._tenant_namespace(self.consumer, self.home, self.provider)
        self.write_secret(self.kubeconfig())
        # The VirtualNode comes first: liqod removes a NamespaceMap and a ForeignCluster without one.
        self.write_virtual_node(resources, **spec)
        self.declare(self.provider.pod_cidr)
        self._map_object()
        return self

    def _tenant_namespace(self, cluster: Cluster, namespace: str, peer: Cluster) -> None:
        # The rights come first: liqod reads a tenant namespace as soon as it has the label.
        cluster.namespace(namespace)
        chart.bind(cluster, namespace, "ClusterRole", chart.TENANT_ROLE)
        cluster.namespace(namespace, {"liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": peer.name})

    def kubeconfig(self) -> str:
        """A kubeconfig for the provider as the least-privilege user of this peering."""
        pair = self.provider.authority.issue(
            f"tenant-{self.consumer.name}-{self.node}", self.user, [self.consumer.name]
        )
        user = pki.certificate_user(pair)
        return pki.kubeconfig(self.provider.server, self.provider.authority.pair.certificate, user, self.provider.name)

    def write_secret(self, kubeconfig: str) -> None:
        labels = {"liqo.io/remote-cluster-id": self.provider.name}
        metadata = {"name": self.secret, "labels": labels}
        self.consumer.api.apply(
            "secrets", self.home, {"kind": "Secret", "metadata": metadata, "stringData": {"kubeconfig": kubeconfig}}
        )

    def write_quota(self, resources: Mapping[str, str] = RESOURCES, **spec: Any) -> None:
        """What the provider grants to the user of this peering."""
        self.provider.api.apply("quotas", self.away, objects.unenforced_quota(self.user, dict(resources), **spec))

    def write_virtual_node(self, resources: Mapping[str, str] = RESOURCES, **spec: Any) -> None:
        spec = {
            "createNode": True,
            "disableNetworkCheck": True,
            "kubeconfigSecretRef": {"name": self.secret},
            "resourceQuota": {"hard": dict(resources)},
            **spec,
        }
        self.consumer.api.apply("virtualnodes", self.home, objects.virtual_node(self.node, self.provider.name, **spec))

    def declare(self, pod_cidrs: str | None) -> None:
        """Which addresses of the provider's pods the consumer is to believe; None takes the declaration back."""
        peer, key = self.provider.name, "liqo.io/remote-pod-cidrs"
        if pod_cidrs is None:
            self.consumer.api.patch("foreignclusters", None, peer, {"metadata": {"annotations": {key: None}}})
            return
        # liqod makes a ForeignCluster by itself, with a mark by which it removes it again.
        annotations = {key: pod_cidrs, "core.liqo.io/made-by-liqod": "true"}
        self.consumer.api.apply("foreignclusters", None, objects.foreign_cluster(peer, annotations=annotations))

    def _map_object(self) -> None:
        labels = {
            "liqo.io/remote-cluster-id": self.provider.name,
            "liqo.io/replication": "true",
            "liqo.io/remoteID": self.provider.name,
        }
        self.consumer.api.apply("namespacemaps", self.home, objects.namespace_map(self.provider.name, labels))

    def offload(self, namespace: str, twin: str | None = None) -> str:
        """Maps a namespace of the consumer, which must exist, to its twin at the provider; returns the twin's name."""
        twin = twin or f"{namespace}-{self.consumer.name}"
        map_id = f"{self.away}/{self.provider.name}"
        managed = {"liqo.io/managed-by-namespace-map": map_id}
        self.provider.namespace(
            twin, {"liqo.io/remote-cluster-id": self.consumer.name}, {**managed, "liqo.io/original-name": namespace}
        )
        labels = {"app.kubernetes.io/managed-by": "liqo", "liqo.io/remote-cluster-id": self.consumer.name}
        group, role = rights.group(self.consumer.name), chart.REMOTE_ROLE
        rights.bind(self.provider, twin, self.away, group, role, labels=labels, annotations=managed)
        self.consumer.api.apply("namespaceoffloadings", namespace, objects.asking_for(twin))
        self._map(namespace, twin, {"remoteNamespace": twin, "phase": "Accepted"})
        return twin

    def told(self) -> str:
        """Everything that a user finds at the VirtualNode: its conditions and its events."""
        virtual_node = self.consumer.api.get("virtualnodes", self.home, self.node)
        return json.dumps(virtual_node.get("status", {})) + json.dumps(self.consumer.events(self.home, self.node))

    def carry(self) -> dict | None:
        """What replication does, once: the NamespaceMap's wishes to the provider, the answer back; returns the copy."""
        name, copies = self.provider.name, self.provider.api
        wish = self.consumer.api.find("namespacemaps", self.home, name)
        copy = copies.find("namespacemaps", self.away, name)
        desired = (wish or {}).get("spec", {}).get("desiredMapping") or {}
        if copy is None:
            labels = {"liqo.io/originID": self.consumer.name, "liqo.io/replicated": "true"}
            labels |= {"liqo.io/replication": "false", "liqo.io/remote-cluster-id": self.consumer.name}
            return copies.create("namespacemaps", self.away, objects.namespace_map(name, labels, desiredMapping=desired))
        before = copy.get("spec", {}).get("desiredMapping") or {}
        changes: dict[str, str | None] = {**dict.fromkeys(before), **desired}
        if before != desired:
            copies.patch("namespacemaps", self.away, name, {"spec": {"desiredMapping": changes}})
        answer = copy.get("status", {}).get("currentMapping") or {}
        shown = (wish or {}).get("status", {}).get("currentMapping") or {}
        if wish and shown != answer:
            status = {"currentMapping": {**dict.fromkeys(shown), **answer}}
            self.consumer.api.patch("namespacemaps", self.home, name, {"status": status}, "status")
        return copy

    def withdraw(self, namespace: str) -> None:
        """Removes the mapping of a namespace; what runs in its twin is left to whoever watches."""
        self._map(namespace, None, None)
        maps = self.consumer.api.list("namespacemaps")
        if any(namespace in (found.get("status", {}).get("currentMapping") or {}) for found in maps):
            return  # offloaded to another provider, too
        find = self.consumer.api.find
        self.consumer.api.delete("namespaceoffloadings", namespace, "offloading")
        gone = lambda: find("namespaceoffloadings", namespace, "offloading") is None  # noqa: E731
        wait_for(gone, 30, f"the NamespaceOffloading of {namespace} to be gone")

    def _map(self, namespace: str, twin: str | None, current: Mapping[str, str] | None) -> None:
        patch, name = self.consumer.api.patch, self.provider.name
        patch("namespacemaps", self.home, name, {"spec": {"desiredMapping": {namespace: twin}}})
        patch("namespacemaps", self.home, name, {"status": {"currentMapping": {namespace: current}}}, "status")

    def node_object(self) -> dict | None:
        return self.consumer.api.find("nodes", None, self.node)

    def node_ready(self) -> bool:
        return is_ready(self.node_object())

    def wait_ready(self, timeout: float = 30) -> Peering:
        wait_for(self.node_ready, timeout, f"virtual node {self.node} of {self.consumer.name} to be ready")
        return self

    def kubelet_port(self) -> int:
        """That of the virtual node's kubelet API."""
        node = self.consumer.api.get("nodes", None, self.node)
        return node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]

    def serving_certificate(self) -> bytes:
        """What the kubelet port shows, verified by the consumer's authority for the address the API server dials."""
        context = ssl.create_default_context(cafile=str(self.consumer.authority.pair.certificate))
        address = self.consumer.address
        with (
            self.consumer.space.connect(address, self.kubelet_port()) as raw,
            context.wrap_socket(raw, server_hostname=address) as tls,
        ):
            shown = tls.getpeercert(binary_form=True)
        assert shown
        return shown

    def wait_serving(self) -> Peering:
        """Until logs and exec work: the certificate is asked for as the Node is made, and approved a second later."""
        wait_for(self.serving_certificate, 60, f"the kubelet API of {self.node} to have its certificate")
        return self

    def dissolve(self) -> None:
        """Deletes the VirtualNode; draining and removing the Node is liqod's work."""
        self.consumer.api.delete("virtualnodes", self.home, self.node)

    def pinned(self, pod: dict) -> dict:
        """The pod, or a pod template, bound to be scheduled on this virtual node."""
        spec = pod["spec"]
        tolerations = [*spec.get("tolerations", []), {"key": TAINT, "operator": "Exists", "effect": "NoExecute"}]
        selector = {**spec.get("nodeSelector", {}), "kubernetes.io/hostname": self.node}
        return {**pod, "spec": {**spec, "tolerations": tolerations, "nodeSelector": selector}}
