#!/usr/bin/env python3
"""tools/bench streams: what streams through a virtual node cost.

It measures bytes up and down by `kubectl exec`, many streams at once, and execs and port-forwards whose readers stand
still.

The same bytes go three ways: straight to the provider's API server, through rome's liqod, and through a bare relay in
liqod's place, which is what any program there costs at least.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/cluster"))

import report  # noqa: E402
from harness import settings  # noqa: E402
from harness.cluster.cluster import Cluster, busybox  # noqa: E402
from harness.cluster.components import Options  # noqa: E402
from harness.cluster.namespace import Process  # noqa: E402
from harness.liqo import chart  # noqa: E402
from harness.liqo.liqod import Liqod  # noqa: E402
from harness.liqo.peering import Peering  # noqa: E402
from harness.monitoring.stream_crowd import Crowd  # noqa: E402
from harness.run import Run  # noqa: E402
from harness.story import is_ready  # noqa: E402
from harness.wait import wait_for  # noqa: E402

# Goals against the relay: of its rate, and of its CPU time.
RATE_GOAL, CPU_GOAL = 0.8, 1.3
CROWD, CROWD_GOAL_MB = 500, 128
STILL, STILL_GOAL_KIB = 100, 256
# The program on that port reads nothing and writes without end.
FORWARDED_PORT = 7000
STUCK = f"nc -ll -p {FORWARDED_PORT} -e /bin/cat /dev/zero"
RELAY_NODE, RELAY_PORT = "relay", 10251
WAYS = ("direct", "liqod", "relay")
# Bytes that are written in the container at a time.
BLOCK = 1_000_000
STREAMS = "liqod_kubelet_streams{"


class Stage:
    """rome, which offloads to milan's real kubelet; one pod `one`, and at home another of that name for the relay."""

    def __init__(self, run: Run):
        clusters = run.start(rome=Options(node_grace_seconds=3600), milan=Options(kubelet=True))
        self.rome, self.milan = clusters["rome"], clusters["milan"]
        # milan's real kubelet has the usual port, so its liqod takes another.
        self.home_liqod, self.away_liqod = (
            Liqod(cluster, chart.install(cluster), port).start() for cluster, port in ((self.rome, 10250), (self.milan, 10260))
        )
        self.peering = Peering(self.rome, self.milan).establish().wait_ready()
        self.home = self.rome.namespace("bench")
        self.twin = self.peering.offload(self.home)
        self.rome.api.create("pods", self.home, self.peering.pinned(busybox("one", STUCK)))
        wait_for(lambda: is_ready(self.rome.api.get("pods", self.home, "one")), 60, "the pod to be ready")
        self.relay_home = self.rome.namespace("bench-relay")
        self.relay = self._relay()

    @property
    def liqod(self) -> Process:
        process = self.home_liqod.process
        assert process
        return process

    def _relay(self) -> Process:
        """A node whose kubelet is the relay, with a pod that only looks as if it ran there."""
        kubelet = {"kubeletEndpoint": {"Port": RELAY_PORT}}
        address = {"type": "InternalIP", "address": self.rome.address}
        status = {
            "addresses": [address],
            "daemonEndpoints": kubelet,
            "conditions": [{"type": "Ready", "status": "True", "reason": "Bench", "message": ""}],
        }
        node = {"kind": "Node", "metadata": {"name": RELAY_NODE}, "status": status}
        self.rome.api.create("nodes", None, node)
        pod = busybox("one")
        pod["spec"] |= {"nodeName": RELAY_NODE, "tolerations": [{"operator": "Exists"}]}
        self.rome.api.create("pods", self.relay_home, pod)
        kubeconfig = self.rome.directory / "relay.kubeconfig"
        kubeconfig.write_text(self.peering.kubeconfig())
        pair = self.rome.authority.issue("relay", f"system:node:{RELAY_NODE}", names=[f"IP:{self.rome.address}"])
        command = [
            ROOT / "build/release/bench/bare_relay", "--kubeconfig", kubeconfig, "--certificate", pair.certificate,
            "--key", pair.key, "--twin", self.twin, "--address", self.rome.address, "--port", RELAY_PORT,
        ]  # fmt: skip
        return self.rome.space.start("bare-relay", command)

    def way(self, name: str) -> tuple[Cluster, str, Process | None]:
        """Whom kubectl asks, in which namespace, and what is in between."""
        return {
            "direct": (self.milan, self.twin, None),
            "liqod": (self.rome, self.home, self.liqod),
            "relay": (self.rome, self.relay_home, self.relay),
        }[name]

    def wait_serving(self) -> None:
        """Waits until rome's liqod, which has begun anew, answers API servers. Not by an exec: from that it would learn
        that milan grants no WebSockets for them, and forward ports without the tunnel, which takes more."""
        self.peering.wait_ready(60)
        said = lambda: self.rome.kubectl("-n", self.home, "logs", "one") == ""  # noqa: E731
        wait_for(said, 60, "a log through liqod")

    def open_streams(self) -> float:
        return sum(value for name, value in self.home_liqod.metrics().items() if name.startswith(STREAMS))


