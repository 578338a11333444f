"""A real node of a cluster: containerd and a kubelet, whose leavings (cgroups) go with the cluster."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from .. import settings
from ..wait import wait_for
from . import components

if TYPE_CHECKING:
    from .cluster import Cluster

# Directories to which containerd, runc, CNI and the kubelet write, whatever their configuration says.
_PRIVATE = ("/run", "/var/log", "/var/lib/cni", "/var/lib/kubelet")


class Node:
    """Runs inside the namespaces of `cluster`, so it is killed, and its mounts are dropped, with them.

    A second one shares the first one's address and places; what would collide there has its number.
    """

    def __init__(self, cluster: Cluster, number: int = 1):
        self.cluster, self.number, self.name = cluster, number, f"{cluster.name}-{number}"
        self.directory = cluster.directory if number == 1 else cluster.directory / f"node-{number}"
        self._suffix = "" if number == 1 else f"-{number}"

    @property
    def socket(self) -> Path:
        """Of its containerd."""
        return self.directory / "containerd.sock"

    def start_runtime(self) -> None:
        """Starts containerd; it needs no API server, so it comes up while that does."""
        cluster, directory = self.cluster, self.directory
        directory.mkdir(exist_ok=True)
        for place in _PRIVATE if self.number == 1 else ():
            Path(place).mkdir(parents=True, exist_ok=True)
            subprocess.run(
                ["nsenter", f"--mount=/proc/{cluster.space.pid}/ns/mnt", "mount", "-t", "tmpfs", "liqo-test", place],
                check=True,
            )
        (directory / "cni").mkdir()
        (directory / "cni/10-pods.conflist").write_text(
            json.dumps(components.network_config(cluster.directory, cluster.pod_cidr, cluster.options))
        )
        (directory / "containerd.toml").write_text(components.containerd_config(directory))
        pki, address, options = cluster.directory / "pki", cluster.address, cluster.options
        kubelet = components.kubelet_config(
            directory, pki, self.number, cluster.cgroup, address=address, options=options
        )
        (directory / "kubelet.yaml").write_text(yaml.safe_dump(kubelet))
        if cluster.options.pod_cgroups:
            make_cgroups(cluster.cgroup)
        cluster.kubeconfig_of(f"kubelet-{self.number}", f"system:node:{self.name}", ["system:nodes"])
        # For `kubectl logs` the cluster's API server verifies this certificate against the cluster's authority.
        names = [f"IP:{cluster.address}", f"DNS:{self.name}"]
        serving = f"kubelet-serving-{self.number}"
        cluster.authority.issue(serving, f"system:node:{self.name}", ["system:nodes"], names)
        cluster.run_component(f"containerd{self._suffix}", ["containerd", "-c", directory / "containerd.toml"])

    def start(self) -> None:
        """Imports the images, starts the kubelet and waits until the node is ready."""
        wait_for(lambda: self._ctr("version"), 60, f"containerd of {self.name}")
        self.give(settings.images())
        self.start_kubelet()
        wait_for(self.ready, 120, f"node {self.name} to be ready")

    def give(self, archive: Path) -> None:
        """Imports an image, as docs/image.md says for containerd: there is no registry."""
        assert self._ctr("images", "import", archive), f"containerd of {self.name} does not take {archive.name}"

    def name_image(self, image: str, name: str) -> None:
        """Gives an image of the node a further name: that of one that a user would pull."""
        assert self._ctr("images", "tag", image, name), f"containerd of {self.name} does not name {image}"

    def start_kubelet(self) -> None:
        kubeconfig = self.cluster.directory / f"kubelet-{self.number}.kubeconfig"
        command = components.kubelet(self.directory, kubeconfig, self.name, self.cluster.address)
        self.cluster.run_component(f"kubelet{self._suffix}", [self.cluster.kube, *command])

    def name_containers(self) -> None:
        """Has /metrics/cadvisor name pods: that part of the kubelet looks for containerd at its usual place only."""
        place = Path("/run/containerd/containerd.sock")
        inside = ["nsenter", f"--mount=/proc/{self.cluster.space.pid}/ns/mnt"]
        subprocess.run([*inside, "mkdir", "-p", place.parent], check=True)
        subprocess.run([*inside, "ln", "-s", self.directory / "containerd.sock", place], check=True)
        self.cluster.restart("kubelet")

    def ready(self) -> bool:
        return is_ready(self.cluster.api.find("nodes", None, self.name))

    def _ctr(self, *arguments: object) -> bool:
        command = ["ctr", "-a", self.socket, "-n", "k8s.io", *arguments]
        return subprocess.run([str(word) for word in command], capture_output=True).returncode == 0

    def remove_cgroups(self) -> None:
        remove_cgroups(self.cluster.cgroup)


def is_ready(node: dict | None) -> bool:
    """Whether a Node object says that it is ready."""
    conditions = (node or {}).get("status", {}).get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def make_cgroups(name: str) -> None:
    """Makes the cgroup below which a kubelet puts those of its pods, in the one tree of version 2, or in each of 1."""
    root = Path("/sys/fs/cgroup")
    trees = [root] if (root / "cgroup.controllers").exists() else [path for path in root.iterdir() if path.is_dir()]
    for tree in trees:
        group = tree / name
        group.mkdir(exist_ok=True)
        # In cgroup version 1, nothing runs in a group without processors.
        for given in ("cpuset.mems", "cpuset.cpus"):
            if (group / given).exists() and not (group / given).read_text().strip():
                (group / given).write_text((tree / given).read_text())


def remove_cgroups(prefix: str) -> None:
    """Removes the cgroups that dead containers left; the kernel drops only namespaces and mounts by itself."""
    root = Path("/sys/fs/cgroup")
    for top in [*root.glob(f"*/{prefix}*"), *root.glob(f"{prefix}*")]:
        if not top.is_dir() or top.is_symlink():
            continue
        for group in sorted(
            (path for path in top.rglob("*") if path.is_dir()), key=lambda path: len(path.parts), reverse=True
        ):
            _remove(group)
        _remove(top)


def _remove(group: Path) -> None:
    def gone() -> bool:
        try:
            group.rmdir()
        except FileNotFoundError:
            pass
        return True

    # The cgroup is busy for a moment after its last process was killed.
    wait_for(gone, 30, f"cgroup {group} to be empty")
