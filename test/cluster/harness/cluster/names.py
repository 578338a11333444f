"""Names of Services for the pods of a cluster: CoreDNS, a process beside the other components."""

from __future__ import annotations

import http.client
from pathlib import Path
from typing import TYPE_CHECKING

from .. import settings
from ..wait import wait_for
from . import components, rights

if TYPE_CHECKING:
    from .cluster import Cluster

_ROLE = "system:coredns"
_MAP = "coredns"
_RULES = [
    {"apiGroups": [""], "resources": ["namespaces", "services"], "verbs": ["list", "watch"]},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
]


def start(cluster: Cluster) -> None:
    """Starts CoreDNS and waits until it knows all Services."""
    corefile = cluster.directory / "Corefile"
    corefile.write_text(components.corefile(_user(cluster), cluster.address))
    cluster.run_component("coredns", [settings.tool("coredns"), "-conf", corefile])
    wait_for(lambda: _ready(cluster), 60, f"the name server of {cluster.name}")


def tell_reverse(cluster: Cluster, other: Cluster, zone: str) -> None:
    """Makes the name server of `cluster` resolve the other cluster's addresses of Services, as where networks are
    joined."""
    with (cluster.directory / "Corefile").open("a") as corefile:
        corefile.write(components.reverse_zone(_user(other), cluster.address, zone))
    cluster.restart("coredns")
    wait_for(lambda: _ready(cluster), 60, f"the name server of {cluster.name}")


def tell_outside(cluster: Cluster, domain: str) -> None:
    """Makes the name server know names outside of the cluster: `kubernetes.default.svc.<domain>` is the API server."""
    with (cluster.directory / "Corefile").open("a") as corefile:
        corefile.write(components.outside_zone(_user(cluster), cluster.address, domain))
    cluster.restart("coredns")
    wait_for(lambda: _ready(cluster), 60, f"the name server of {cluster.name}")


def publish(cluster: Cluster) -> str:
    """Makes the ConfigMap with the Corefile, as where CoreDNS runs in pods, and returns its text."""
    text = (cluster.directory / "Corefile").read_text()
    body = {"kind": "ConfigMap", "metadata": {"name": _MAP}, "data": {"Corefile": text}}
    cluster.api.apply("configmaps", "kube-system", body)
    return text


def published(cluster: Cluster) -> str:
    """The text of that ConfigMap."""
    return cluster.api.get("configmaps", "kube-system", _MAP)["data"]["Corefile"]


def take(cluster: Cluster) -> None:
    """Makes the name server read that ConfigMap, as a kubelet and the plugin reload would within two minutes."""
    (cluster.directory / "Corefile").write_text(published(cluster))
    cluster.restart("coredns")
    wait_for(lambda: _ready(cluster), 60, f"the name server of {cluster.name}")


def asked_by_processes(cluster: Cluster) -> None:
    """Makes the processes of the cluster that start from now on ask its name server, as its pods do."""
    resolv = cluster.directory / "resolv.conf"
    resolv.write_text(f"nameserver {cluster.address}\n")
    mounted = cluster.space.start("resolv", ["mount", "--bind", resolv, "/etc/resolv.conf"]).wait(10)
    assert mounted == 0, f"the file was not mounted: {mounted}"


def _user(cluster: Cluster) -> Path:
    """The kubeconfig by which a name server reads the Services of a cluster."""
    role = {"kind": "ClusterRole", "metadata": {"name": _ROLE}, "rules": _RULES}
    cluster.api.apply("clusterroles", None, role)
    rights.bind(cluster, None, _ROLE, rights.user(_ROLE), _ROLE)
    return cluster.kubeconfig_of("coredns", _ROLE)


def _ready(cluster: Cluster) -> bool:
    port = components.DNS_READY_PORT
    connection = http.client.HTTPConnection(cluster.address, port)
    connection.sock = cluster.space.connect(cluster.address, port, 3)
    try:
        connection.request("GET", "/ready")
        return connection.getresponse().status == 200
    except http.client.HTTPException as error:
        raise OSError(f"{error!r}") from error
    finally:
        connection.close()
