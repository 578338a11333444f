#!/usr/bin/env python3
"""tools/bench peer: how long `liqoctl peer` takes on two idle clusters.

The time is taken until the slice is accepted, and until its Node is Ready.

Each round peers and unpeers again, so that every round starts from two clusters that know nothing of each other.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import sys
import time
from datetime import datetime
from pathlib import Path

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

# The Go version takes 1.4 to 4.7 s until the slice is accepted, on machines of this kind.
GO, GOAL = "1.4-4.7 s", 0.7


def seconds(action) -> float:
    started = time.monotonic()
    action()
    return time.monotonic() - started


def timeline(clusters: dict[str, Cluster], began: float, ended: float) -> list[str]:
    """The requests of both audit logs in that time, with ms from its begin to their arrival, and for how long."""
    found = []
    for name, cluster in clusters.items():
        for entry in cluster.audit.entries():
            at = audit.received(entry)
            if not began <= at <= ended or entry["verb"] == "watch" or audit.resource(entry).startswith("leases"):
                continue
            took = datetime.fromisoformat(entry["stageTimestamp"]).timestamp() - at
            found.append((at, f"{1000 * (at - began):7.1f} {1000 * took:6.1f}  {name}: {audit.described(entry)}"))
    return [line for _, line in sorted(found)]


def measure(rounds: int, lines: list[str]) -> dict[str, list[float]]:
    run = Run()
    try:
        clusters = run.start(rome=Options(), milan=Options())
        rome, milan = clusters["rome"], clusters["milan"]
        for cluster in clusters.values():
            Liqod(cluster, chart.install(cluster)).start()
        for cluster in clusters.values():
            wait_for(lambda: cluster.api.find("secrets", "liqo", "authentication-keys"), 20, "the keys")
        user, remote = Liqoctl(rome), ("--remote-kubeconfig", milan.kubeconfig)
        figures: dict[str, list[float]] = {"accepted": [], "ready": [], "gone": []}
        for _ in range(rounds):
            began = time.time()
            accepted = seconds(lambda: user("peer", *remote, "--wait=slice"))
            lines[:] = timeline(clusters, began, time.time())
            figures["accepted"].append(accepted)
            figures["ready"].append(accepted + seconds(lambda: user("peer", *remote)))
            figures["gone"].append(seconds(lambda: user("unpeer", *remote)))
        return figures
    except BaseException:
        if run.clusters:
            print(f"bench: logs are kept in {run.keep_logs('bench')}", file=sys.stderr, flush=True)
        raise
    finally:
        run.close()


def main() -> int:
    options = argparse.ArgumentParser(prog="tools/bench peer", description=__doc__)
    options.add_argument("--rounds", type=int, default=10, help="default: 10")
    options.add_argument("--json", type=Path, metavar="FILE", help="also writes the figures there")
    options.add_argument("--timeline", action="store_true", help="also prints the requests of the last round, in ms")
    chosen = options.parse_args()
    if missing := settings.missing_requirements():
        sys.exit(f"bench: real clusters need {', '.join(missing)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    load, lines = os.getloadavg()[0], list[str]()
    figures = measure(chosen.rounds, lines)
    if chosen.json:
        chosen.json.write_text(json.dumps(figures) + "\n")
    if chosen.timeline:
        print("     at   took  what", *lines, "", sep="\n")

    def words(name: str) -> str:
        values = figures[name]
        return f"{statistics.median(values):.2f} s ({min(values):.2f} to {max(values):.2f})"

    reached = statistics.median(figures["accepted"]) <= GOAL
    rows = [
        report.Row("peer, until the slice is accepted, median", GO, f"<= {GOAL} s", words("accepted"), reached),
        report.Row("peer, until the Node is Ready, median", "-", "-", words("ready"), True),
        report.Row("unpeer, median", "-", "-", words("gone"), True),
    ]
    print(report.lay_out(rows), f"{chosen.rounds} rounds; load average before: {load:.1f}", report.setting(), sep="\n\n")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
