#!/usr/bin/env python3
"""How long `liqoctl peer` takes on two idle clusters: until the slice is accepted, and until its Node is Ready.

Each round peers and unpeers again, so that every round starts from two clusters that know nothing of each other.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test/cluster"))

from harness import chart
from harness.components import Options
from harness.liqoctl import Liqoctl
from harness.liqod import Liqod
from harness.run import Run
from harness.wait import wait_for

# The Go version takes 1.4 to 4.7 s until the slice is accepted, on machines of this kind.
GOAL = 0.7


def seconds(action) -> float:
    started = time.monotonic()
    action()
    return time.monotonic() - started


def measure(rounds: int) -> dict[str, list[float]]:
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
            accepted = seconds(lambda: user("peer", *remote, "--wait=slice"))
            figures["accepted"].append(accepted)
            figures["ready"].append(accepted + seconds(lambda: user("peer", *remote)))
            figures["gone"].append(seconds(lambda: user("unpeer", *remote)))
        return figures
    finally:
        run.close()


def main() -> None:
    options = argparse.ArgumentParser(prog="tools/bench peer", description=__doc__)
    options.add_argument("--rounds", type=int, default=10)
    options.add_argument("--json", type=Path, help="file for the figures")
    chosen = options.parse_args()
    figures = measure(chosen.rounds)
    words = {"accepted": "peer, until the slice is accepted", "ready": "peer, until the Node is Ready", "gone": "unpeer"}
    for name, values in figures.items():
        print(f"{words[name]:36} median {statistics.median(values):.2f} s, best {min(values):.2f}, worst {max(values):.2f}")
    print(f"{'goal':36} {GOAL} s until the slice is accepted")
    if chosen.json:
        chosen.json.write_text(json.dumps(figures))


if __name__ == "__main__":
    main()
