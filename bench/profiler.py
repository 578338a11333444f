"""Shows where CPU time goes while a load runs, by perf for both liqods and by the API servers' own profiler."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from harness.cluster.cluster import Cluster
from harness.liqo.liqod import Liqod

# Seconds for which API servers are profiled, from the start of the load.
SECONDS = 15


class Profiler:
    """Writes liqod-<cluster>.perf (for `perf report`) and kube-apiserver-<cluster>.pprof (for `go tool pprof`)."""

    def __init__(self, directory: Path, daemons: Sequence[Liqod]):
        directory.mkdir(parents=True, exist_ok=True)
        self._recorders = [record(daemon, directory / f"liqod-{daemon.cluster.name}.perf") for daemon in daemons]
        self._threads = []
        for cluster in (daemon.cluster for daemon in daemons):
            target = directory / f"kube-apiserver-{cluster.name}.pprof"
            self._threads.append(threading.Thread(target=fetch, args=(cluster, target)))
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        for recorder in self._recorders:
            recorder.send_signal(signal.SIGINT)
            recorder.wait(60)
        for thread in self._threads:
            thread.join()


def fetch(cluster: Cluster, target: Path) -> None:
    """Writes what the API server does for a while from now on."""
    code, profile = cluster.api.raw("GET", f"/debug/pprof/profile?seconds={SECONDS}", timeout=SECONDS + 30)
    assert code == 200, f"the API server of {cluster.name} gives no profile: {code} {profile[:200]!r}"
    target.write_bytes(profile)


def record(daemon: Liqod, output: Path) -> subprocess.Popen[bytes]:
    """Lets perf write what the daemon does from now on, whose process has another number outside of its namespaces."""
    assert daemon.process
    leader = daemon.cluster.space.pid
    children = Path(f"/proc/{leader}/task/{leader}/children").read_text().split()

    def number_inside(pid: str) -> str:
        status = Path(f"/proc/{pid}/status").read_text()
        return next(line.split()[-1] for line in status.splitlines() if line.startswith("NSpid:"))

    pid = next(pid for pid in children if number_inside(pid) == str(daemon.process.pid))
    command = ["perf", "record", "-q", "-F", "997", "--call-graph", "dwarf,16384", "-p", pid, "-o", str(output)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
