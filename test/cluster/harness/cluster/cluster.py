"""A real Kubernetes cluster in namespaces of its own: etcd, the control plane, on request a kubelet."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from .. import settings
from ..wait import wait_for
from . import audit, callers, components, kwok, names, pki, rights
from .api import Api, path
from .components import Options
from .images import BUSYBOX_IMAGE
from .namespace import Namespace, Process
from .network import Network
from .node import Node

PORT = 6443


class Cluster:
    """One cluster. `index` (1 to 250) decides its addresses: 192.168.<index>.1, pods in 10.<index>.0.0/16."""

    def __init__(self, directory: Path, name: str, index: int, network: Network, run: str, options: Options):
        self.name, self.index, self.options, self.network = name, index, options, network
        self.directory = directory / name
        self.address = f"192.168.{index}.1"
        self.server = f"https://{self.address}:{PORT}"
        self.pod_cidr = options.pod_cidr or f"10.{index}.0.0/16"
        self.cgroup = f"liqo-{run}-{name}"
        self.space = Namespace(name, self.directory)
        network.attach(self.space, name, self.address)
        self.processes: dict[str, Process] = {}
        self._commands: dict[str, list[object]] = {}
        self.kube = settings.kubernetes(options.kubernetes)
        self.authority = pki.Authority(self.directory / "pki", name)
        self.api = Api(self.space, self.address, PORT, self.authority.pair.certificate, self._admin())
        self.audit = audit.Audit(self.directory / "audit.log")
        self.nodes: list[Node] = []
        self._starts: list[tuple[float, float]] = []

    # -- starting and stopping ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts every component and waits until the API server, and the node if there is one, are ready."""
        self._write_configuration()
        self.run_component("etcd", [self.kube, *components.etcd(self.directory / "etcd")])
        self.run_component(
            "kube-apiserver", [self.kube, *components.apiserver(self.directory, self.address, PORT, self.options)]
        )
        self.nodes = [Node(self, 1 + number) for number in range(self.options.kubelet + self.options.second_kubelet)]
        for node in self.nodes:
            node.start_runtime()
        self.wait_api()
        manager = components.controller_manager(self.directory, self.options)
        self.run_component("kube-controller-manager", [self.kube, *manager])
        self.run_component("kube-scheduler", [self.kube, *components.scheduler(self.directory)])
        caller = rights.user("apiserver-kubelet-client")
        rights.bind(self, None, "liqo-test-kubelet-api", caller, role="system:kubelet-api-admin")
        if self.options.proxy:
            self.run_component("kube-proxy", [self.kube, "kube-proxy", "--config", self.directory / "proxy.yaml"])
        if self.options.dns:
            names.start(self)
        for node in self.nodes:
            node.start()
        self._wait_defaults("default")

    @property
    def node(self) -> Node | None:
        """The first real one."""
        return self.nodes[0] if self.nodes else None

    def wait_api(self, timeout: float = 60) -> None:
        """Waits until the API server is ready; from its start until then it may refuse what it later grants."""
        began = time.time()

        def ready() -> bool:
            server = self.processes["kube-apiserver"]
            if not server.running():
                raise RuntimeError(f"the API server of {self.name} ended with {server.exit_code()}; see {server.log}")
            return self.api.healthy()

        wait_for(ready, timeout, f"the API server of {self.name} to be ready")
        self._starts.append((began, time.time()))

    def refused(self, since: int = 0) -> list[audit.Entry]:
        """Requests answered 403, but not to Kubernetes itself, nor before the API server knew roles and bindings."""
        return [
            entry
            for entry in self.audit.refused(since)
            if not audit.is_system(entry)
            if not any(began <= audit.received(entry) <= ready for began, ready in self._starts)
            if not audit.came_early(entry, self.audit.entries())
        ]

    def stop(self) -> None:
        """Ends everything at once; a graceful end of an API server with open watches takes up to a minute."""
        self.space.close()
        for node in self.nodes[:1]:
            node.remove_cgroups()

    def process(self, component: str) -> Process:
        return self.processes[component]

    def kill(self, component: str) -> None:
        """Kills a component (SIGKILL) by its name, e.g. `kube-apiserver`."""
        self.processes[component].kill()

    def start_again(self, component: str) -> None:
        """Starts a component that was killed, by the same command; an API server until it is ready."""
        self.run_component(component, self._commands[component])
        if component in ("kube-apiserver", "etcd"):
            self.wait_api()

    def restart(self, component: str) -> None:
        """Kills a component and starts it again."""
        self.kill(component)
        self.start_again(component)

    def snapshot(self) -> Path:
        """Copies the database as it is; it stands still meanwhile, and its clients come back to it."""
        copy = self.directory / "etcd-snapshot"
        shutil.rmtree(copy, ignore_errors=True)
        self.kill("etcd")
        shutil.copytree(self.directory / "etcd", copy)
        self.start_again("etcd")
        return copy

    def restore(self, snapshot: Path) -> None:
        """Goes back to a snapshot, as the manual of Kubernetes says: everything is stopped, and started on the copy."""
        clients = ("kube-controller-manager", "kube-scheduler", "kwok", "kubelet")
        others = [name for name in self.processes if name.startswith(clients)]
        for component in (*others, "kube-apiserver", "etcd"):
            self.kill(component)
        shutil.rmtree(self.directory / "etcd")
        shutil.copytree(snapshot, self.directory / "etcd")
        self.run_component("etcd", self._commands["etcd"])
        self.start_again("kube-apiserver")
        self.wait_api()
        # A restarted kwok waits until the leases of its nodes expire, and now and then forgets one.
        for lease in self.api.list("leases", "kube-node-lease"):
            if "-fake-" in lease["metadata"]["name"]:
                self.api.delete("leases", "kube-node-lease", lease["metadata"]["name"])
        for component in others:
            self.start_again(component)

    def run_component(self, component: str, command: Sequence[object]) -> Process:
        """Starts a program beside the others, by a name that `kill` and `start_again` take."""
        self._commands[component] = list(command)
        # kube-scheduler exits if its cache contradicts the API server: one that was killed may have bound a pod without
        # answering. A kubelet would restart it, and so does `keep`.
        self.processes[component] = self.space.start(component, command, keep=component == "kube-scheduler")
        return self.processes[component]

    # -- users ----------------------------------------------------------------------------------------------------

    def _admin(self) -> pki.Pair:
        """The hand of the tests themselves; nothing under test ever uses it."""
        return self.authority.issue("admin", "liqo-test-admin", ["system:masters"])

    def kubeconfig_of(self, file: str, user: str, groups: Sequence[str] = (), days: int = 3650) -> Path:
        """Writes a kubeconfig for a certificate user of this cluster."""
        pair = self.authority.issue(file, user, groups, days=days)
        return self.write_kubeconfig(file, pki.certificate_user(pair))

    def write_kubeconfig(self, file: str, user: dict) -> Path:
        target = self.directory / f"{file}.kubeconfig"
        target.write_text(pki.kubeconfig(self.server, self.authority.pair.certificate, user, self.name))
        return target

    def service_account(self, namespace: str, name: str, seconds: int = 30 * 24 * 3600) -> Path:
        """Makes sure of a ServiceAccount and writes a kubeconfig with a token for it."""
        self.api.apply("serviceaccounts", namespace, {"kind": "ServiceAccount", "metadata": {"name": name}})
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": seconds},
        }
        token = self.api.request("POST", path("serviceaccounts", namespace, name, "token"), body)["status"]["token"]
        return self.write_kubeconfig(f"{namespace}-{name}", {"token": token})

    def as_user(self, user: pki.Pair | str | None) -> Api:
        """A client as another user: a certificate, a token, or nobody."""
        return Api(self.space, self.address, PORT, self.authority.pair.certificate, user)

    # -- kubectl and objects --------------------------------------------------------------------------------------

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.directory / "admin.kubeconfig"

    def kubectl(
        self, *arguments: object, stdin: str | bytes | None = None, timeout: float = 60, check: bool = True
    ) -> str:
        """Runs kubectl as the administrator and returns its output."""
        return self.space.run(*self.kubectl_command(*arguments), stdin=stdin, timeout=timeout, check=check)

    def kubectl_command(self, *arguments: object) -> list[object]:
        return [self.kube, "kubectl", "--kubeconfig", self.kubeconfig, *arguments]

    def kubectl_started(self, *arguments: object, **options: Any) -> subprocess.Popen[bytes]:
        """Starts kubectl for things that go on, such as `logs -f` and an interactive `exec`, with pipes unless told."""
        defaults = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(self.space.entering(self.kubectl_command(*arguments)), **{**defaults, **options})

    def apply(self, manifest: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str) -> None:
        """Applies manifests: YAML text, one object, or several."""
        if isinstance(manifest, Mapping):
            manifest = [manifest]
        text = manifest if isinstance(manifest, str) else yaml.safe_dump_all(manifest)
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=text)

    def namespace(
        self, name: str, labels: Mapping[str, str] | None = None, annotations: Mapping[str, str] | None = None
    ) -> str:
        """Makes sure of a namespace, and waits until pods can be created in it."""
        metadata = {"name": name, "labels": dict(labels or {}), "annotations": dict(annotations or {})}
        self.api.apply("namespaces", None, {"kind": "Namespace", "metadata": metadata})
        self._wait_defaults(name)
        return name

    def cordon(self, node: str, unschedulable: bool = True) -> None:
        """Cordons a node or opens it again, and waits until Kubernetes has taken notice."""
        self.api.patch("nodes", None, node, {"spec": {"unschedulable": unschedulable}})

        def is_noticed() -> bool:
            taints = self.api.get("nodes", None, node)["spec"].get("taints", [])
            return any(taint["key"] == "node.kubernetes.io/unschedulable" for taint in taints) == unschedulable

        wait_for(is_noticed, 60, f"the taint of {node} to follow")

    def _wait_defaults(self, namespace: str) -> None:
        what = f"the default ServiceAccount of {self.name}/{namespace}"
        wait_for(lambda: self.api.find("serviceaccounts", namespace, "default"), 60, what)
        wait_for(lambda: self.api.find("configmaps", namespace, "kube-root-ca.crt"), 60, what)

    def pod(self, namespace: str, name: str) -> dict | None:
        return self.api.find("pods", namespace, name)

    def pods(self, namespace: str, selector: str = "", fields: str = "") -> list[dict]:
        return self.api.list("pods", namespace, selector, fields)

    def running(self, namespace: str) -> int:
        """How many pods of a namespace run."""
        return sum(pod["status"].get("phase") == "Running" for pod in self.pods(namespace))

    def events(self, namespace: str, about: str) -> list[dict]:
        """The events about the object of that name."""
        return self.api.list("events", namespace, fields=f"involvedObject.name={about}")

    def add_kwok_nodes(self, count: int, pods_per_node: int = 250) -> None:
        """Adds nodes that only pretend to run pods; needs no kubelet and holds thousands."""
        if "kwok" not in self.processes:
            kwok.prepare(self)
            arguments = components.kwok(self.directory, self.pod_cidr, self.options)
            self.run_component("kwok", [settings.tool("kwok"), *arguments])
        kwok.add_nodes(self, count, pods_per_node)

    # -- configuration --------------------------------------------------------------------------------------------

    def _write_configuration(self) -> None:
        issue = self.authority.issue
        first_service_ip = self.options.service_cidr.rpartition(".")[0] + ".1"
        names = ["DNS:kubernetes", "DNS:kubernetes.default.svc", "DNS:localhost", "IP:127.0.0.1"]
        issue("apiserver", "kube-apiserver", names=[*names, f"IP:{self.address}", f"IP:{first_service_ip}"])
        issue("kubelet-client", "apiserver-kubelet-client")
        pki.token_keys(self.directory / "pki")
        pki.Authority(self.directory / "front-proxy", "front-proxy").issue("client", components.FRONT_PROXY)
        self.write_kubeconfig(
            "admin", pki.certificate_user(pki.Pair(self.directory / "pki/admin.crt", self.directory / "pki/admin.key"))
        )
        self.kubeconfig_of("controller-manager", "system:kube-controller-manager")
        self.kubeconfig_of("scheduler", "system:kube-scheduler")
        (self.directory / "audit-policy.yaml").write_text(yaml.safe_dump(audit.policy(self.options.audit_status)))
        if self.options.shows_certificate:
            callers.write(self.directory, self.address)
        if self.options.proxy:
            self.kubeconfig_of("proxy", "system:kube-proxy")
            config = components.proxy_config(self.directory, f"{self.name}-1", self.pod_cidr)
            (self.directory / "proxy.yaml").write_text(yaml.safe_dump(config))


# This script runs on, whatever signal it gets, until somebody touches /tmp/end in its container.
UNTIL_TOLD = "until [ -e /tmp/end ]; do sleep 0.2; done"


def busybox(name: str, script: str = "sleep 1000000", **spec: Any) -> dict[str, Any]:
    """A pod of one busybox container that runs a shell script; `spec` adds to the pod's spec.

    The grace period is one second: a shell as process 1 ignores SIGTERM, and stories have no time for 30.
    """
    container = {
        "name": "main",
        "image": BUSYBOX_IMAGE,
        "imagePullPolicy": "Never",
        "command": ["/bin/sh", "-c", script],
    }
    spec = {"containers": [container], "terminationGracePeriodSeconds": 1, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def asking(name: str, cpu: str) -> dict[str, Any]:
    """A busybox pod that requests so much CPU, and 8 MiB of memory."""
    pod = busybox(name)
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu, "memory": "8Mi"}}
    return pod
