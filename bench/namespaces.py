"""The stage of `tools/bench reflection`: many namespaces at home, mapped to twins at a provider.

The bare client has as many namespaces. What Liqo's controllers do one by one is written at once here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from harness import objects
from harness.cluster import rights
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.liqo.peering import Peering
from harness.run import Run
from harness.wait import wait_for

ROOT = Path(__file__).resolve().parent.parent
VALUES = yaml.safe_load((ROOT / "charts/liqo/values.yaml").read_text(encoding="utf-8"))["offloading"]["reflection"]
# The reflected kinds: pods have workers, too, and are no copies.
KINDS = [name for name, one in VALUES.items() if "workers" in one and name != "pod"]
# Fields that a template needs besides what is reflected.
REQUIRED = {"containerImage": "none", "createNode": True, "disableNetworkCheck": True, "metricsEnabled": False}
# Objects that bare_copies makes in a namespace, and these with the root CA.
MADE, REFLECTED = 12, 13


class Namespaces:
    """Two clusters and a peering. The liqod is that of home: copying needs but an API server at the provider."""

    def __init__(self, run: Run, count: int):
        self.count = count
        clusters = run.start(rome=Options(), milan=Options())
        self.rome, self.milan = clusters["rome"], clusters["milan"]
        kubeconfigs = {cluster.name: chart.install(cluster) for cluster in clusters.values()}
        self.peering = Peering(self.rome, self.milan).establish()
        self.liqod = Liqod(self.rome, kubeconfigs["rome"], webhooks=False)
        self.user = self.milan.directory / "peering.kubeconfig"
        self.user.write_text(self.peering.kubeconfig())
        self.switch(on=False)
        self._each(self._make)
        self._wait_for_defaults()
        self._each(lambda number: self._bind(f"bench-{number}-rome"))
        self._each(lambda number: self._bind(f"limit-{number}-rome"))
        rights.bind(self.milan, f"limit-{count - 1}-rome", "last", rights.group("rome"), chart.REMOTE_ROLE)
        # The operator makes the objects at home: they are not measured.
        self.post(self.rome, self.rome.kubeconfig, "bench-", "")

    def _each(self, make: Callable[[int], None]) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(make, range(self.count)))

    def _make(self, number: int) -> None:
        home, twin = f"bench-{number}", f"bench-{number}-rome"
        managed = {"liqo.io/managed-by-namespace-map": f"{self.peering.away}/milan", "liqo.io/original-name": home}
        labels = {"liqo.io/remote-cluster-id": "rome"}
        for cluster, name, metadata in (
            (self.rome, home, {}),
            (self.milan, twin, {"labels": labels, "annotations": managed}),
            (self.milan, f"limit-{number}-rome", {"labels": labels}),
        ):
            cluster.api.create("namespaces", None, {"kind": "Namespace", "metadata": {"name": name, **metadata}})
        self.rome.api.create("namespaceoffloadings", home, objects.asking_for(twin))

    def _wait_for_defaults(self) -> None:
        """The root CAs, which every namespace has, and which are reflected, too."""

        def ready(cluster: Cluster, count: int) -> bool:
            fields = "metadata.name=kube-root-ca.crt"
            return len(cluster.api.list("configmaps", fields=fields)) >= count

        for cluster, count in ((self.rome, self.count), (self.milan, 2 * self.count)):
            wait_for(lambda c=cluster, n=count: ready(c, n), 300, f"the root CAs of {cluster.name}", interval=1)

    def _bind(self, twin: str) -> None:
        binding = {
            "kind": "RoleBinding",
            "metadata": {"name": "rome", "labels": {"app.kubernetes.io/managed-by": "liqo"}},
            "subjects": [rights.group("rome")],
            "roleRef": {"kind": "ClusterRole", "name": chart.REMOTE_ROLE, "apiGroup": "rbac.authorization.k8s.io"},
        }
        self.milan.api.create("rolebindings", twin, binding)

    def post(self, cluster: Cluster, kubeconfig: Path, prefix: str, suffix: str) -> float:
        """Has the bare client POST all objects; answers the seconds from its start to its end."""
        command = [
            ROOT / "build/release/bench/bare_copies", "--kubeconfig", kubeconfig, "--prefix", prefix,
            "--suffix", suffix, "--namespaces", self.count,
        ]  # fmt: skip
        began = time.monotonic()
        client = cluster.space.start("bare-copies", command)
        assert client.wait(1800) == 0, f"the bare client failed: {client.log.read_text()[-500:]}"
        return time.monotonic() - began

    def map(self) -> None:
        """Offloads all namespaces at once."""
        patch, home = self.rome.api.patch, self.peering.home
        twins = {f"bench-{number}": f"bench-{number}-rome" for number in range(self.count)}
        patch("namespacemaps", home, "milan", {"spec": {"desiredMapping": twins}})
        answers = {name: {"remoteNamespace": twin, "phase": "Accepted"} for name, twin in twins.items()}
        patch("namespacemaps", home, "milan", {"status": {"currentMapping": answers}}, "status")

    def switch(self, on: bool) -> None:
        """Switches all kinds on or off, as a user does: by the VkOptionsTemplate."""
        said = {} if on else {"reflectorsConfig": {kind: {"workers": 0, "type": "DenyList"} for kind in KINDS}}
        body = {"kind": "VkOptionsTemplate", "metadata": {"name": "virtual-kubelet-default"}}
        self.rome.api.apply("vkoptionstemplates", chart.NAMESPACE, {**body, "spec": {**REQUIRED, **said}})
