"""Clusters with Liqo and its webhooks, peered by the commands of a user, and the identities that they got."""

from __future__ import annotations

import base64
from pathlib import Path

import yaml

from ..cluster import pki
from ..cluster.api import Api
from ..cluster.cluster import Cluster
from ..cluster.node import is_ready
from ..tools.liqoctl import Liqoctl
from ..wait import wait_for
from . import chart
from .handshake import decoded
from .liqod import Liqod

SOON = 30.0
USAGE_PORT = 8443


class Peer:
    """One cluster with its liqod, whose webhooks the API server asks, and the liqoctl of its user.

    `flags` are added to liqod's command line; `secure_metrics` is Liqod's; with `storage` it may do what volumes need,
    and with `usage` it tells consumers what their pods use.
    """

    def __init__(
        self,
        cluster: Cluster,
        flags: tuple[str, ...] = (),
        secure_metrics: bool = False,
        storage: bool = False,
        usage: bool = False,
    ):
        self.cluster, self.api, self.name = cluster, cluster.api, cluster.name
        self.liqoctl = Liqoctl(cluster)
        # A real kubelet has the usual port, so liqod takes another.
        port = 10260 if cluster.options.kubelet else 10250
        kubeconfig = chart.install(cluster)
        if storage:
            chart.allow_storage(cluster)
        if usage:
            chart.allow_usage(cluster)
            chart.lead_to_usage(cluster, USAGE_PORT)
            flags = (*flags, "--metric-agent-port", str(USAGE_PORT))
        self.daemon = Liqod(cluster, kubeconfig, port, flags, webhooks=True, secure_metrics=secure_metrics).start()
        wait_for(lambda: self.api.find("secrets", "liqo", "authentication-keys"), SOON, f"the keys of {self.name}")
        wait_for(lambda: self.api.find("configmaps", "liqo", "liqo-clusterid-configmap"), SOON, "the cluster's ID")
        self.daemon.wait_asked()
        if usage:
            wait_for(lambda: chart.usage_served(cluster), SOON, f"the figures of {self.name} to be served")

    def uninstall(self) -> None:
        """`helm uninstall --no-hooks`: liqod ends, and its roles and webhooks go. All else stays."""
        self.daemon.stop()
        chart.uninstall(self.cluster)

    def home(self, provider: Peer) -> str:
        """The tenant namespace of a provider here."""
        return f"liqo-tenant-{provider.name}"

    def peer_with(self, provider: Peer, *arguments: object) -> None:
        """`liqoctl peer`, which waits until the node is Ready."""
        self.liqoctl("peer", "--remote-kubeconfig", provider.cluster.kubeconfig, *arguments)

    def unpeer_from(self, provider: Peer) -> None:
        self.liqoctl("unpeer", "--remote-kubeconfig", provider.cluster.kubeconfig, "--skip-confirm")

    def node_ready(self, name: str) -> bool:
        return is_ready(self.api.find("nodes", None, name))

    def running(self, namespace: str) -> int:
        return self.cluster.running(namespace)


def certificate_of(consumer: Peer, provider: Peer, identity: str) -> str:
    """The certificate (PEM) by which the consumer shows `identity` at the provider."""
    user = yaml.safe_load(_kubeconfig(consumer, provider, identity))["users"][0]["user"]
    return base64.b64decode(user["client-certificate-data"]).decode()


def as_identity(consumer: Peer, provider: Peer, identity: str, directory: Path) -> Api:
    """The provider's API as the consumer's liqod sees it with that Identity."""
    return as_kubeconfig(provider, _kubeconfig(consumer, provider, identity), directory / identity)


def as_kubeconfig(provider: Peer, kubeconfig: str, files: Path) -> Api:
    """The provider's API by the certificate in a kubeconfig, which is written beside `files`."""
    user = yaml.safe_load(kubeconfig)["users"][0]["user"]
    return provider.cluster.as_user(pki.write_pair(user, files))


def _kubeconfig(consumer: Peer, provider: Peer, identity: str) -> str:
    def there() -> str:
        secret = consumer.api.get("secrets", consumer.home(provider), f"kubeconfig-{identity}")
        return decoded(secret, "kubeconfig").decode()

    return wait_for(there, SOON, f"the kubeconfig of {identity}")
