"""Installs what charts/liqo would, without Helm: the kinds, and liqod's identity with the rights that it gets."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from .. import settings
from ..cluster import rights, served
from ..wait import wait_for

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster

CHART = settings.TREE / "charts/liqo"
NAMESPACE = "liqo"
SERVICE_ACCOUNT = "liqo"
USER = f"system:serviceaccount:{NAMESPACE}:{SERVICE_ACCOUNT}"

OWN_ROLE = "liqo-liqod"
NAMESPACES_ROLE = "liqo-liqod-namespaces"
TOKENS_BIND_ROLE = "liqo-liqod-tokens-bind"
STORAGE_ROLE = "liqo-liqod-storage"
METRIC_AGENT_ROLE = "liqo-liqod-metric-agent"
METRIC_AGENT = "liqo-metric-agent"
USAGE_API = "v1beta1.metrics.liqo.io"
# A commit whose chart let liqod show kubelets its own token.
BEFORE_METRIC_AGENT_ACCOUNT = "8fae8f6c"
CUSTOM_ROLE = "liqo-liqod-custom"
TENANT_ROLES_ROLE = "liqo-liqod-tenant-roles"
TENANT_ROLE = "liqo-liqod-tenant"
REMOTE_ROLE = "liqo-virtual-kubelet-remote"
REMOTE_WIDE_ROLE = "liqo-virtual-kubelet-remote-clusterwide"

SUBJECT = rights.service_account(NAMESPACE, SERVICE_ACCOUNT)
# Roles, and the namespaces where the chart binds them; the last one is of Kubernetes itself.
_BINDINGS = (
    (OWN_ROLE, NAMESPACE),
    ("liqo-liqod-node-leases", "kube-node-lease"),
    ("liqo-liqod-api-servers", "default"),
    ("extension-apiserver-authentication-reader", "kube-system"),
)


def install(cluster: Cluster) -> Path:
    """Installs into `cluster` and returns the kubeconfig of liqod's ServiceAccount there."""
    cluster.namespace(NAMESPACE)
    cluster.kubectl("apply", "--server-side", "-f", CHART / "crds", "-f", CHART / "files")
    for role in (OWN_ROLE, TOKENS_BIND_ROLE):
        rights.bind(cluster, None, role, SUBJECT, role)
    for role, namespace in _BINDINGS:
        bind(cluster, namespace, "Role", role)
    about = f"the kinds of Liqo to be served in {cluster.name}"
    wait_for(lambda: served.kinds_established(cluster, ".liqo.io"), 60, about)
    # Its garbage collector looks for new kinds every 30 s only: until then pods would outlive their shadow pods.
    cluster.restart("kube-controller-manager")
    return cluster.service_account(NAMESPACE, SERVICE_ACCOUNT)


def uninstall(cluster: Cluster) -> None:
    """What `helm uninstall --no-hooks` removes; waits until Kubernetes has removed the webhooks with the roles."""
    cluster.kubectl("delete", "--ignore-not-found", "-f", CHART / "files")
    for role in (OWN_ROLE, TOKENS_BIND_ROLE, STORAGE_ROLE, METRIC_AGENT_ROLE, METRIC_AGENT, NAMESPACES_ROLE):
        cluster.api.delete("clusterrolebindings", None, role)
    for role, namespace in (*_BINDINGS, (METRIC_AGENT_ROLE, NAMESPACE)):
        cluster.api.delete("rolebindings", namespace, f"{role}-liqo")
    kinds = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
    wait_for(lambda: not any(map(cluster.api.list, kinds)), 60, f"the webhooks of {cluster.name} to be gone")


def allow_namespaces(cluster: Cluster) -> None:
    """What the chart binds besides with offloading.namespaces.selector."""
    rights.bind(cluster, None, NAMESPACES_ROLE, SUBJECT, NAMESPACES_ROLE)


def allow_storage(cluster: Cluster) -> None:
    """What the chart binds besides with storage.enabled."""
    rights.bind(cluster, None, STORAGE_ROLE, SUBJECT, STORAGE_ROLE)


