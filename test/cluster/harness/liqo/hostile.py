"""A consumer whose identities a story uses by hand, against a provider that has let it in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..cluster.api import Api
from ..cluster.cluster import Cluster
from .peers import Peer, as_identity


def annotate_policy(provider: Cluster, tenant: str, policy: str | None) -> None:
    """Writes the policy on a tenant namespace of the provider, as it stands there; None: the defaults."""
    annotations = {"liqo.io/pod-policy": policy}
    provider.api.patch("namespaces", None, tenant, {"metadata": {"annotations": annotations}})


class HostileConsumer:
    """It is peered, and its namespace `shop` offloaded."""

    def __init__(self, consumer: Peer, provider: Peer, directory: Path):
        self.consumer, self.provider = consumer, provider
        consumer.peer_with(provider, "--cpu", 4)
        consumer.cluster.namespace("shop")
        consumer.liqoctl("offload", "namespace", "shop")
        self.slice: Api = as_identity(consumer, provider, f"resourceslice-{provider.name}", directory)

    def set_policy(self, **keys: Any) -> None:
        """The provider's policy about it is these keys alone; none = the defaults."""
        policy = json.dumps(keys) if keys else None
        annotate_policy(self.provider.cluster, f"liqo-tenant-{self.consumer.name}", policy)
