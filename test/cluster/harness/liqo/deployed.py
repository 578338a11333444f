"""The daemon as an installer's Deployment would start it, where no kubelet runs its pods."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .liqod import Liqod

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster


def mounted(cluster: Cluster, namespace: str, pod: dict[str, Any]) -> dict[str, Path]:
    """What the container of a pod has in its volumes, written as a kubelet would: directories by where it sees them.

    The ConfigMaps and Secrets have to be there; a kubelet would wait for them.
    """
    (container,) = pod["containers"]
    directories: dict[str, Path] = {}
    for mount in container.get("volumeMounts", []):
        (volume,) = (one for one in pod["volumes"] if one["name"] == mount["name"])
        directory = directories[mount["mountPath"]] = cluster.directory / "mounted" / namespace / mount["name"]
        directory.mkdir(parents=True, exist_ok=True)
        if secret := volume.get("secret"):
            data = cluster.api.get("secrets", namespace, secret["secretName"])["data"]
            chosen = {item["path"]: base64.b64decode(data[item["key"]]) for item in secret["items"]}
        else:
            data = cluster.api.get("configmaps", namespace, volume["configMap"]["name"])["data"]
            chosen = {name: text.encode() for name, text in data.items()}
        for name, content in chosen.items():
            (directory / name).write_bytes(content)
    return directories


def daemon_of(cluster: Cluster, namespace: str = "liqo", binary: Path | None = None, usage: bool = False) -> Liqod:
    """A process with the command line that stands in the Deployment, as its ServiceAccount; not started yet.

    `binary` is another liqod than the one under test. With `usage` it serves that of consumers' pods, and whoever
    starts it has the Service lead to it: chart.serve_usage.
    """
    deployment = cluster.api.get("deployments", namespace, "liqod")
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    values = {"$(POD_NAMESPACE)": namespace, "$(POD_IP)": cluster.address, "$(POD_NAME)": "liqod"}
    arguments = [re.sub(r"\$\(\w+\)", lambda found: values[found[0]], word) for word in container["args"]]
    if cluster.options.kubelet:
        # Unlike a pod, this liqod shares its address with a real kubelet.
        arguments = ["--listen-port=10260" if word.startswith("--listen-port=") else word for word in arguments]
    if not usage:
        # Its Service would lead to pods, and there are none: nobody would answer for the API that it registers.
        arguments = [word for word in arguments if not word.startswith("--metric-agent-port=")]
    for path, directory in mounted(cluster, namespace, pod).items():
        arguments = [word.replace(f"={path}", f"={directory}") for word in arguments]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    daemon = Liqod(
        cluster, cluster.service_account(namespace, "liqo"), metrics_port=ports["metrics"],
        # The address of its probes, also in older versions.
        health_port=ports[container["readinessProbe"]["httpGet"]["port"]],
        secure_metrics="--metrics-secure=true" in arguments, binary=binary,
    )  # fmt: skip
    url = f"--webhook-url=https://{cluster.address}:{ports['webhook']}"
    daemon.command = [daemon.command[0], "--kubeconfig", daemon.command[2], *arguments, url]
    return daemon
