"""kubectl top, an autoscaler and Prometheus see what virtual nodes and their pods use, as of any node.

rome has no machines: two virtual nodes of milan and one of turin. A real metrics-server scrapes them. The stories
follow each other.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from harness.cluster import metrics_server, rights
from harness.cluster.cluster import busybox
from harness.cluster.components import QUICK_AUTOSCALER, Options
from harness.liqo import chart
from harness.liqo.peers import SOON, Peer
from harness.monitoring import kubelet_alerts
from harness.monitoring.monitoring import Prometheus
from harness.required import require_programs
from harness.run import Run
from harness.wait import patient, wait_for

NODES = ("milan", "annex", "turin")
BURN = "while :; do :; done"
# Kubelets read containers about every ten seconds, metrics-server reads kubelets as often, and needs two readings.
USAGE_SOON = 4 * metrics_server.RESOLUTION + 20


@dataclass
class Three:
    rome: Peer
    milan: Peer
    turin: Peer

    def asked(self, node: str, path: str) -> tuple[int, str]:
        code, body = self.rome.api.raw("GET", f"/api/v1/nodes/{node}/proxy{path}")
        return code, body.decode()

    def text(self, node: str, path: str) -> str:
        code, body = self.asked(node, path)
        assert code == 200, (node, path, code, body)
        return body

    def statistics(self, node: str) -> dict[str, Any]:
        return json.loads(self.text(node, "/stats/summary"))

    def top(self, *arguments: str) -> dict[str, tuple[int, int]]:
        """What kubectl shows, by name: millicores and MiB. A node that is not known is left out."""
        lines = self.rome.cluster.kubectl("top", *arguments, "--no-headers").splitlines()
        rows = [line.split() for line in lines if "<unknown>" not in line]
        place = 3 if arguments[0] == "node" else 2
        return {row[0]: (int(row[1].removesuffix("m")), int(row[place].removesuffix("Mi"))) for row in rows}


@pytest.fixture(scope="module")
def three(run: Run) -> Iterator[Three]:
    require_programs()
    machines = Options(kubelet=True)
    with run.borrow(rome=Options(extra_manager=QUICK_AUTOSCALER), milan=machines, turin=machines) as started:
        for cluster in started[1:]:
            assert cluster.node
            cluster.node.name_containers()
        with ThreadPoolExecutor(3) as pool:
            rome, milan, turin = pool.map(lambda cluster: Peer(cluster, usage=cluster.options.kubelet), started)
        rome.peer_with(milan, "--cpu=2", "--memory=1Gi", "--pods=10")
        rome.peer_with(turin, "--cpu=2", "--memory=1Gi", "--pods=10")
        rome.liqoctl("create", "resourceslice", "annex", "--remote-cluster-id", "milan", "--cpu", "1", "--pods", "5")
        wait_for(lambda: all(map(rome.node_ready, NODES)), SOON, "the nodes to be Ready")
        rome.cluster.namespace("shop")
        rome.liqoctl("offload", "namespace", "shop")
        metrics_server.start(rome.cluster)
        yield Three(rome, milan, turin)


def pinned(name: str, node: str, script: str, millicores: int) -> dict[str, Any]:
    pod = busybox(name, script, nodeSelector={"kubernetes.io/hostname": node})
    amounts = {"cpu": f"{millicores}m", "memory": "16Mi"}
    pod["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
    return pod


def test_idle_nodes_are_shown(three: Three) -> None:
    def all_idle() -> bool:
        found = three.top("node")
        assert found.keys() == set(NODES), found
        assert all(cpu <= 1 for cpu, _ in found.values()), found
        return True

    wait_for(all_idle, USAGE_SOON, "kubectl top to show all nodes", interval=1)
    for node in NODES:
        assert three.statistics(node)["pods"] == []


def test_nodes_show_what_their_own_pods_use(three: Three) -> None:
    """Two nodes of one provider and one of another, in kubectl top and in what the kubelet API says."""
    three.rome.api.create("pods", "shop", pinned("one", "milan", BURN, 200))
    three.rome.api.create("pods", "shop", pinned("two", "annex", "sleep 1000000", 50))
    three.rome.api.create("pods", "shop", pinned("three", "turin", BURN, 100))
    pods = {"milan": "one", "annex": "two", "turin": "three"}
    wait_for(lambda: three.rome.running("shop") == 3, 60, "the pods to run")
    # Pods of others at the provider do not show here.
    three.milan.cluster.namespace("lab")
    three.milan.api.create("pods", "lab", busybox("stranger", "sleep 1000000"))

    def none_mixes() -> bool:
        for node, pod in pods.items():
            summary = three.statistics(node)
            assert [entry["podRef"]["name"] for entry in summary["pods"]] == [pod], (node, summary)
            assert summary["pods"][0]["cpu"]["usageNanoCores"] == summary["node"]["cpu"]["usageNanoCores"]
            assert summary["pods"][0]["podRef"]["uid"] == three.rome.api.get("pods", "shop", pod)["metadata"]["uid"]
            for path in ("/metrics/resource", "/metrics/cadvisor"):
                text = three.text(node, path)
                assert f'pod="{pod}"' in text and 'namespace="shop"' in text, (node, path)
                assert not any(f'pod="{other}"' in text for other in (*pods.values(), "stranger") if other != pod)
                assert "shop-rome" not in text
        return True

    wait_for(none_mixes, USAGE_SOON, "each node to tell of its own pods", interval=1)

    def shown() -> bool:
        used, nodes = three.top("pod", "-n", "shop"), three.top("node")
        assert used.keys() == set(pods.values()), used
        # A busy machine gives less than the limits allow.
        assert 50 <= used["one"][0] <= 250 and 30 <= used["three"][0] <= 130 and used["two"][0] <= 5, used
        for node, pod in pods.items():
            assert abs(nodes[node][0] - used[pod][0]) <= 60, (nodes, used)
        return True

    wait_for(shown, USAGE_SOON, "kubectl top to show what each uses", interval=1)
    for path in ("/metrics", "/metrics/probes", "/metrics/slis", "/configz"):
        three.text("milan", path)


def test_after_a_kill_figures_are_back_in_two_scrapes(three: Three) -> None:
    three.rome.daemon.kill()
    three.rome.daemon.start()

    def rates() -> bool:
        return all("usageNanoCores" in three.statistics(node)["pods"][0]["cpu"] for node in NODES)

    wait_for(lambda: three.text("milan", "/metrics/resource"), SOON, "the kubelet API to be back")
    # A rate needs two readings, as far apart as a kubelet's own.
    wait_for(rates, 30, "what each pod uses in a second", interval=1)
    began = time.time()

    def shown() -> bool:
        read = three.rome.api.request("GET", "/apis/metrics.k8s.io/v1beta1/nodes/milan")
        assert time.mktime(time.strptime(read["timestamp"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone >= began
        found = three.top("node")
        assert found.keys() == set(NODES) and found["milan"][0] >= 50, found
        return True

    wait_for(shown, USAGE_SOON, "kubectl top to show the node as it is now", interval=1)


def test_a_provider_that_is_silent_is_named_and_costs_its_own_node_only(three: Three, run: Run) -> None:
    run.network.cut("turin")
    try:
        began = time.monotonic()
        code, words = three.asked("turin", "/metrics/resource")
        assert time.monotonic() - began < patient(5)
        assert code == 502 and "cluster turin cannot be reached" in words and len(words.strip().splitlines()) == 1
        assert three.asked("turin", "/stats/summary")[0] == 502
        assert 'pod="one"' in three.text("milan", "/metrics/resource")
    finally:
        run.network.heal("turin")
    wait_for(lambda: 'pod="three"' in three.text("turin", "/metrics/resource"), 60, "turin to tell again")


def test_an_autoscaler_adds_pods_for_work_and_takes_them_away_without(three: Three) -> None:
    labels = {"app": "web"}
    pod = pinned("web", "milan", "until [ -e /tmp/done ]; do :; done; sleep 1000000", 100)
    # The request is so small that even a busy machine gives more.
    pod["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "10m", "memory": "16Mi"}
    template = {"metadata": {"labels": labels}, "spec": pod["spec"]}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    three.rome.api.create("deployments", "shop", {"kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})
    three.rome.cluster.kubectl("-n", "shop", "autoscale", "deployment", "web", "--cpu=50%", "--min=1", "--max=2")
    at_once = {"behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}}}
    three.rome.api.patch("horizontalpodautoscalers", "shop", "web", {"spec": at_once})

    def replicas() -> int:
        return three.rome.api.get("deployments", "shop", "web")["status"].get("readyReplicas", 0)

    wait_for(lambda: replicas() == 2, 120, "the autoscaler to add pods", interval=0.5)
    for busy in three.rome.cluster.pods("shop", "app=web"):
        three.rome.cluster.kubectl("-n", "shop", "exec", busy["metadata"]["name"], "--", "touch", "/tmp/done")
    wait_for(lambda: replicas() == 1, 120, "the autoscaler to take pods away", interval=0.5)
    wait_for(lambda: len(three.rome.cluster.pods("shop", "app=web")) == 1, SOON, "the other pod to be gone")
    # The node's count never falls, so it keeps what the pod that has gone used.
    seconds: dict[str, float] = {}
    for line in three.text("milan", "/metrics/resource").splitlines():
        if line.startswith(("node_cpu", "pod_cpu")):
            name = line.partition("_")[0]
            seconds[name] = seconds.get(name, 0) + float(line.split()[1])
    assert seconds["node"] > seconds["pod"] + 0.005, seconds


@pytest.fixture(scope="module")
def prometheus(three: Three, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """It scrapes nodes as kube-prometheus does, with the rights and the alerts that it has."""
    cluster = three.rome.cluster
    cluster.service_account("shop", "prometheus")
    may = [{"apiGroups": [""], "resources": ["nodes/metrics"], "verbs": ["get"]}]
    cluster.api.apply("clusterroles", None, {"kind": "ClusterRole", "metadata": {"name": "prometheus"}, "rules": may})
    rights.bind(cluster, None, "prometheus", rights.service_account("shop", "prometheus"), "prometheus")
    token = cluster.kubectl("-n", "shop", "create", "token", "prometheus").strip()
    # Debian's Prometheus has no discovery of nodes, so it gets their addresses.
    targets = {node: f"{cluster.address}:{port_of(three, node)}" for node in NODES}
    authority, itself = cluster.authority.pair.certificate, f"{cluster.address}:9191"
    with kubelet_alerts.state_of(cluster) as state:
        jobs = kubelet_alerts.jobs(targets, token, authority, itself, state=state)
        directory = tmp_path_factory.mktemp("prometheus") / "run"
        started = Prometheus(cluster, directory, jobs, kubelet_alerts.rules("1s"))
        try:
            yield started
        finally:
            started.stop()


def port_of(three: Three, node: str) -> int:
    return three.rome.api.get("nodes", None, node)["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]


def no_alert(prometheus: Prometheus, since: float) -> bool:
    """Whether all is scraped, every rule was read after then, and none is about to fire but what is so: that pods which
    burn all the CPU time they may have wanted more."""
    assert prometheus.scrapes() and prometheus.evaluated(since)
    told = {(alert["alertname"], alert.get("pod")) for alert in prometheus.alerts()}
    assert told <= {("CPUThrottlingHigh", pod) for pod in ("one", "three", "web")}, told
    return True


def test_prometheus_scrapes_a_virtual_node_as_any_other(three: Three, prometheus: Prometheus) -> None:
    wait_for(prometheus.scrapes, SOON, "Prometheus to scrape all paths of all nodes")
    of_pod = 'job="kubelet",metrics_path="/metrics/resource",pod="one"'
    using = f"sum(rate(container_cpu_usage_seconds_total{{{of_pod}}}[1m])) > 0.1"
    wait_for(lambda: prometheus.query(using), USAGE_SOON, "Prometheus to know what a pod uses", interval=1)
    assert prometheus.query("max(resource_scrape_error) == 0")
    began = time.time()
    wait_for(lambda: no_alert(prometheus, began), SOON, "Prometheus to see that all is well", interval=1)


@pytest.mark.refusals("its liqod runs on without the role, and looks for it")
def test_a_provider_that_tells_no_figures_raises_no_alert(three: Three, prometheus: Prometheus) -> None:
    """turin turns them off. Its node is well, and says of its figures what kubelets say that cannot read them."""
    three.turin.api.delete("clusterroles", None, chart.METRIC_AGENT_ROLE)
    errors = {"/metrics/resource": "resource_scrape_error", "/metrics/cadvisor": "container_scrape_error"}

    def told() -> bool:
        for path, error in errors.items():
            text = three.text("turin", path)
            assert text.startswith("# cluster turin does not report what pods use: ") and f"\n{error} 1\n" in text, text
        return True

    wait_for(told, SOON, "the node to say that there are no figures")
    code, words = three.asked("turin", "/stats/summary")
    assert code == 503 and words.startswith("cluster turin does not report what pods use: "), words
    for error in errors.values():
        seen = f'{error}{{node="turin"}} == 1'
        wait_for(lambda e=seen: prometheus.query(e), SOON, "Prometheus to know that there are none", interval=1)
    began = time.time()
    wait_for(lambda: no_alert(prometheus, began), SOON, "Prometheus to see that all is well", interval=1)
    without = lambda: three.top("node").keys() == {"milan", "annex"}  # noqa: E731
    wait_for(without, USAGE_SOON, "metrics-server to leave that node out", interval=1)
