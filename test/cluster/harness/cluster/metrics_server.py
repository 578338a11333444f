"""metrics-server of a cluster, a process beside the other components: what `kubectl top` and the HPA ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import settings
from ..wait import wait_for
from . import pki, rights, served

if TYPE_CHECKING:
    from .cluster import Cluster

PORT = 4443
RESOLUTION = 10.0  # seconds; it takes no less
_NAMESPACE, _NAME = "kube-system", "metrics-server"
_API_SERVICE = "v1beta1.metrics.k8s.io"
_RULES: list[dict[str, Any]] = [
    {"apiGroups": [""], "resources": ["nodes/metrics"], "verbs": ["get"]},
    {"apiGroups": [""], "resources": ["pods", "nodes"], "verbs": ["get", "list", "watch"]},
]


def start(cluster: Cluster) -> None:
    """Starts it with no more rights than its manual asks for, and waits until the API server reaches it. It verifies
    the certificates of kubelets, real and virtual ones, by the cluster's authority."""
    kubeconfig = cluster.service_account(_NAMESPACE, _NAME)
    subject = rights.service_account(_NAMESPACE, _NAME)
    role = {"kind": "ClusterRole", "metadata": {"name": "metrics-server"}, "rules": _RULES}
    cluster.api.apply("clusterroles", None, role)
    rights.bind(cluster, None, "metrics-server", subject, "metrics-server")
    rights.bind(cluster, None, "metrics-server-delegates", subject, role="system:auth-delegator")
    reader = "extension-apiserver-authentication-reader"
    rights.bind(cluster, _NAMESPACE, "metrics-server-reads", subject, role=reader, kind="Role")
    names = [f"DNS:{_NAME}.{_NAMESPACE}.svc", f"IP:{cluster.address}"]
    pair = cluster.authority.issue("metrics-server", _NAME, names=names)
    cluster.run_component(
        "metrics-server",
        [
            settings.tool("metrics-server"), "--kubeconfig", kubeconfig,
            "--authentication-kubeconfig", kubeconfig, "--authorization-kubeconfig", kubeconfig,
            "--bind-address", cluster.address, "--secure-port", PORT,
            "--tls-cert-file", pair.certificate, "--tls-private-key-file", pair.key,
            "--kubelet-certificate-authority", cluster.authority.pair.certificate,
            "--kubelet-preferred-address-types", "InternalIP", "--kubelet-use-node-status-port",
            "--metric-resolution", f"{RESOLUTION:.0f}s", "--kubelet-request-timeout", "8s",
        ],
    )  # fmt: skip
    # If nobody listens, the API server asks again after ever longer pauses.
    wait_for(lambda: served.listens(cluster, PORT), 60, f"metrics-server of {cluster.name} to listen")
    _serve(cluster)
    wait_for(lambda: served.api_available(cluster, _API_SERVICE), 60, f"metrics-server of {cluster.name}")


def _serve(cluster: Cluster) -> None:
    """Makes the API server ask it for `metrics.k8s.io`."""
    port = {"name": "https", "port": 443, "protocol": "TCP"}
    service = {"kind": "Service", "metadata": {"name": _NAME}, "spec": {"ports": [{**port, "targetPort": PORT}]}}
    cluster.api.apply("services", _NAMESPACE, service)
    labels = {"kubernetes.io/service-name": _NAME}
    endpoints = {
        "kind": "EndpointSlice",
        "metadata": {"name": _NAME, "labels": labels},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [cluster.address], "conditions": {"ready": True}}],
        "ports": [{"name": "https", "port": PORT, "protocol": "TCP"}],
    }
    cluster.api.apply("endpointslices", _NAMESPACE, endpoints)
    spec = {
        "service": {"name": _NAME, "namespace": _NAMESPACE, "port": 443},
        "group": "metrics.k8s.io",
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "caBundle": pki.encoded(cluster.authority.pair.certificate.read_bytes()),
    }
    made = {"kind": "APIService", "metadata": {"name": _API_SERVICE}, "spec": spec}
    cluster.api.apply("apiservices", None, made)
