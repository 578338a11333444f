"""The Go Liqo in a cluster, as its own chart installs it; its pods' programs run as processes beside the cluster.

Nothing of it is in this tree: whoever runs these stories has a release of it, and names its directory in $GO_LIQO.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import yaml

from ..cluster import served
from ..cluster.cluster import Cluster
from ..cluster.namespace import Process
from ..cluster.node import is_ready
from ..liqo import chart
from ..wait import wait_for
from .liqoctl import Liqoctl

NAMESPACE = "liqo"
# The label of the Deployments of its virtual kubelets, in tenant namespaces.
VIRTUAL_KUBELETS = "offloading.liqo.io/component=virtual-kubelet"
SOON = 60.0

# Directories of the host where the programs keep certificates, whatever their flags say.
_PRIVATE = ("/tmp/k8s-webhook-server", "/tmp/certs")
# The Deployments of the chart that a peering without networking needs, in the order of their start.
_PROGRAMS = ("liqo-webhook", "liqo-controller-manager", "liqo-crd-replicator")
# What the chart also has and no story wants, or not at once: figures that nobody serves before `serve_usage`, and
# networks that nobody hands out.
_LEFT_OUT = ("APIService", "DaemonSet", "Network")
_METRIC_AGENT = "liqo-metric-agent"
_METRIC_AGENT_PORT = 8443
# Programs in the directory, beside chart/, which the helm on the PATH renders.
_BINARIES = ("crd-replicator", "liqo-controller-manager", "liqoctl", "metric-agent", "virtual-kubelet", "webhook")
_VALUES = {
    "networking.enabled": "false",
    "proxy.enabled": "false",
    "metrics.enabled": "false",
    "telemetry.enabled": "false",
}


class GoPeer:
    """A cluster with the Go Liqo, networking disabled, and the Go liqoctl of its user.

    `storage` is the class by which its volumes are made for claims of class liqo at home.
    """

    def __init__(self, cluster: Cluster, release: Path, storage: str = ""):
        self.release, self.storage = release, storage
        self.cluster, self.api, self.name = cluster, cluster.api, cluster.name
        self.liqoctl = Liqoctl(cluster, binary=release / "liqoctl")
        self.processes: dict[str, Process] = {}
        for place in _PRIVATE:
            Path(place).mkdir(parents=True, exist_ok=True)
            inside = ["nsenter", f"--mount=/proc/{cluster.space.pid}/ns/mnt"]
            subprocess.run([*inside, "mount", "-t", "tmpfs", "liqo-test", place], check=True)
        self.installed: list[dict[str, Any]] = []
        self.left_out: list[dict[str, Any]] = []
        self.commands: dict[str, list[str]] = {}
        self.install()

    def install(self) -> None:
        """Installs the chart and starts its programs; again after `uninstall`, as a user goes back to it."""
        self.commands = self._install()
        self._start()
        logs = f"{self.cluster.directory}/liqo-*.log"
        for ready in (self._asked, self._has_keys):
            wait_for(ready, SOON, f"the Go Liqo of {self.name} to be ready (its logs: {logs})")

    def uninstall(self) -> None:
        """`helm uninstall --no-hooks`, and the virtual kubelets: they run on by themselves. All else stays."""
        # Kubernetes ends pods in the same way.
        for process in self.processes.values():
            process.send(signal.SIGTERM)
        for process in self.processes.values():
            process.wait(40)
        self.processes.clear()
        text = yaml.safe_dump_all([made for made in self.installed if made["kind"] != "Namespace"])
        self.cluster.kubectl("delete", "--ignore-not-found", "-n", NAMESPACE, "-f", "-", stdin=text)
        self.cluster.kubectl("delete", "deployments", "-A", "-l", VIRTUAL_KUBELETS)

    def _install(self) -> dict[str, list[str]]:
        """Applies the chart but for its Deployments; returns their command lines."""
        self.cluster.namespace(NAMESPACE)
        crds = self.release / "chart/charts/liqo-crds/crds"
        self.cluster.kubectl("apply", "--server-side", "-f", crds)
        commands, applied, left_out = {}, [], []
        for manifest in self._rendered():
            kind, name = manifest["kind"], manifest["metadata"]["name"]
            if kind == "Deployment":
                container = manifest["spec"]["template"]["spec"]["containers"][0]
                commands[name] = [Path(container["command"][0]).name, *container["args"]]
                continue
            if kind == "Service":
                # The Service leads to a process, not a pod.
                del manifest["spec"]["selector"]
                manifest["spec"]["ports"] = [{"port": port["port"]} for port in manifest["spec"]["ports"]]
            (left_out if kind in _LEFT_OUT else applied).append(manifest)
        # Every kind must be served before an object of it is applied.
        about = f"the kinds of the Go Liqo to be served in {self.name}"
        wait_for(lambda: served.kinds_established(self.cluster), SOON, about)
        self.installed, self.left_out = [*applied, self._endpoint("liqo-webhook", 9443)], left_out
        text = yaml.safe_dump_all(self.installed)
        self.cluster.kubectl("apply", "--server-side", "-n", NAMESPACE, "-f", "-", stdin=text)
        self.cluster.restart("kube-controller-manager")
        return commands

    def _endpoint(self, service: str, port: int) -> dict[str, Any]:
        """What a Service of the chart leads to."""
        return {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": f"{service}-process", "labels": {"kubernetes.io/service-name": service}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [self.cluster.address], "conditions": {"ready": True}}],
            "ports": [{"port": port, "protocol": "TCP"}],
        }

    def _rendered(self) -> list[dict[str, Any]]:
        values = {
            **_VALUES,
            "tag": "test",
            "discovery.config.clusterID": self.name,
            "apiServer.address": self.cluster.server,
            "ipam.podCIDR": self.cluster.pod_cidr,
            "ipam.serviceCIDR": self.cluster.options.service_cidr,
            "storage.realStorageClassName": self.storage,
        }
        sets = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
        helm = ["helm", "template", "liqo", self.release / "chart", "-n", NAMESPACE]
        done = subprocess.run([*map(str, helm), "--no-hooks", *sets], capture_output=True, text=True, check=True)
        return [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]

    def _start(self) -> None:
        for name in _PROGRAMS:
            self.start_program(name)

    def start_program(self, name: str) -> None:
        """Starts one of its programs, as a Deployment that is scaled up again does."""
        number = _PROGRAMS.index(name)
        ports = [f"--metrics-address={self.cluster.address}:{18080 + number}"]
        ports += [] if name == "liqo-crd-replicator" else [f"--health-probe-address=:{18090 + number}"]
        self._run(name, *ports)

    def stop_program(self, name: str) -> None:
        self.processes[name].kill()

    def _run(self, name: str, *more: str) -> None:
        """Runs what a Deployment of the chart says; of flags that are given twice the last one counts."""
        program, *arguments = (
            word.replace("$(CLUSTER_ID)", self.name).replace("$(POD_NAMESPACE)", NAMESPACE)
            for word in self.commands[name]
        )
        kubeconfig = self.cluster.service_account(NAMESPACE, name)
        self.processes[name] = self.cluster.space.start(
            name,
            [self.release / program, *arguments, *more],
            {"KUBECONFIG": str(kubeconfig), "POD_NAMESPACE": NAMESPACE, "POD_NAME": f"{name}-0"},
        )

    def serve_usage(self) -> None:
        """Runs its metric agent, and waits until the API server sends it what consumers ask about their pods."""
        host = f"{_METRIC_AGENT}.{NAMESPACE}.svc"
        pair = self.cluster.authority.issue(_METRIC_AGENT, _METRIC_AGENT, names=[f"DNS:{host}"])
        port = f"--port={_METRIC_AGENT_PORT}"
        self._run(_METRIC_AGENT, port, f"--cert-path={pair.certificate}", f"--key-path={pair.key}")
        about = f"the metric agent of {self.name} to listen"
        wait_for(lambda: served.listens(self.cluster, _METRIC_AGENT_PORT), SOON, about)
        api_services = [made for made in self.left_out if made["kind"] == "APIService"]
        more = [self._endpoint(_METRIC_AGENT, _METRIC_AGENT_PORT), *api_services]
        text = yaml.safe_dump_all(more)
        self.cluster.kubectl("apply", "--server-side", "-n", NAMESPACE, "-f", "-", stdin=text)
        self.installed += more
        wait_for(lambda: chart.usage_served(self.cluster), SOON, f"the figures of {self.name} to be served")

    def _asked(self) -> bool:
        """Whether the webhooks listen and the API server was told how to know them; from then on it must ask."""
        self._alive()
        configurations = self.api.list("validatingwebhookconfigurations")
        signed = all(hook["clientConfig"].get("caBundle") for found in configurations for hook in found["webhooks"])
        return bool(configurations) and signed and served.listens(self.cluster, 9443)

    def _has_keys(self) -> bool:
        self._alive()
        return self.api.find("secrets", NAMESPACE, "authentication-keys") is not None

    def _alive(self) -> None:
        for name, process in self.processes.items():
            if not process.running():
                raise RuntimeError(f"{name} of {self.name} ended: {process.log.read_text(errors='replace')[-1500:]}")

    def run_virtual_kubelet(self, node: str, tenant_namespace: str, listen_port: int) -> Process:
        """Runs what the Deployment of a VirtualNode asks for, in the name of a pod of it."""
        name = f"vk-{node}"
        deployment = wait_for(
            lambda: self.api.find("deployments", tenant_namespace, name), SOON, f"Deployment {tenant_namespace}/{name}"
        )
        spec = deployment["spec"]["template"]["spec"]
        container = spec["containers"][0]
        kubeconfig = self.cluster.service_account(tenant_namespace, spec["serviceAccountName"])
        arguments = [word.replace("$(POD_IP)", self.cluster.address) for word in container["args"]]
        # A kubelet sets these in a pod; they tell the pods at the provider where their API server is.
        host, port = self.cluster.server.removeprefix("https://").split(":")
        self.processes[name] = self.cluster.space.start(
            name,
            [self.release / "virtual-kubelet", *arguments, f"--listen-port={listen_port}"],
            {
                "KUBECONFIG": str(kubeconfig), "POD_NAME": f"{name}-0", "POD_NAMESPACE": tenant_namespace,
                "POD_IP": self.cluster.address, "VIRTUALNODE_NAME": node,
                "KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port,
            },
        )  # fmt: skip
        return self.processes[name]

    def node_ready(self, name: str) -> bool:
        self._alive()
        return is_ready(self.api.find("nodes", None, name))


def lacking(release: Path | None) -> str:
    """What these stories cannot do without and do not find, "" if nothing."""
    if release is None:
        return "$GO_LIQO, the directory of a Go Liqo"
    if shutil.which("helm") is None:
        return "helm on the PATH"
    wanted = [*(release / name for name in _BINARIES), release / "chart/Chart.yaml"]
    return next((str(path) for path in wanted if not path.exists()), "")
