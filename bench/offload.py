"""tools/bench offload: what offloading costs and how fast it is, on two real clusters whose pods only pretend to run."""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/cluster"))

import report  # noqa: E402
from harness import settings  # noqa: E402
from harness.cluster.cluster import busybox  # noqa: E402
from measure import Meter, resident_mb  # noqa: E402
from profiler import Profiler  # noqa: E402
from stage import LIMIT_NODE, Stage, stage  # noqa: E402
from turns import longest_ms, turns  # noqa: E402
from watch import PodWatch  # noqa: E402

ROUNDS = 3
SINGLE_PODS = 21
PATIENCE = 600.0
# The audit logs and liqod's own counters may differ by this much: they are not read at the same instant.
AGREEMENT = 0.01


def run_limit(on: Stage, pods: int) -> dict[str, Any]:
    """One load through the bare client; no liqod runs meanwhile."""
    meter = Meter(on.peering)
    before = meter.snapshot()
    home, provider = on.limit_kubeconfigs
    command = [
        ROOT / "build/release/bench/bare_client", "--home", home, "--provider", provider, "--node", LIMIT_NODE,
        "--twin", on.limit_twin, "--pods", pods,
    ]  # fmt: skip
    client = on.rome.space.start("bare-client", command)
    with PodWatch(on.rome, on.limit_home, lambda: client.exit_code() in (None, 0)) as watch:
        began = time.monotonic()
        on.create_pods(on.limit_home, LIMIT_NODE, pods)
        running = watch.wait(pods, "running", PATIENCE)
        bound = watch.wait(pods, "bound", 1)
    assert client.wait(30) == 0, f"the bare client failed: {client.log.read_text()[-500:]}"
    wait_remote_running(on, on.limit_twin, pods)
    load = meter.load_since(before)
    for cluster, namespace in ((on.rome, on.limit_home), (on.milan, on.limit_twin)):
        cluster.api.delete_all("pods", namespace, grace=0)
    on.wait_empty()
    return {
        "seconds": running - began,
        "bound_seconds": bound - began,
        "cpu_ms": {name: 1000 * spent / pods for name, spent in load.cpu.items()},
    }


def wait_remote_running(on: Stage, namespace: str, pods: int) -> None:
    """The bare client does not wait for the provider; its cost there is counted all the same."""
    until = time.monotonic() + PATIENCE
    while sum(pod["status"].get("phase") == "Running" for pod in on.milan.pods(namespace)) < pods:
        assert time.monotonic() < until, f"not all pods of milan/{namespace} are Running"
        time.sleep(0.5)


def run_liqod(on: Stage, pods: int, profile: Path | None) -> dict[str, Any]:
    """One load through two liqods that were just started."""
    with on.daemons() as (home, away):
        meter = Meter(on.peering, (home, away))
        meter.settle(quiet=5)
        rest = {"consumer": resident_mb(home), "provider": resident_mb(away)}
        profiler = Profiler(profile, (home, away)) if profile else None
        before = meter.snapshot()
        with PodWatch(on.rome, on.home, lambda: home.running and away.running) as watch:
            began = time.monotonic()
            on.create_pods(on.home, on.peering.node, pods)
            running = watch.wait(pods, "running", PATIENCE)
            bound = watch.wait(pods, "bound", 1)
            if profiler:
                profiler.stop()
            # The records that pods run come late; Events follow them, one a second, and nobody waits for these.
            recorded = meter.wait_writes(before, "milan: patch shadowpods/status", pods)
            meter.settle(besides=("leases", "events"))
            load = meter.load_since(before)
            loaded = {"consumer": resident_mb(home), "provider": resident_mb(away)}
            longest_turns = {daemon.cluster.name: longest_ms(turns(daemon)) for daemon in (home, away)}
            on.wait_recorded(pods)
            meter.settle()
            life = meter.load_since(before)
            deleted = time.monotonic()
            on.rome.api.delete_all("pods", on.home)
            asked = time.monotonic()
            on.wait_empty()
            deletion = time.monotonic() - deleted
            ending = meter.load_since(life.end)
    return {
        "seconds": running - began,
        "bound_seconds": bound - began,
        "record_seconds": recorded - running,
        "deletion_seconds": deletion,
        "deletion_asked_seconds": asked - deleted,
        "deletion_writes": {what: count / pods for what, count in ending.writes.most_common()},
        "deletion_cpu_ms": {name: 1000 * spent / pods for name, spent in ending.cpu.items()},
        "early_writes_per_pod": meter.writes_until(before, running) / pods,
        "writes_per_pod": life.writes_for_load() / pods,
        "writes": {what: count / pods for what, count in life.writes.most_common()},
        "requests_logged": life.requests_logged,
        "requests_counted": life.requests_counted,
        "disagreement": life.disagreement(),
        "cpu_ms": {name: 1000 * spent / pods for name, spent in load.cpu.items()},
        "cpu_ms_per_pod": 1000 * load.cpu_of("liqod") / pods,
        "total_cpu_ms_per_pod": 1000 * (load.cpu_of("liqod") + load.cpu_of("kube-apiserver")) / pods,
        "rest_mb": rest,
        "loaded_mb": loaded,
        "kb_per_pod": 1024 * (sum(loaded.values()) - sum(rest.values())) / pods,
        "longest_turn_ms": longest_turns,
    }


