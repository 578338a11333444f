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