def kubectl(cluster: Cluster, namespace: str, *arguments: object, **pipes: Any) -> None:
    command = cluster.space.entering(cluster.kubectl_command("-n", namespace, "exec", *arguments))
    done = subprocess.run(command, stderr=subprocess.PIPE, **pipes)
    if done.returncode != 0:
        raise AssertionError(f"kubectl exec at {cluster.name} ended with {done.returncode}: {done.stderr.decode()}")


def down(cluster: Cluster, namespace: str, count: int) -> None:
    blocks = (f"bs={BLOCK}", f"count={count // BLOCK}")
    kubectl(cluster, namespace, "one", "--", "dd", "if=/dev/zero", *blocks, stdout=subprocess.DEVNULL)


def up(cluster: Cluster, namespace: str, count: int, hollow: Path) -> None:
    """Counted where it arrives: nothing may be missing."""
    with hollow.open("wb") as made:
        made.truncate(count)
    with hollow.open("rb") as bytes_:
        read, write = os.pipe()
        try:
            kubectl(cluster, namespace, "-i", "one", "--", "wc", "-c", stdin=bytes_, stdout=write)
            os.close(write)
            write = -1
            arrived = int(os.read(read, 100))
        finally:
            os.close(read)
            if write >= 0:
                os.close(write)
    assert arrived == count, f"{arrived} of {count} bytes arrived"


def timed(process: Process | None, action: Callable[[], None]) -> tuple[float, float]:
    """Seconds, and CPU seconds of what is in between."""
    spent = process.cpu_seconds() if process else 0.0
    began = time.monotonic()
    action()
    return time.monotonic() - began, (process.cpu_seconds() if process else 0.0) - spent


def measure_ways(on: Stage, gb: float, rounds: int, directory: Path) -> dict[str, Any]:
    """MB/s, and CPU seconds per GB, for each way and direction: medians of rounds in which each way has its turn."""
    count = int(gb * 1e9)
    hollow = directory / "hollow"
    found: dict[str, dict[str, list[tuple[float, float]]]] = {way: {"down": [], "up": []} for way in WAYS}
    for number in range(rounds):
        for way in WAYS:
            cluster, namespace, process = on.way(way)
            transfers: dict[str, Callable[[], None]] = {
                "down": lambda c=cluster, n=namespace: down(c, n, count),
                "up": lambda c=cluster, n=namespace: up(c, n, count, hollow),
            }
            for direction, transfer in transfers.items():
                seconds, cpu = timed(process, transfer)
                found[way][direction].append((count / seconds / 1e6, cpu / (count / 1e9)))
                report.say(f"round {number + 1}: {way}, {direction}: {seconds:.1f} s, {cpu:.2f} s of CPU in between")
    return {
        way: {
            direction: {
                "mb_per_second": statistics.median(rate for rate, _ in runs),
                "cpu_seconds_per_gb": statistics.median(cpu for _, cpu in runs),
            }
            for direction, runs in directions.items()
        }
        for way, directions in found.items()
    }


@contextmanager
def grown(on: Stage) -> Iterator[dict[str, float]]:
    """What liqod's memory is above rest when `at_most` is taken, in MiB; afterwards all streams are over."""
    figures = {"rest_mb": on.liqod.private_bytes() / 2**20}
    yield figures
    wait_for(lambda: on.open_streams() == 0, 60, "the gauges of streams to read 0")


def measure_crowd(on: Stage, count: int, still: bool, forward: int | None = None) -> dict[str, float]:
    with grown(on) as figures:
        began = time.monotonic()
        with Crowd(on.rome, on.home, "one", count, still, forward):
            figures["open_seconds"] = time.monotonic() - began
            # The API server at home accepts a client's stream before it asks liqod.
            wait_for(lambda: on.open_streams() == count, 60, f"{count} streams to be open")
            if still:
                wait_standing(on)
            figures["mb"] = on.liqod.private_bytes() / 2**20 - figures["rest_mb"]
    return figures


