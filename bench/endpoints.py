"""tools/bench endpoints: how a provider follows the endpoints of a Service at home while all of them flip at once.

On two real clusters, 1,000 endpoints in slices of 100 become ready and not ready again, ten times in five seconds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import statistics
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test/cluster"))

import report  # noqa: E402
from harness import settings  # noqa: E402
from harness.cluster import audit  # noqa: E402
from harness.cluster.cluster import Cluster  # noqa: E402
from harness.cluster.components import Options  # noqa: E402
from harness.liqo import chart  # noqa: E402
from harness.liqo.liqod import Liqod  # noqa: E402
from harness.run import Run  # noqa: E402
from harness.tools.liqoctl import Liqoctl  # noqa: E402
from harness.wait import wait_for  # noqa: E402

ENDPOINTS_OF_A_SLICE = 100
FLIPS, INTERVAL = 10, 0.5
# Goals in seconds; GAP allows for requests that arrive late.
SETTLE, GAP, LAST = 0.25, 0.9, 1.5
COPIES = ("shadowendpointslices", "endpointslices")


class Slices:
    """The EndpointSlices at home, and what the provider makes of them."""

    def __init__(self, home: Cluster, provider: Cluster, namespace: str, twin: str, count: int):
        self._home, self._provider, self._namespace, self._twin = home, provider, namespace, twin
        self.names = [f"load-{number}" for number in range(count // ENDPOINTS_OF_A_SLICE)]
        self._pool = ThreadPoolExecutor(8)

    def _endpoints(self, number: int, ready: bool) -> list[dict[str, Any]]:
        return [{"addresses": [f"10.99.{number}.{one + 1}"], "conditions": {"ready": ready}}
                for one in range(ENDPOINTS_OF_A_SLICE)]  # fmt: skip

    def create(self) -> None:
        port = {"name": "http", "port": 80, "protocol": "TCP"}
        service = {"kind": "Service", "metadata": {"name": "load"}, "spec": {"ports": [port]}}
        self._home.api.create("services", self._namespace, service)
        for number, name in enumerate(self.names):
            metadata = {"name": name, "labels": {"kubernetes.io/service-name": "load"}}
            body = {"kind": "EndpointSlice", "metadata": metadata, "addressType": "IPv4", "ports": [port],
                    "endpoints": self._endpoints(number, True)}  # fmt: skip
            self._home.api.create("endpointslices", self._namespace, body)

    def flip(self, ready: bool) -> None:
        def one(number: int) -> None:
            change = {"endpoints": self._endpoints(number, ready)}
            self._home.api.patch("endpointslices", self._namespace, self.names[number], change)

        list(self._pool.map(one, range(len(self.names))))

    def ready_there(self) -> int | None:
        """How many endpoints are ready at the provider; None until all are there."""
        slices = self._provider.api.list("endpointslices", self._twin, selector="kubernetes.io/service-name=load")
        states = [one["conditions"]["ready"] for each in slices for one in each["endpoints"] or []]
        return sum(states) if len(states) == len(self.names) * ENDPOINTS_OF_A_SLICE else None

    def writes(self, kind: str, since: int) -> dict[str, list[float]]:
        """When each slice was written at the provider."""
        times = defaultdict(list)
        for entry in self._provider.audit.entries(since):
            of = entry.get("objectRef") or {}
            if audit.is_write(entry) and audit.resource(entry) == kind and of.get("namespace") == self._twin:
                times[of["name"]].append(audit.received(entry))
        return {name: sorted(at) for name, at in times.items()}


def seconds_of(daemon: Liqod) -> float:
    assert daemon.process
    return daemon.process.cpu_seconds()


def measure(endpoints: int) -> dict[str, Any]:
    run = Run()
    try:
        clusters = run.start(rome=Options(), milan=Options())
        rome, milan = clusters["rome"], clusters["milan"]
        daemons = {cluster.name: Liqod(cluster, chart.install(cluster)) for cluster in clusters.values()}
        for name, daemon in daemons.items():
            daemon.start()
            wait_for(lambda name=name: clusters[name].api.find("secrets", "liqo", "authentication-keys"), 20, "the keys")
        user = Liqoctl(rome)
        user("peer", "--remote-kubeconfig", milan.kubeconfig)
        namespace, twin = rome.namespace("load"), "load-rome"
        user("offload", "namespace", namespace)
        policy = json.dumps({"endpointCIDRs": ["10.99.0.0/16"]})
        milan.api.patch(
            "namespaces", None, "liqo-tenant-rome", {"metadata": {"annotations": {"liqo.io/pod-policy": policy}}}
        )
        slices = Slices(rome, milan, namespace, twin, endpoints)
        slices.create()
        wait_for(lambda: slices.ready_there() == endpoints, 60, "all endpoints to be ready in milan")
        mark, cpu = milan.audit.mark(), {name: seconds_of(daemon) for name, daemon in daemons.items()}
        began = time.time()
        due = time.monotonic()
        for number in range(FLIPS):
            slices.flip(number % 2 == 1)
            last = time.monotonic()
            due += INTERVAL
            if number + 1 < FLIPS:
                time.sleep(max(0.0, due - time.monotonic()))
        # The last flip makes all of them ready.
        wait_for(lambda: slices.ready_there() == endpoints, 60, "the last state", interval=0.02)
        arrived = time.monotonic() - last
        time.sleep(3)
        spent = {name: seconds_of(daemon) - cpu[name] for name, daemon in daemons.items()}
        writes = {kind: slices.writes(kind, mark) for kind in COPIES}
    except BaseException:
        if run.clusters:
            print(f"bench: logs are kept in {run.keep_logs('bench')}", file=sys.stderr, flush=True)
        raise
    finally:
        run.close()
    figures: dict[str, Any] = {"endpoints": endpoints, "last_seconds": arrived, "cpu_seconds": spent}
    for kind, times in writes.items():
        gaps = [after - before for at in times.values() for before, after in itertools.pairwise(at)]
        figures[kind] = {
            "first_seconds": statistics.median(at[0] for at in times.values()) - began,
            "writes_per_slice": sum(map(len, times.values())) / len(slices.names),
            "shortest_gap_seconds": min(gaps),
        }
    return figures


def rows(figures: dict[str, Any]) -> list[report.Row]:
    made = []
    for kind in COPIES:
        of = figures[kind]
        first, gap = of["first_seconds"], of["shortest_gap_seconds"]
        made += [
            report.Row(f"{kind}: first write, median", "at once", f">= {SETTLE} s", f"{first:.2f} s", first >= SETTLE),
            report.Row(f"{kind}: shortest time between writes", "none", f">= {GAP} s", f"{gap:.2f} s", gap >= GAP),
            report.Row(f"{kind}: writes of a slice", "10 or more", "-", f"{of['writes_per_slice']:.1f}", True),
        ]
    last = figures["last_seconds"]
    made.append(report.Row("the final state, after the last flip", "-", f"<= {LAST} s", f"{last:.2f} s", last <= LAST))
    spent = " + ".join(f"{1000 * figures['cpu_seconds'][cluster]:.0f} ms" for cluster in ("rome", "milan"))
    made.append(report.Row("CPU of liqod, consumer + provider", "-", "-", spent, True))
    return made


def main() -> int:
    options = argparse.ArgumentParser(prog="tools/bench endpoints", description=__doc__)
    options.add_argument("--endpoints", type=int, default=1000, help="default: 1000; slices have 100")
    options.add_argument("--json", type=Path, metavar="FILE", help="also writes the figures there")
    chosen = options.parse_args()
    if missing := settings.missing_requirements():
        sys.exit(f"bench: real clusters need {', '.join(missing)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    load = os.getloadavg()[0]
    figures = measure(chosen.endpoints)
    if chosen.json:
        chosen.json.write_text(json.dumps(figures) + "\n")
    found = rows(figures)
    print(report.lay_out(found), f"{FLIPS} flips in {FLIPS * INTERVAL:g} s; load average before: {load:.1f}", report.setting(), sep="\n\n")
    return 0 if all(row.reached for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
