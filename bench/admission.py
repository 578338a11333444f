#!/usr/bin/env python3
"""tools/bench admission: what the admission of ShadowPods costs, at a fixed rate through a real API server.

ShadowPods are created at times that are fixed in advance (an open loop) in a namespace whose quota is half full at
most. They are deleted again at the rate at which they are admitted; each 20th asks for more than the quota has. liqod
follows: the lease is held by the bench, so that it answers reviews and counts what is stored, and no controller of it
makes Pods. With --controllers it leads, and its CPU time contains what it does for the Pods of the ShadowPods.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/cluster"))

import report  # noqa: E402
import yaml  # noqa: E402
from harness import objects, settings  # noqa: E402
from harness.cluster.api import Refused, path  # noqa: E402
from harness.cluster.cluster import Cluster  # noqa: E402
from harness.cluster.components import Options  # noqa: E402
from harness.liqo import chart  # noqa: E402
from harness.liqo.liqod import Liqod  # noqa: E402
from harness.run import Run  # noqa: E402
from harness.wait import wait_for  # noqa: E402
from profiler import Profiler  # noqa: E402

USER, CONSUMER, TENANT, TWIN = "pool-1f00", "rome", "liqo-tenant-rome", "shop-rome"
REFUSED_PART = 20
WARM_UP_SECONDS = 8
PORTS = (9443, 9444)
# The API server's histogram, labelled by webhook and by what became of the request.
HISTOGRAM = "apiserver_admission_webhook_admission_duration_seconds"
HOOKS = ("shadowpod.mutate.liqo.io", "shadowpod.validate.liqo.io")
# GOGC of the API server and etcd: at Go's default (100) it costs a sixth of two cores, and the load leaves none.
GARBAGE_COLLECTION = "800"
# The goals.
TARGET_P99_MS, TARGET_CPU_MS, TARGET_DECISION_US, TARGET_COMMITS = 50, 0.5, 50, 1 / 3
# A request that is sent later than planned by more than this makes the run invalid.
MAX_LATE_MS = 20


class Stage:
    """A provider with one consumer's twin namespace and quota, and the liqods that the API server asks."""

    def __init__(self, run: Run, policy: Path, replicas: int, controllers: bool, large: bool, level: int):
        self.large, self.level = large, level
        os.environ["GOGC"] = GARBAGE_COLLECTION
        options = Options(extra_apiserver=(f"--audit-policy-file={policy}",))
        self.cluster: Cluster = run.start(milan=options)["milan"]
        self.kubeconfig = chart.install(self.cluster)
        for namespace, labels in ((TENANT, {"liqo.io/tenant-namespace": "true"}), (TWIN, {})):
            # The rights come first: liqod reads a tenant namespace as soon as it has the label.
            self.cluster.namespace(namespace)
            chart.bind(self.cluster, namespace, "ClusterRole", chart.TENANT_ROLE)
            self.cluster.namespace(namespace, {"liqo.io/remote-cluster-id": CONSUMER, **labels})
        group = "rbac.authorization.k8s.io"
        self.cluster.api.apply("rolebindings", TWIN, {
            "kind": "RoleBinding",
            "metadata": {"name": TENANT},
            "subjects": [{"kind": "Group", "name": CONSUMER, "apiGroup": group}],
            "roleRef": {"kind": "ClusterRole", "name": chart.REMOTE_ROLE, "apiGroup": group},
        })  # fmt: skip
        self.slice_kubeconfig = self.cluster.kubeconfig_of("slice-of-rome", USER, [CONSUMER])
        if controllers:
            self.cluster.add_kwok_nodes(2 * level // 250 + 2)
        self.daemons = [self._daemon(number, replicas) for number in range(replicas)]
        self._serve(replicas)
        if not controllers:
            self._take_the_lease()
            # A cluster without Pods needs only the API server.
            for component in ("kube-controller-manager", "kube-scheduler"):
                self.cluster.kill(component)

    def _daemon(self, number: int, replicas: int) -> Liqod:
        flags = ("--leader-elect", "--identity", f"replica-{number}")
        if replicas == 1:
            return Liqod(self.cluster, self.kubeconfig, flags=flags, webhooks=True).start()
        return Liqod(
            self.cluster, self.kubeconfig, listen_port=10250 + number, name=f"liqod-{number}", flags=flags,
            metrics_port=9090 + number, service_port=PORTS[number], listen_ports=1,
        ).start(0)  # fmt: skip

    def _serve(self, replicas: int) -> None:
        """Until the API server asks the webhooks: one by its URL, several behind the Service that they share."""
        if replicas > 1:
            ports = [{"name": "webhook", "port": PORTS[0], "targetPort": PORTS[0], "protocol": "TCP"}]
            self.cluster.api.apply("services", chart.NAMESPACE, {
                "kind": "Service", "metadata": {"name": "liqo-webhook"}, "spec": {"ports": ports},
            })  # fmt: skip
            for port in PORTS[:replicas]:
                self.cluster.api.apply("endpointslices", chart.NAMESPACE, {
                    "kind": "EndpointSlice",
                    "metadata": {
                        "name": f"liqo-webhook-{port}", "labels": {"kubernetes.io/service-name": "liqo-webhook"},
                    },
                    "addressType": "IPv4",
                    "endpoints": [{"addresses": [self.cluster.address], "conditions": {"ready": True}}],
                    "ports": [{"name": "webhook", "port": port, "protocol": "TCP"}],
                })  # fmt: skip
        for daemon in self.daemons:
            wait_for(daemon.ready, 60, f"{daemon.name} to be ready")
        room = 2 * self.level
        amounts = {"cpu": f"{room * 150}m", "memory": f"{room * 192}Mi", "pods": str(room)}
        self.cluster.api.apply("quotas", TENANT, objects.unenforced_quota(USER, amounts))
        consumer = self.cluster.as_user(self.cluster.authority.issue("slice-of-rome", USER, [CONSUMER]))
        pod = objects.one_container(resources={"requests": {"cpu": "1M"}})
        probe = objects.shadow_pod("probe", CONSUMER, pod)

        def asked() -> bool:
            try:
                consumer.request("POST", path("shadowpods", TWIN), probe, query={"dryRun": "All"})
            except Refused as refusal:
                return "has not enough cpu" in str(refusal)
            return False

        wait_for(asked, 60, "the API server to ask the webhooks")

    def _take_the_lease(self) -> None:
        """From here on nobody leads."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"holderIdentity": "bench", "leaseDurationSeconds": 3600, "renewTime": now, "acquireTime": now}
        self.cluster.api.patch("leases", chart.NAMESPACE, "liqod", {"spec": spec})
        wait_for(lambda: any("leads no longer" in daemon.log() for daemon in self.daemons), 30, "nobody to lead")

    def load(self, prefix: str, rate: float, seconds: float) -> dict[str, Any]:
        command = [
            ROOT / "build/release/bench/admission_load", "--kubeconfig", self.slice_kubeconfig, "--namespace", TWIN,
            "--origin", CONSUMER, "--prefix", prefix, "--rate", rate, "--seconds", seconds, "--level", self.level,
            "--refuse-every", REFUSED_PART, *(["--large"] if self.large else []),
        ]  # fmt: skip
        done = subprocess.run(self.cluster.space.entering(command), stdout=subprocess.PIPE, timeout=seconds + 120)
        assert done.returncode == 0, "the load generator failed"
        return json.loads(done.stdout)

    def clear(self) -> None:
        """Removes what a load has left."""
        self.cluster.api.request("DELETE", path("shadowpods", TWIN), timeout=300)
        wait_for(lambda: not self.cluster.api.list("shadowpods", TWIN), 300, "the ShadowPods to be gone")


def go_before_others(pid: int) -> None:
    """Gives this process and all below it the highest weight among the sessions of the machine (sched(7), autogroups)."""
    weigh(pid, "-20")


def weigh(pid: int, nice: str) -> None:
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(nice)
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            weigh(int(child), nice)


def server_histogram(cluster: Cluster) -> dict[tuple[str, str], dict[float, float]]:
    """Cumulated counts by upper bound, by webhook and whether it refused; of creations."""
    code, text = cluster.api.raw("GET", "/metrics", timeout=60)
    assert code == 200, f"/metrics of the API server answered {code}"
    found: dict[tuple[str, str], dict[float, float]] = {}
    for line in text.decode().splitlines():
        if not line.startswith(f"{HISTOGRAM}_bucket{{"):
            continue
        labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
        if labels["name"] in HOOKS and labels["operation"] == "CREATE":
            key = (labels["name"], labels["rejected"])
            found.setdefault(key, {})[float(labels["le"])] = float(line.rsplit(" ", 1)[1])
    return found


def own_histogram(samples: dict[str, float], route: str) -> dict[float, float]:
    found = {}
    for name, value in samples.items():
        if name.startswith("liqod_admission_seconds_bucket{") and f'path="{route}"' in name:
            found[float(name.split('le="')[1].split('"')[0])] = value
    return found


def difference(after: dict[float, float], before: dict[float, float]) -> dict[float, float]:
    return {bound: count - before.get(bound, 0) for bound, count in after.items()}


def add_up(parts: Sequence[dict[float, float]]) -> dict[float, float]:
    return {bound: sum(part.get(bound, 0) for part in parts) for bound in {b for part in parts for b in part}}


def quantile(buckets: dict[float, float], part: float) -> tuple[float, float, float]:
    """In ms: what Prometheus' histogram_quantile makes of it, and the bounds of the bucket that it lies in."""
    bounds = sorted(buckets)
    rank = part * buckets[bounds[-1]]
    below, lower = 0.0, 0.0
    for bound in bounds:
        if buckets[bound] >= rank and buckets[bound] > 0:
            inside = buckets[bound] - below
            upper = bound if bound != float("inf") else lower
            at = lower + (upper - lower) * ((rank - below) / inside if inside else 1)
            return 1000 * at, 1000 * lower, 1000 * bound
        below, lower = buckets[bound], bound
    return 0.0, 0.0, 0.0


def total(daemons: Sequence[Liqod]) -> dict[str, float]:
    samples: dict[str, float] = {}
    for daemon in daemons:
        for name, value in daemon.metrics().items():
            samples[name] = samples.get(name, 0) + value
    return samples


def cpu_times(on: Stage) -> dict[str, float]:
    spent = {name: process.cpu_seconds() for name, process in on.cluster.processes.items() if process.running()}
    spent["liqod"] = 0.0
    for daemon in on.daemons:
        assert daemon.process
        spent["liqod"] += daemon.process.cpu_seconds()
    return spent


def decision() -> dict[str, float]:
    """Nanoseconds of the pure parts, by name; the fastest of several."""
    micro = ROOT / "build/release/bench/micro/micro"
    done = subprocess.run([micro, "--json", "admission"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def measure(on: Stage, rate: float, seconds: float, profile: Path | None) -> dict[str, Any]:
    on.load("warm", rate, WARM_UP_SECONDS)
    on.clear()
    time.sleep(1)
    load_average = os.getloadavg()[0]
    before, own, server = cpu_times(on), total(on.daemons), server_histogram(on.cluster)
    profiler = Profiler(profile, on.daemons) if profile else None
    sent = on.load("load", rate, seconds)
    spent = {name: used - before.get(name, 0.0) for name, used in cpu_times(on).items()}
    now, histogram = total(on.daemons), server_histogram(on.cluster)
    if profiler:
        profiler.stop()

    hooks = {key: difference(counts, server.get(key, {})) for key, counts in histogram.items()}
    webhooks: dict[str, Any] = {}
    for hook, route in zip(HOOKS, ("/mutate/shadowpods", "/validate/shadowpods"), strict=True):
        both = add_up([counts for (name, _), counts in hooks.items() if name == hook])
        within = difference(own_histogram(now, route), own_histogram(own, route))
        webhooks[hook] = {
            "server": {str(bound): count for bound, count in sorted(both.items())},
            "p50_ms": quantile(both, 0.5),
            "p99_ms": quantile(both, 0.99),
            "own": {str(bound): count for bound, count in sorted(within.items())},
            "own_p99_ms": quantile(within, 0.99),
        }

    def counted(name: str) -> float:
        return now.get(name, 0.0) - own.get(name, 0.0)

    outcomes = {name: counted(f'liqo_quota_admissions_total{{outcome="{name}"}}')
                for name in ("admitted", "refused", "unavailable")}  # fmt: skip
    reviews = sum(outcomes.values())
    return {
        "rate": rate,
        "seconds": seconds,
        "replicas": len(on.daemons),
        "load_average_before": load_average,
        "load": sent,
        "webhooks": webhooks,
        "outcomes": outcomes,
        "connections": counted('liqod_server_connections_total{server="webhook"}'),
        "commits": counted("liqo_quota_commits_total"),
        "conflicts": counted("liqo_quota_conflicts_total"),
        "commits_per_admission": counted("liqo_quota_commits_total") / max(1, outcomes["admitted"]),
        "cpu_ms_per_admission": 1000 * spent["liqod"] / max(1, reviews),
        "cpu_seconds": spent,
        "rest_requests": {
            name: counted(name) for name in sorted(now) if name.startswith("rest_client_requests_total") and counted(name)
        },
        "decision_ns": decision(),
    }


def rows(figures: dict[str, Any]) -> list[report.Row]:
    """What is asked of us; the Go version's means are of a load that is not the same."""
    result = []
    for hook, go in zip(HOOKS, ("100 ms, mean", "90 ms, mean"), strict=True):
        at, lower, upper = figures["webhooks"][hook]["p99_ms"]
        own = figures["webhooks"][hook]["own_p99_ms"][2]
        result.append(report.Row(
            f"p99 of {hook}", go, f"<= {TARGET_P99_MS} ms",
            f"{at:.1f} ms, in ({lower:g}, {upper:g}]; by our own clock <= {own:g} ms",
            0 < at <= TARGET_P99_MS,
        ))  # fmt: skip
    spent, commits = figures["cpu_ms_per_admission"], figures["commits_per_admission"]
    pure = figures["decision_ns"]["admission: the decision"] / 1000
    load = figures["load"]
    right = load["answers"].get("201", 0) + load["answers"].get("403", 0)
    late = load["late_ms"]["p99"]
    result += [
        report.Row("CPU of liqod per admission", "-", f"<= {TARGET_CPU_MS} ms", f"{spent:.3f} ms", spent <= TARGET_CPU_MS),
        report.Row("the pure decision", "-", f"<= {TARGET_DECISION_US} us", f"{pure:.1f} us", pure <= TARGET_DECISION_US),
        report.Row("commits per admission", "-", "<= 1/3", f"{commits:.3f}", 0 < commits <= TARGET_COMMITS),
        report.Row("creations that were answered", "-", "all, 201 or 403", f"{right} of {load['sent']}", right == load["sent"]),
        report.Row("p99 of how late they were sent", "-", f"<= {MAX_LATE_MS} ms", f"{late:.1f} ms", late <= MAX_LATE_MS),
    ]  # fmt: skip
    return result


def explain(figures: dict[str, Any]) -> str:
    load, outcomes = figures["load"], figures["outcomes"]
    latency = load["latency_ms"]
    lines = [
        f"{load['sent']} creations of {load['body_bytes']} bytes at {figures['rate']:g} a second, "
        f"{outcomes['admitted']:.0f} admitted, {outcomes['refused']:.0f} refused, "
        f"{outcomes['unavailable']:.0f} undecided, {load['deleted']} deleted meanwhile; "
        f"{figures['commits']:.0f} commits, {figures['conflicts']:.0f} conflicts; "
        f"{figures['connections']:.0f} connections made, each with a TLS handshake",
        f"the whole creation, from its planned time: p50 {latency['p50']:.1f} ms, p99 {latency['p99']:.1f} ms, "
        f"worst {latency['max']:.1f} ms; load average before: {figures['load_average_before']:.1f}",
        "CPU ms per creation:",
    ]
    every = {**figures["cpu_seconds"], "load generator": load["cpu_seconds"]}
    lines += [f"  {1000 * spent / load['sent']:6.2f}  {name}" for name, spent in sorted(every.items(), key=lambda item: -item[1])]
    lines.append("the parts of the decision:")
    lines += [f"  {spent / 1000:6.1f} us  {name}" for name, spent in figures["decision_ns"].items()]
    return "\n".join(lines)


@contextmanager
def stage(replicas: int, controllers: bool, large: bool, level: int) -> Iterator[Stage]:
    run = Run()
    try:
        # An audit log of 600 writes a second would be measured, too.
        policy = run.directory / "no-audit.yaml"
        policy.write_text(yaml.safe_dump({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "None"}]}))
        yield Stage(run, policy, replicas, controllers, large, level)
    except BaseException:
        if run.clusters:
            report.say(f"logs are kept in {run.keep_logs('bench')}")
        raise
    finally:
        run.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/bench admission", description=__doc__)
    parser.add_argument("--rate", type=float, default=300, help="creations per second (default: 300)")
    parser.add_argument("--seconds", type=float, default=60, help="for how long (default: 60)")
    parser.add_argument("--level", type=int, default=1000, help="admitted ones beyond so many are deleted again (default: 1000)")
    parser.add_argument("--replicas", type=int, default=1, choices=(1, 2), help="liqods that are asked in turn, behind a Service")
    parser.add_argument("--controllers", action="store_true", help="liqod leads, and makes Pods; its CPU time contains that")
    parser.add_argument("--large", action="store_true", help="pods of two containers with all that consumers send along")
    parser.add_argument("--before-others", action="store_true", help="all of this goes before whatever else the machine does")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also writes the figures there")
    parser.add_argument("--profile", type=Path, metavar="DIR", help="also profiles liqod and the API server, into DIR; costs CPU time")
    chosen = parser.parse_args()
    if missing := settings.missing_requirements():
        sys.exit(f"bench: real clusters need {', '.join(missing)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    report.say("starting a cluster")
    with stage(chosen.replicas, chosen.controllers, chosen.large, chosen.level) as on:
        if chosen.before_others:
            go_before_others(os.getpid())
        report.say(f"{chosen.rate:g} creations a second for {chosen.seconds:g} s")
        try:
            figures = measure(on, chosen.rate, chosen.seconds, chosen.profile)
        finally:
            # The session is the shell's and outlives this program.
            weigh(os.getpid(), "0")
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=1) + "\n")
    found = rows(figures)
    print(report.lay_out(found), explain(figures), report.setting(), sep="\n\n")
    return 0 if all(row.reached for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
