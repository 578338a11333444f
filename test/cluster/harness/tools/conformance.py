"""Lists Kubernetes' own tests, and runs them on clusters of these stories, without Liqo and through a virtual node."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import yaml

from .. import settings
from ..cluster import components, names
from ..cluster.cluster import PORT, Cluster
from ..cluster.components import Options
from ..liqo import chart
from ..liqo.peering import TAINT
from ..liqo.peers import SOON, Peer
from ..run import Run
from ..wait import wait_for
from . import conformance_score
from .conformance_score import FOCUS, Score

_LISTS = settings.SUITE / "conformance"
# What passes on the plain provider; what of it cannot through a virtual node; what of it every whole run of the stories tells.
PLAIN, CANNOT, SELECTION = (_LISTS / f"{name}.txt" for name in ("plain", "cannot", "selection"))
# How long a run of all tests may take.
WHOLE = "6h"
# rome's range of Services; milan has the usual one.
_SERVICES = "10.97.0.0/16"
_REVERSE_ZONE = "97.10.in-addr.arpa"
# The suite labels all namespaces that it makes for tests.
_OFFLOADING = ("--offload-namespaces", "e2e-run", "--offload-namespaces-pod-strategy", "Remote")
# What the page calls the open column: what the consumer says beyond that, and what the provider lets it do.
_OPEN_FLAGS = (
    "--offload-namespaces-mapping-strategy", "EnforceSameName", "--secret-reflection-type", "All",
    "--apiserver-support", "always",
)  # fmt: skip
OPEN_POLICY = {
    **dict.fromkeys(
        (
            "hostNamespaces", "hostPath", "nodeVolumes", "hostPorts", "privileged", "unconfined", "nodeName",
            "probeHosts", "otherNamespaces", "resourceClaims", "externalIPs", "externalNameBackends",
        ),
        True,
    ),
    **dict.fromkeys(
        (
            "annotations", "labels", "objectAnnotations", "objectLabels", "serviceAnnotations", "ingressAnnotations",
            "ingressClasses", "loadBalancerClasses", "capabilities", "sysctls", "serviceAccounts", "priorityClasses",
            "schedulers", "runtimeClasses", "certificateSigners", "tolerations", "storageClasses", "twinNames",
        ),
        ["*"],
    ),
}  # fmt: skip


def known(directory: Path) -> list[str]:
    """The names of all tests of these areas; nothing runs."""
    listed = directory / "known.json"
    program = settings.tool("conformance/suite")
    command = [program, "--ginkgo.dry-run", f"--ginkgo.focus={FOCUS}", f"--ginkgo.json-report={listed}"]
    command += ["--provider=skeleton", "--kubeconfig=none"]
    subprocess.run(command, check=True, capture_output=True, cwd=directory)
    tests = []
    for suite in json.loads(listed.read_text()):
        for spec in suite["SpecReports"] or ():
            texts = [*(spec["ContainerHierarchyTexts"] or ()), spec["LeafNodeText"]]
            if spec["LeafNodeType"] == "It" and spec["State"] != "skipped":
                tests.append(" ".join(texts))
    return sorted(name for name in tests if re.search(FOCUS, name))


def sample(tests: Sequence[str], count: int, seed: int) -> list[str]:
    """So many of them, the same for the same seed."""
    return sorted(random.Random(seed).sample(list(tests), count)) if count else list(tests)


def run(cluster: Cluster, tests: Sequence[str], directory: Path, processes: int, *, limit: str = WHOLE) -> Path:
    """Runs these tests in the network of a cluster; returns the file with what came of them. What has not ended within the
    limit has not passed."""
    directory.mkdir(parents=True, exist_ok=True)
    results = directory / "results.jsonl"
    suite, kubectl = directory / "conformance.test", directory / "kubectl"
    for link, target in ((suite, settings.tool("conformance/suite")), (kubectl, cluster.kube)):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    focus = "|".join(re.escape(name) + "$" for name in tests)
    command: list[object] = [
        settings.tool("conformance/ginkgo"), "run", f"--procs={processes}", "--no-color", f"--timeout={limit}",
        f"--focus={focus}", suite, "--",
        f"--results={results}", f"--kubeconfig={cluster.kubeconfig}", f"--kubectl-path={kubectl}",
        "--provider=skeleton",
        # A virtual node has this taint, which the admission of Liqo lets offloaded pods tolerate.
        f"--non-blocking-taints={TAINT}",
        "--dump-logs-on-failure=true", "--allowed-not-ready-nodes=0", "--node-schedulable-timeout=1m",
    ]  # fmt: skip
    with (directory / "suite.log").open("w") as log:
        environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig), "HOME": str(directory)}
        words = ["nice", *cluster.space.entering(command)]
        running = subprocess.Popen(
            words, stdout=log, stderr=log, cwd=directory, env=environment, start_new_session=True
        )
        try:
            running.wait()
        finally:
            # The processes of the suite would go on without it.
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    return results


def plain(run: Run) -> Cluster:
    """The provider, without Liqo."""
    milan = run.start(milan=_provider())["milan"]
    assert milan.node
    milan.node.give(settings.e2e_images())
    return milan


def _provider() -> Options:
    return Options(kubelet=True, proxy=True, dns=True, pod_cgroups=True, host_ports=True, audit_status=True)


@dataclass
class Virtual:
    """rome, which has no node but the one that stands for milan."""

    rome: Peer
    milan: Peer

    @classmethod
    def start(cls, run: Run, opened: bool, home_names: bool = False) -> Virtual:
        """Starts and peers both; `opened` with the policies of the open column; with `home_names` pods at milan find
        Services by their names at home."""
        clusters = run.start(rome=Options(service_cidr=_SERVICES), milan=_provider())
        milan_node = clusters["milan"].node
        assert milan_node
        milan_node.give(settings.e2e_images())
        rome = clusters["rome"]
        if home_names:
            names.asked_by_processes(clusters["milan"])
        chart.install(rome)
        chart.allow_namespaces(rome)
        flags = [*_OFFLOADING, "--home-api-server-host", rome.address, "--home-api-server-port", str(PORT)]
        if opened:
            flags += _OPEN_FLAGS
        consumer, provider = Peer(rome, tuple(flags)), Peer(clusters["milan"])
        consumer.peer_with(provider, "--cpu", 32, "--memory", "64Gi", "--pods", 1000)
        if opened:
            namespace = provider.home(consumer)
            annotations = {
                "liqo.io/pod-policy": json.dumps(OPEN_POLICY),
                "offloading.liqo.io/twin-pod-security": "privileged",
            }
            provider.api.patch("namespaces", None, namespace, {"metadata": {"annotations": annotations}})
        virtual = cls(consumer, provider)
        if home_names:
            virtual._enable_home_names()
        virtual._route_services()
        return virtual

    def _enable_home_names(self) -> None:
        names.publish(self.milan.cluster)
        self.milan.liqoctl("enable", "home-names", "--yes")
        names.take(self.milan.cluster)

        def known() -> bool:
            labels = self.rome.api.get("nodes", None, self.milan.name)["metadata"]["labels"]
            return labels.get("liqo.io/home-names") == "true"

        wait_for(known, 2 * SOON, "the virtual node to know names of home")

    def _route_services(self) -> None:
        """Has rome's addresses of Services lead to their pods from milan as well, and from there to their names. Names of
        Services need no such thing: they lead to those of the twin. Addresses do, as in any network that spans clusters."""
        rome, milan = self.rome.cluster, self.milan.cluster
        rome.kubeconfig_of("proxy", "system:kube-proxy")
        config = components.proxy_config(rome.directory, milan.name, rome.pod_cidr)
        (rome.directory / "proxy.yaml").write_text(yaml.safe_dump(config))
        rome.run_component("kube-proxy", [rome.kube, "kube-proxy", "--config", rome.directory / "proxy.yaml"])
        milan.space.run("ip", "route", "replace", _SERVICES, "via", rome.address)
        names.tell_reverse(milan, rome, _REVERSE_ZONE)

    def judge(
        self, tests: Sequence[str], directory: Path, processes: int, limit: str = WHOLE
    ) -> tuple[Score, list[str]]:
        """Runs these tests through the virtual node: the score, and pods that no admission had made ready to go."""
        results = run(self.rome.cluster, tests, directory, processes, limit=limit)
        here, there = (peer.cluster.directory / "audit.log" for peer in (self.rome, self.milan))
        wanted = set(tests)
        score = conformance_score.judge(
            [test for test in conformance_score.from_list(PLAIN.read_text()) if test.name in wanted],
            conformance_score.read(results),
            conformance_score.namespaces_of_tests(here),
            conformance_score.at_home(conformance_score.started(there), self.rome.name),
        )
        return score, conformance_score.slipped(conformance_score.created_pods(here))
