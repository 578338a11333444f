"""The daemon as an installer's Deployment would start it, where no kubelet runs its pods."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from .liqod import WEBHOOK_PORT, Liqod

if TYPE_CHECKING:
    from .cluster import Cluster


def daemon_of(cluster: Cluster, namespace: str = "liqo", binary: Path | None = None) -> Liqod:
    """A process with the command line that stands in the Deployment, as its ServiceAccount; not started yet.

    `binary` is another liqod than the one under test.
    """
    deployment = cluster.api.get("deployments", namespace, "liqod")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    values = {"$(POD_NAMESPACE)": namespace, "$(POD_IP)": cluster.address, "$(POD_NAME)": "liqod"}
    arguments = [re.sub(r"\$\(\w+\)", lambda found: values[found[0]], word) for word in container["args"]]
    if cluster.options.kubelet:
        # It shares its address with a real kubelet, as no pod does.
        arguments = ["--listen-port=10260" if "--listen-port" in word else word for word in arguments]
    daemon = Liqod(cluster, cluster.service_account(namespace, "liqo"), metrics_port=8082, binary=binary)
    url = f"--webhook-url=https://{cluster.address}:{WEBHOOK_PORT}"
    daemon.command = [daemon.command[0], "--kubeconfig", daemon.command[2], *arguments, url]
    return daemon
