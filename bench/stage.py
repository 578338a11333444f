"""The stage of the bench: rome without nodes of its own, milan with fake ones, a peering, and a node for the bare client."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import yaml
from harness.cluster.api import path
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.liqo.peering import RESOURCES, Peering
from harness.run import Run
from harness.wait import wait_for
from measure import AUDIT_POLICY

# Pods of a fake node; a load and the single pods fit with room to spare.
PODS_PER_NODE = 250
# The bare client has a node of its own at home, and a twin of its own.
LIMIT_NODE = "limit"
_LIMIT_USER = "bench-bare-client"
_LIMIT_RULES = [
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch", "create"]},
    {"apiGroups": [""], "resources": ["pods/status"], "verbs": ["patch"]},
]


class Stage:
    """Both clusters and what lies in them; daemons come and go."""

    def __init__(self, run: Run, policy: Path, pods: int, admission: bool):
        self.run, self.admission = run, admission
        options = Options(
            # Silent nodes do not matter here: the daemons are stopped while the bare client runs.
            node_grace_seconds=3600,
            extra_apiserver=(f"--audit-policy-file={policy}",),
        )
        clusters = run.start(rome=options, milan=options)
        self.rome, self.milan = clusters["rome"], clusters["milan"]
        self.milan.add_kwok_nodes(pods // PODS_PER_NODE + 2, PODS_PER_NODE)
        self.kubeconfigs = {cluster.name: chart.install(cluster) for cluster in clusters.values()}
        self.peering = Peering(self.rome, self.milan).establish({**RESOURCES, "pods": str(2 * pods + 1000)})
        self.home = self.rome.namespace("bench")
        self.twin = self.peering.offload(self.home)
        self.plain = self.milan.namespace("bench-plain")
        self.limit_home = self.rome.namespace("bench-limit")
        self.limit_twin = self.milan.namespace("bench-limit-rome")
        self._limit_node(2 * pods + 1000)
        self.limit_kubeconfigs = [self._limit_user(cluster) for cluster in clusters.values()]

    def _limit_node(self, room: int) -> None:
        resources = {"cpu": "1024", "memory": "4Ti", "pods": str(room)}
        condition = {"type": "Ready", "status": "True", "reason": "Bench", "message": ""}
        status = {"capacity": resources, "allocatable": resources, "conditions": [condition]}
        metadata = {"name": LIMIT_NODE, "labels": {"kubernetes.io/hostname": LIMIT_NODE}}
        self.rome.api.create("nodes", None, {"kind": "Node", "metadata": metadata, "status": status})

    def _limit_user(self, cluster: Cluster) -> Path:
        """The bare client's identity: subject to the server's fairness and authorisation, as liqod is."""
        role = {"kind": "ClusterRole", "metadata": {"name": _LIMIT_USER}, "rules": _LIMIT_RULES}
        cluster.api.apply("clusterroles", None, role)
        group = "rbac.authorization.k8s.io"
        binding = {
            "kind": "ClusterRoleBinding",
            "metadata": {"name": _LIMIT_USER},
            "subjects": [{"kind": "User", "name": _LIMIT_USER, "apiGroup": group}],
            "roleRef": {"kind": "ClusterRole", "name": _LIMIT_USER, "apiGroup": group},
        }
        cluster.api.apply("clusterrolebindings", None, binding)
        return cluster.kubeconfig_of(_LIMIT_USER, _LIMIT_USER)

    @contextmanager
    def daemons(self) -> Iterator[tuple[Liqod, Liqod]]:
        """One liqod in each cluster, the virtual node ready; they are killed at the end: how they stop is not measured."""
        # Admission is usually off: the bare client does without it, too.
        started = [Liqod(cluster, self.kubeconfigs[cluster.name], port, webhooks=self.admission) for cluster, port in
                   ((self.milan, 10260), (self.rome, 10250))]  # fmt: skip
        for daemon in started:
            daemon.start()
        self.peering.wait_ready()
        try:
            yield started[1], started[0]
        finally:
            for daemon in started:
                if daemon.running:
                    daemon.kill()

    def create_pods(self, namespace: str, node: str, count: int) -> None:
        """Creates the pods from several threads; the scheduler binds them to the node that they select."""
        pinned = self.peering.pinned(busybox("pod"))
        pinned["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}

        def create(number: int) -> None:
            self.rome.api.create("pods", namespace, {**pinned, "metadata": {"name": f"pod-{number}"}})

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(create, range(count)))

    def wait_recorded(self, count: int, timeout: float = 120) -> None:
        """Waits until that many ShadowPods say that their pods run. Each look is a list of all of them."""

        def is_recorded() -> bool:
            shadows = self.milan.api.list("shadowpods", self.twin)
            running = sum(shadow.get("status", {}).get("phase") == "Running" for shadow in shadows)
            assert running >= count, f"{running} of {count} ShadowPods say that their pods run"
            return True

        wait_for(is_recorded, timeout, "the records that pods run", interval=2)

    def wait_empty(self, timeout: float = 600) -> None:
        """Waits until neither side has pods or shadow pods of the bench. A look costs next to nothing."""

        def left() -> list[str]:
            places = [(self.rome, self.home, "pods"), (self.milan, self.twin, "pods"),
                      (self.milan, self.twin, "shadowpods"), (self.rome, self.limit_home, "pods"),
                      (self.milan, self.limit_twin, "pods"), (self.milan, self.plain, "pods")]  # fmt: skip
            return [
                f"{what} in {cluster.name}/{namespace}"
                for cluster, namespace, what in places
                if cluster.api.request("GET", path(what, namespace), query={"limit": 1})["items"]
            ]

        def empty() -> bool:
            assert not (found := left()), ", ".join(found)
            return True

        wait_for(empty, timeout, "the bench's pods to be gone", interval=0.5)


@contextmanager
def stage(pods: int, admission: bool) -> Iterator[Stage]:
    """Everything from nothing; at the end nothing of it is left."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as policy:
        yaml.safe_dump(AUDIT_POLICY, policy)
        policy.flush()
        os.chmod(policy.name, 0o644)
        run = Run()
        try:
            yield Stage(run, Path(policy.name), pods, admission)
        except BaseException:
            if run.clusters:
                print(f"bench: logs are kept in {run.keep_logs('bench')}", flush=True)
            raise
        finally:
            run.close()