def wait_standing(on: Stage) -> None:
    """Waits until liqod has nothing more to do for those who do not read: its CPU time stands still, too."""

    def stands() -> bool:
        spent = on.liqod.cpu_seconds()
        time.sleep(1)
        return on.liqod.cpu_seconds() - spent < 0.1

    wait_for(stands, 60, "all buffers to be full")


def measure(gb: float, rounds: int) -> dict[str, Any]:
    run = Run()
    try:
        report.say("starting two clusters")
        on = Stage(run)
        report.say(f"{STILL} execs whose readers stand still, {STILL} such port-forwards, then {CROWD} execs at once")
        # liqod gives no memory back to the system, so the order matters, and the port-forwards get a liqod that has
        # just started.
        still = measure_crowd(on, STILL, still=True)
        crowd = measure_crowd(on, CROWD, still=False)
        on.home_liqod.restart()
        on.wait_serving()
        stuck = measure_crowd(on, STILL, still=True, forward=FORWARDED_PORT)
        ways = measure_ways(on, gb, rounds, run.directory)
        return {"gb": gb, "rounds": rounds, "ways": ways, "still": still, "stuck": stuck, "crowd": crowd}
    except BaseException:
        if run.clusters:
            report.say(f"logs are kept in {run.keep_logs('bench')}")
        raise
    finally:
        run.close()


def rows(figures: dict[str, Any]) -> list[report.Row]:
    ways = figures["ways"]
    found = []
    for direction in ("down", "up"):
        direct, liqod, relay = (ways[way][direction] for way in WAYS)
        rate = liqod["mb_per_second"] / relay["mb_per_second"]
        cpu = liqod["cpu_seconds_per_gb"] / relay["cpu_seconds_per_gb"]
        found += [
            report.Row(
                f"{direction}: rate, against the relay", "-", f">= {RATE_GOAL}",
                f"{rate:.2f} ({liqod['mb_per_second']:.0f} of {relay['mb_per_second']:.0f} MB/s)", rate >= RATE_GOAL,
            ),
            report.Row(
                f"{direction}: CPU per GB, against the relay", "-", f"<= {CPU_GOAL}",
                f"{cpu:.2f} ({liqod['cpu_seconds_per_gb']:.2f} of {relay['cpu_seconds_per_gb']:.2f} s)",
                cpu <= CPU_GOAL,
            ),
            report.Row(
                f"{direction}: rate, against the direct way", "-", "-",
                f"{liqod['mb_per_second'] / direct['mb_per_second']:.2f} (of {direct['mb_per_second']:.0f} MB/s)", True,
            ),
        ]  # fmt: skip
    kinds = {"still": "an exec whose reader stands still", "stuck": "a port-forward that is stuck both ways"}
    for name, what in kinds.items():
        each = figures[name]["mb"] * 1024 / STILL
        goal = f"<= {STILL_GOAL_KIB} KiB"
        found.append(report.Row(f"memory of {what}", "-", goal, f"{each:.0f} KiB", each <= STILL_GOAL_KIB))
    return [
        *found,
        report.Row(
            f"memory of {CROWD} streams above rest", "-", f"<= {CROWD_GOAL_MB} MB", f"{figures['crowd']['mb']:.0f} MB",
            figures["crowd"]["mb"] <= CROWD_GOAL_MB,
        ),
        report.Row(
            f"{CROWD} streams, until all have answered", "-", "-", f"{figures['crowd']['open_seconds']:.1f} s", True
        ),
    ]  # fmt: skip


def main() -> int:
    options = argparse.ArgumentParser(prog="tools/bench streams", description=__doc__)
    options.add_argument("--gb", type=float, default=1.0, help="GB each way, in each round (default: 1)")
    # Noise can make a single round miss the goal for CPU.
    options.add_argument("--rounds", type=int, default=3, help="figures are medians over them (default: 3)")
    options.add_argument("--json", type=Path, metavar="FILE", help="also writes the figures there")
    chosen = options.parse_args()
    if missing := settings.missing_requirements():
        sys.exit(f"bench: real clusters need {', '.join(missing)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    load = os.getloadavg()[0]
    figures = measure(chosen.gb, chosen.rounds)
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=1) + "\n")
    table = rows(figures)
    print(report.lay_out(table), f"{chosen.gb:g} GB each way; load average before: {load:.1f}", report.setting(), sep="\n\n")
    return 0 if all(row.reached for row in table) else 1


if __name__ == "__main__":
    sys.exit(main())
