"""The stage of `tools/bench scale`: rome, which offloads to milan and to stand-ins for other providers.

Namespaces and twins that Liqo's controllers would make one by one are written at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from harness import objects
from harness.cluster import audit
from harness.cluster.cluster import Cluster, busybox
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.liqo.peering import RESOURCES, Peering
from harness.run import Run
from harness.wait import wait_for
from request_log import RequestLog, goes_by_the_clock, policy
from stand_ins import StandIn, StandIns

PODS_PER_NODE = 250
# No provider gives one consumer more twins.
MAX_TWINS = 1000
# Rest is measured first with this few twins, all of them milan's.
FEW_TWINS = 100
PATIENCE = 900.0


@dataclass(frozen=True)
class Size:
    pods: int
    nodes: int
    providers: int
    namespaces: int

    @property
    def twins(self) -> int:
        """How many of the namespaces have their twins in milan."""
        return min(MAX_TWINS, self.namespaces // 2)

    @property
    def few(self) -> int:
        return min(FEW_TWINS, self.twins)


def home_of(number: int) -> str:
    return f"scale-{number}"


def twin_of(number: int) -> str:
    return f"scale-{number}-rome"


class ScaleStage:
    """Both clusters, both liqods, and the stand-ins; daemons are started by who measures."""

    def __init__(self, run: Run, size: Size):
        self.run, self.size = run, size
        file = run.directory / "audit-policy.json"
        file.write_text(json.dumps(policy("rome")))
        # Silent nodes do not matter here: kwok would renew 40 leases for nothing.
        options = Options(node_grace_seconds=3600, extra_apiserver=(f"--audit-policy-file={file}",))
        clusters = run.start(rome=options, milan=options)
        self.rome, self.milan = clusters["rome"], clusters["milan"]
        self.logs = [RequestLog(cluster.name, cluster.directory / "audit.log") for cluster in clusters.values()]
        self.milan.add_kwok_nodes(size.pods // PODS_PER_NODE + 2, PODS_PER_NODE)
        kubeconfigs = {cluster.name: chart.install(cluster) for cluster in clusters.values()}
        room = {**RESOURCES, "pods": str(2 * size.pods + 1000)}
        self.peering = Peering(self.rome, self.milan).establish(room)
        # Admission is off, as in the bench of offloading: it has a bench of its own.
        self.home = Liqod(self.rome, kubeconfigs["rome"], 10250, webhooks=False)
        self.away = Liqod(self.milan, kubeconfigs["milan"], 10260, webhooks=False)
        self.stand_ins = StandIns(run, self.rome, size.providers - 1, size.nodes - 1)

    @property
    def daemons(self) -> tuple[Liqod, Liqod]:
        return self.home, self.away

    # -- namespaces ----------------------------------------------------------------------------------------------

    def offload(self, numbers: Sequence[int]) -> None:
        """Makes these namespaces, of which the first ones have their twins in milan and the others in the stand-ins, in
        turn. liqod must not run: it would look at all of them for each."""
        homes: dict[str, list[int]] = {}
        providers = self.stand_ins.providers
        for number in numbers:
            of_milan = number < self.size.twins
            homes.setdefault("milan" if of_milan else providers[number % len(providers)].name, []).append(number)
        for provider, its in homes.items():
            each(its, lambda number, provider=provider: self._make(number, provider))
        for cluster in (self.rome, self.milan):
            self._wait_for_defaults(cluster)
        for provider, its in homes.items():
            self._map(provider, its)

    def _make(self, number: int, provider: str) -> None:
        home, twin = home_of(number), twin_of(number)
        self.rome.api.create("namespaces", None, {"kind": "Namespace", "metadata": {"name": home}})
        chosen = {"key": "liqo.io/remote-cluster-id", "operator": "In", "values": [provider]}
        asked = objects.asking_for(twin, clusterSelector={"nodeSelectorTerms": [{"matchExpressions": [chosen]}]})
        self.rome.api.create("namespaceoffloadings", home, asked)
        if provider == "milan":
            self._make_twin(home, twin)

    def _make_twin(self, home: str, twin: str) -> None:
        managed = {"liqo.io/managed-by-namespace-map": f"{self.peering.away}/milan"}
        labels = {"liqo.io/remote-cluster-id": "rome"}
        annotations = {**managed, "liqo.io/original-name": home}
        metadata = {"name": twin, "labels": labels, "annotations": annotations}
        self.milan.api.create("namespaces", None, {"kind": "Namespace", "metadata": metadata})
        group = "rbac.authorization.k8s.io"
        labels = {**labels, "app.kubernetes.io/managed-by": "liqo"}
        binding = {
            "kind": "RoleBinding",
            "metadata": {"name": self.peering.away, "labels": labels, "annotations": managed},
            "subjects": [{"kind": "Group", "name": "rome", "apiGroup": group}],
            "roleRef": {"kind": "ClusterRole", "name": chart.REMOTE_ROLE, "apiGroup": group},
        }
        self.milan.api.create("rolebindings", twin, binding)

    def _wait_for_defaults(self, cluster: Cluster) -> None:
        """The root CAs and the ServiceAccounts without which no pod is made."""
        count = len(cluster.api.list("namespaces"))

        def ready() -> bool:
            by_name = (("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default"))
            return all(len(cluster.api.list(kind, fields=f"metadata.name={name}")) >= count for kind, name in by_name)

        wait_for(ready, PATIENCE, f"what every namespace of {cluster.name} has", interval=2)

    def _map(self, provider: str, numbers: Iterable[int]) -> None:
        patch, home = self.rome.api.patch, f"liqo-tenant-{provider}"
        twins = {home_of(number): twin_of(number) for number in numbers}
        patch("namespacemaps", home, provider, {"spec": {"desiredMapping": twins}})
        answers = {name: {"remoteNamespace": twin, "phase": "Accepted"} for name, twin in twins.items()}
        patch("namespacemaps", home, provider, {"status": {"currentMapping": answers}}, "status")

    # -- providers -----------------------------------------------------------------------------------------------

    def add_stand_ins(self) -> None:
        """All of them and their virtual nodes."""
        for provider in self.stand_ins.providers:
            self.stand_ins.start(provider)
            self.stand_ins.peer(provider)

    def wait_nodes(self, count: int) -> None:
        """Waits until so many virtual nodes are Ready."""

        def ready() -> bool:
            nodes = self.rome.api.list("nodes", selector="liqo.io/type=virtual-node")
            conditions = [c for node in nodes for c in node["status"].get("conditions", []) if c["type"] == "Ready"]
            found = sum(condition["status"] == "True" for condition in conditions)
            assert found >= count, f"{found} of {count} are"
            return True

        wait_for(ready, PATIENCE, f"{count} virtual nodes to be Ready", interval=1)

    def wait_copies(self) -> None:
        """Waits until each twin in milan has a copy of its namespace's root CA. Until then they are read, and lists alone
        make liqod look settled."""

        def copied() -> bool:
            found = len(self.milan.api.list("configmaps", selector=f"offloading.liqo.io/origin={self.rome.name}"))
            assert found >= self.size.twins, f"{found} of {self.size.twins} are"
            return True

        wait_for(copied, PATIENCE, "the twins to have their copies", interval=2)

    def wait_told(self, provider: StandIn, words: str) -> None:
        """Waits until the Nodes of a provider are not Ready, for that reason."""

        def told() -> bool:
            for name in provider.nodes:
                conditions = self.rome.api.get("nodes", None, name)["status"]["conditions"]
                (ready,) = [condition for condition in conditions if condition["type"] == "Ready"]
                assert ready["status"] == "False" and words in ready["message"], ready
            return True

        wait_for(told, PATIENCE, f"the Nodes of {provider.name} to say: {words}", interval=1)

    # -- pods ----------------------------------------------------------------------------------------------------

    def namespace_of_pod(self, number: int) -> str:
        """Pods fill one namespace after the other, so that the first hundred are spread as the last are."""
        per_namespace = -(-self.size.pods // self.size.twins)
        return home_of(number // per_namespace)

    def create_pod(self, namespace: str, name: str) -> None:
        pod = self.peering.pinned(busybox("pod"))
        self.rome.api.create("pods", namespace, {**pod, "metadata": {"name": name}})

    def occupy(self, provider: StandIn, count: int) -> None:
        """One pod in each of so many twins of a provider, as a twin without pods is not watched. They stay pending."""
        providers = self.stand_ins.providers
        its = [n for n in range(self.size.twins, self.size.namespaces) if providers[n % len(providers)] is provider]
        pod = Peering(self.rome, provider, provider.nodes[0]).pinned(busybox("pod"))
        for number in its[:count]:
            self.rome.api.create("pods", home_of(number), {**pod, "metadata": {"name": "occupant"}})

    def create_pods(self, numbers: range) -> None:
        each(numbers, lambda number: self.create_pod(self.namespace_of_pod(number), f"pod-{number}"))

    # -- quiet ---------------------------------------------------------------------------------------------------

    def settle(self, quiet: float = 5, timeout: float = PATIENCE) -> None:
        """Waits until liqod has asked for nothing for a while but what goes by the clock."""
        seen = [log.mark() for log in self.logs]
        since, until = time.monotonic(), time.monotonic() + timeout
        while time.monotonic() - since < quiet:
            time.sleep(0.5)
            now = [log.mark() for log in self.logs]
            busy = [
                f"{log.name}: {audit.described(entry)}"
                for log, mark in zip(self.logs, seen, strict=True)
                for entry in log.entries(mark)
                if not goes_by_the_clock(entry)
            ]
            seen = now
            if busy:
                since = time.monotonic()
            assert time.monotonic() < until, f"liqod is still busy after {timeout:g} s: {busy[-3:]}"


def each(numbers: Iterable[int], act: Callable[[int], None]) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(act, numbers))