def allow_usage(cluster: Cluster) -> None:
    """What the chart makes and binds besides with metricAgent.enabled."""
    rights.bind(cluster, None, METRIC_AGENT_ROLE, SUBJECT, METRIC_AGENT_ROLE)
    bind(cluster, NAMESPACE, "Role", METRIC_AGENT_ROLE)
    cluster.api.apply("serviceaccounts", NAMESPACE, {"kind": "ServiceAccount", "metadata": {"name": METRIC_AGENT}})
    rights.bind(cluster, None, METRIC_AGENT, rights.service_account(NAMESPACE, METRIC_AGENT), METRIC_AGENT)


def forbid_usage(cluster: Cluster) -> None:
    """Takes back what allow_usage() allows, and what stands in the files for it."""
    for kind in ("clusterroles", "clusterrolebindings"):
        cluster.api.delete(kind, None, METRIC_AGENT)
    cluster.api.delete("clusterrolebindings", None, METRIC_AGENT_ROLE)
    cluster.api.delete("roles", NAMESPACE, METRIC_AGENT_ROLE)
    cluster.api.delete("rolebindings", NAMESPACE, f"{METRIC_AGENT_ROLE}-liqo")
    cluster.api.delete("serviceaccounts", NAMESPACE, METRIC_AGENT)


def roles_of(commit: str, directory: Path) -> Path | None:
    """The roles of the chart of a commit, in files; nothing if the commit is not to be had."""
    done = subprocess.run(["git", "-C", settings.TREE, "archive", commit, "charts/liqo/files"], capture_output=True, check=False)
    if done.returncode != 0:
        return None
    subprocess.run(["tar", "-x", "-C", directory], input=done.stdout, check=True)
    return directory / "charts/liqo/files"


def serve_usage(cluster: Cluster, port: int) -> None:
    """The Service of the chart, for a liqod that is no pod; waits until figures are served."""
    lead_to_usage(cluster, port)
    wait_for(lambda: usage_served(cluster), 60, f"the figures of {cluster.name} to be served")


def lead_to_usage(cluster: Cluster, port: int) -> None:
    """The Service alone. If liqod runs already it waits for it no longer than a minute before it gives up for an hour."""
    api = cluster.api
    about = {"metadata": {"name": METRIC_AGENT}}
    if api.find("services", NAMESPACE, METRIC_AGENT):
        # An installer's Service leads to pods.
        api.delete("services", NAMESPACE, METRIC_AGENT)
        wait_for(lambda: not api.find("endpoints", NAMESPACE, METRIC_AGENT), 60, "what was behind the Service to go")
    ports = [{"name": "metric-agent", "port": 443, "targetPort": port}]
    api.apply("services", NAMESPACE, {"kind": "Service", **about, "spec": {"ports": ports}})
    behind = {"addresses": [{"ip": cluster.address}], "ports": [{"name": "metric-agent", "port": port}]}
    api.apply("endpoints", NAMESPACE, {"kind": "Endpoints", **about, "subsets": [behind]})


def usage_served(cluster: Cluster) -> bool:
    return served.api_available(cluster, USAGE_API)


def allow_custom(cluster: Cluster, group: str, *resources: str) -> None:
    """What the chart makes of offloading.reflection.custom, each with its status."""
    rules = [
        {"apiGroups": [group], "resources": list(resources), "verbs": ["get", "list", "watch"]},
        {"apiGroups": [group], "resources": [f"{name}/status" for name in resources], "verbs": ["update"]},
    ]
    role = {"kind": "ClusterRole", "metadata": {"name": CUSTOM_ROLE}, "rules": rules}
    cluster.api.apply("clusterroles", None, role)
    rights.bind(cluster, None, CUSTOM_ROLE, SUBJECT, CUSTOM_ROLE)


def allow_tenant_roles(cluster: Cluster, *names: str) -> None:
    """What the chart makes of offloading.tenantClusterRoles."""
    about = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "resourceNames": list(names)}
    rules = [{**about, "verbs": ["get", "bind"]}]
    cluster.api.apply(
        "clusterroles", None, {"kind": "ClusterRole", "metadata": {"name": TENANT_ROLES_ROLE}, "rules": rules}
    )
    rights.bind(cluster, None, TENANT_ROLES_ROLE, SUBJECT, TENANT_ROLES_ROLE)


def bind(cluster: Cluster, namespace: str, kind: str, role: str) -> None:
    """Binds liqod's ServiceAccount to a Role or ClusterRole in one namespace."""
    rights.bind(cluster, namespace, f"{role}-liqo", SUBJECT, role, kind=kind)
