"""How kube-prometheus watches kubelets: what it scrapes of them, and when it raises an alert.

The expressions say what its alerts are documented to mean, about the same series; none of its text is here.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .monitoring import scraping

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster

# metrics-server reads the last of these, too.
PATHS = ("/metrics", "/metrics/cadvisor", "/metrics/probes", "/metrics/slis", "/metrics/resource")
_KUBELET = 'job="kubelet",metrics_path="/metrics"'
_CADVISOR = 'job="kubelet",metrics_path="/metrics/cadvisor"'
_STATE = 'job="kube-state-metrics"'
_OF_NODE = f"* on (instance) group_left (node) max by (instance, node) (kubelet_node_name{{{_KUBELET}}})"
_WEEK = 7 * 24 * 3600


def _slowest(histogram: str) -> str:
    """What 99 of 100 take less than, in seconds, by node."""
    return f"histogram_quantile(0.99, sum by (instance, le) (rate({histogram}_bucket{{{_KUBELET}}}[5m]))) {_OF_NODE}"


def _periods(which: str) -> str:
    """How many periods the kernel gave CPU time in, by container."""
    return f"sum by (node, namespace, pod, container) (increase(container_cpu_cfs_{which}_total{{{_CADVISOR}}}[5m]))"


def _condition(type_: str, status: str) -> str:
    return f'kube_node_status_condition{{{_STATE},condition=~"{type_}",status="{status}"}}'


ALERTS = {
    # Alerts about the kubelet itself.
    "KubeletDown": f"absent(up{{{_KUBELET}}} == 1)",
    "TargetDown": "100 * count by (job, metrics_path) (up == 0) / count by (job, metrics_path) (up) > 10",
    "KubeletPlegDurationHigh": f"{_slowest('kubelet_pleg_relist_duration_seconds')} >= 10",
    "KubeletPodStartUpLatencyHigh": f"{_slowest('kubelet_pod_worker_duration_seconds')} > 60",
    "KubeletClientCertificateExpiration": f"kubelet_certificate_manager_client_ttl_seconds < {_WEEK}",
    "KubeletServerCertificateExpiration": f"kubelet_certificate_manager_server_ttl_seconds < {_WEEK}",
    "KubeletClientCertificateRenewalErrors": (
        "increase(kubelet_certificate_manager_client_expiration_renew_errors[5m]) > 0"
    ),
    "KubeletServerCertificateRenewalErrors": "increase(kubelet_server_expiration_renew_errors[5m]) > 0",
    "KubeNodeEviction": f"sum by (instance) (rate(kubelet_evictions{{{_KUBELET}}}[15m])) {_OF_NODE} > 0",
    "KubeClientErrors": (
        'sum by (job, instance) (rate(rest_client_requests_total{code=~"5.."}[5m]))'
        " / sum by (job, instance) (rate(rest_client_requests_total[5m])) > 0.01"
    ),
    "KubeVersionMismatch": "count(count by (git_version) (kubernetes_build_info)) > 1",
    "KubePersistentVolumeFillingUp": (
        f"kubelet_volume_stats_available_bytes{{{_KUBELET}}} / kubelet_volume_stats_capacity_bytes{{{_KUBELET}}} < 0.03"
        f" and kubelet_volume_stats_used_bytes{{{_KUBELET}}} > 0"
    ),
    # Alerts about its containers.
    "CPUThrottlingHigh": f"{_periods('throttled_periods')} / {_periods('periods')} > 0.25",
    # Alerts about its Node.
    "KubeNodeNotReady": f"{_condition('Ready', 'true')} == 0",
    "KubeNodePressure": f"{_condition('(Memory|Disk|PID)Pressure', 'true')} == 1",
    "KubeNodeUnreachable": f'kube_node_spec_taint{{{_STATE},key="node.kubernetes.io/unreachable"}} == 1',
    "KubeNodeReadinessFlapping": f"sum by (node) (changes({_condition('Ready', 'true')}[15m])) > 2",
    "KubeletTooManyPods": (
        f'count by (node) ((kube_pod_status_phase{{{_STATE},phase="Running"}} == 1)'
        f" * on (namespace, pod) group_left (node) kube_pod_info{{{_STATE}}})"
        f' / max by (node) (kube_node_status_capacity{{{_STATE},resource="pods"}} != 1) > 0.95'
    ),
    # Alerts about Prometheus itself: samples that contradict each other.
    "PrometheusDuplicateTimestamps": "rate(prometheus_target_scrapes_sample_duplicate_timestamp_total[5m]) > 0",
    "PrometheusOutOfOrderTimestamps": "rate(prometheus_target_scrapes_sample_out_of_order_total[5m]) > 0",
}


def rules(hold: str) -> dict[str, Any]:
    """As a file of rules; alerts fire when what they are about has held for so long."""
    alerts = [{"alert": name, "expr": expression, "for": hold} for name, expression in ALERTS.items()]
    return {"groups": [{"name": "kubelets", "rules": alerts}]}


def jobs(targets: dict[str, str], token: str, authority: Path, itself: str, *, state: str) -> list[dict[str, Any]]:
    """What a Prometheus scrapes: kubelets, by the names of their nodes; itself; and what `state_of` serves."""
    kubelets = [{"targets": [target], "labels": {"node": node}} for node, target in targets.items()]
    about = [
        {"target_label": "job", "replacement": "kubelet"},
        {"target_label": "metrics_path", "source_labels": ["__metrics_path__"]},
    ]
    # kube-prometheus scrapes every half minute.
    in_time = {"scrape_interval": "5s", "scrape_timeout": "5s"}
    found = [
        scraping(path.strip("/").replace("/", "-"), token, authority, metrics_path=path, static_configs=kubelets,
                 relabel_configs=about, honor_labels=True, honor_timestamps=path != "/metrics/cadvisor", **in_time)
        for path in PATHS
    ]  # fmt: skip
    for name, target in (("prometheus", itself), ("kube-state-metrics", state)):
        found.append({"job_name": name, "static_configs": [{"targets": [target]}], "honor_labels": True, **in_time})
    return found


def _state(cluster: Cluster) -> Iterator[str]:
    """What kube-state-metrics says of nodes and their pods, as far as these alerts ask."""
    for node in cluster.api.list("nodes"):
        name = f'node="{node["metadata"]["name"]}"'
        for one in node["status"]["conditions"]:
            for status in ("true", "false", "unknown"):
                labels = f'{name},condition="{one["type"]}",status="{status}"'
                yield f"kube_node_status_condition{{{labels}}} {int(one['status'].lower() == status)}"
        for taint in node["spec"].get("taints") or []:
            yield f'kube_node_spec_taint{{{name},key="{taint["key"]}",effect="{taint["effect"]}"}} 1'
        yield f'kube_node_status_capacity{{{name},resource="pods"}} {node["status"]["capacity"]["pods"]}'
    for pod in cluster.api.list("pods"):
        about = f'namespace="{pod["metadata"]["namespace"]}",pod="{pod["metadata"]["name"]}"'
        yield f'kube_pod_info{{{about},node="{pod["spec"].get("nodeName", "")}"}} 1'
        yield f'kube_pod_status_phase{{{about},phase="{pod["status"]["phase"]}"}} 1'


@contextmanager
def state_of(cluster: Cluster) -> Iterator[str]:
    """Serves it in the cluster's network, where kube-state-metrics would be; the address and port at which."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = "".join(f"{line}\n" for line in _state(cluster)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Iterable[object]) -> None:
            pass

    listening = cluster.space.listen(cluster.address)
    server = ThreadingHTTPServer(listening.getsockname(), Answer, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield f"{cluster.address}:{listening.getsockname()[1]}"
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