def measure_single_pods(on: Stage) -> dict[str, Any]:
    """Pods created one at a time, offloaded and plain in turn: milliseconds from the request until Ready is seen."""
    plain_pod = busybox("pod", nodeSelector={"type": "kwok"})
    offloaded: list[float] = []
    plain: list[float] = []
    with on.daemons(), PodWatch(on.rome, on.home) as home, PodWatch(on.milan, on.plain) as away:
        for number in range(SINGLE_PODS + 3):
            name = {"metadata": {"name": f"single-{number}"}}
            for watch, cluster, namespace, pod, times in (
                (home, on.rome, on.home, on.peering.pinned(busybox("pod")), offloaded),
                (away, on.milan, on.plain, plain_pod, plain),
            ):
                began = time.monotonic()
                cluster.api.create("pods", namespace, {**pod, **name})
                ready = watch.wait_pod(f"single-{number}", "ready", 60)
                times.append(1000 * (ready - began))
                time.sleep(0.1)  # what trails behind must not weigh on the next one
        on.rome.api.delete_all("pods", on.home)
        on.milan.api.delete_all("pods", on.plain, grace=0)
        on.wait_empty()
    # The first ones warm up caches of both API servers.
    return {"offloaded_ms": offloaded[3:], "plain_ms": plain[3:]}


def median(rounds: list[dict[str, Any]], key: str) -> float:
    return statistics.median(each[key] for each in rounds)


def medians(rounds: list[dict[str, Any]], key: str) -> dict[str, float]:
    """The medians of a figure that is kept by name, largest first."""
    names = {name for each in rounds for name in each[key]}
    found = {name: statistics.median(each[key].get(name, 0) for each in rounds) for name in names}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def figures(
    pods: int, admission: bool, rounds: list[dict[str, Any]], limits: list[dict[str, Any]], *, single: dict[str, Any]
) -> dict:
    return {
        "pods": pods,
        "admission": admission,
        "early_writes_per_pod": round(median(rounds, "early_writes_per_pod"), 3),
        "writes_per_pod": round(median(rounds, "writes_per_pod"), 3),
        "record_seconds": round(max(each["record_seconds"] for each in rounds), 1),
        "cpu_ms_per_pod": round(median(rounds, "cpu_ms_per_pod"), 3),
        "total_cpu_ms_per_pod": round(median(rounds, "total_cpu_ms_per_pod"), 2),
        "rest_mb": {side: round(mb, 2) for side, mb in sorted(medians(rounds, "rest_mb").items())},
        "kb_per_pod": round(median(rounds, "kb_per_pod"), 2),
        "latency_ms": round(statistics.median(single["offloaded_ms"]), 2),
        "plain_latency_ms": round(statistics.median(single["plain_ms"]), 2),
        "seconds": round(median(rounds, "seconds"), 3),
        "limit_seconds": round(median(limits, "seconds"), 3),
        "deletion_seconds": round(median(rounds, "deletion_seconds"), 1),
        "details": {
            "writes_by_kind": medians(rounds, "writes"),
            "deletion_writes_by_kind": medians(rounds, "deletion_writes"),
            "cpu_ms_by_process": medians(rounds, "cpu_ms"),
            "limit_cpu_ms_by_process": medians(limits, "cpu_ms"),
            "deletion_cpu_ms_by_process": medians(rounds, "deletion_cpu_ms"),
            "single_pods": single,
            "rounds": rounds,
            "limit_rounds": limits,
        },
    }


def bench(pods: int, admission: bool, rounds_of: int, profile: Path | None) -> dict:
    report.say("starting two clusters")
    with stage(pods, admission) as on:
        report.say(f"{SINGLE_PODS} single pods, offloaded and plain in turn")
        single = measure_single_pods(on)
        rounds, limits = [], []
        for number in range(1, rounds_of + 1):
            limits.append(run_limit(on, pods))
            report.say(f"round {number}: bare client, {pods} pods Running in {limits[-1]['seconds']:.1f} s")
            rounds.append(run_liqod(on, pods, profile if number == rounds_of else None))
            last = rounds[-1]
            report.say(
                f"round {number}: liqod, {pods} pods Running in {last['seconds']:.1f} s, {last['writes_per_pod']:.2f} "
                f"writes and {last['cpu_ms_per_pod']:.2f} ms per pod, gone in {last['deletion_seconds']:.1f} s"
            )
        return figures(pods, admission, rounds, limits, single=single)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/bench offload", description=__doc__)
    parser.add_argument("--pods", type=int, default=1000, help="pods per load (default: 1000)")
    parser.add_argument(
        "--admission", action="store_true", help="with the webhooks: the mutation of pods, the firewall, and the quota"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="figures are medians over them (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also writes the figures there")
    parser.add_argument("--profile", type=Path, metavar="DIR", help="also profiles liqods and API servers in the last round, into DIR")
    chosen = parser.parse_args()
    if missing := settings.missing_requirements():
        sys.exit(f"bench: real clusters need {', '.join(missing)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    found = bench(chosen.pods, chosen.admission, chosen.rounds, chosen.profile)
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n")
    print(report.table(found), report.of_bare_client(found), report.explain(found["details"]), report.setting(), sep="\n\n")
    for number, each in enumerate(found["details"]["rounds"], 1):
        if each["disagreement"] > AGREEMENT:
            print(
                f"\nbench: FAILED: in round {number} the audit logs have {each['requests_logged']} writes of liqod, "
                f"its own counters {each['requests_counted']}: more than 1 % apart"
            )
            return 1
    return 0 if all(row.reached for row in report.rows(found)) else 1


if __name__ == "__main__":
    sys.exit(main())
