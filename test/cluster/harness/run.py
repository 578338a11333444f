"""One run of the tests: its clusters and their network, its directory, and the certainty that nothing of it remains."""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from . import settings
from .cluster.cluster import Cluster
from .cluster.components import Options
from .cluster.network import Network
from .cluster.node import remove_cgroups
from .wait import wait_for


class Run:
    """Processes, mounts and networks die with this process (see init.py), files by `close` or a later `sweep`."""

    def __init__(self) -> None:
        sweep()
        allow_inotify_instances()
        self.id = secrets.token_hex(3)
        self.directory = settings.RUNS / f"{settings.RUN_PREFIX}{self.id}"
        self.directory.mkdir(mode=0o755)
        # Both happen in one step: another run that begins now sweeps directories without a living owner.
        owner = self.directory / "owner.new"
        owner.write_text(_identity(os.getpid()))
        owner.rename(self.directory / "owner")
        self.network = Network(self.directory / "wan")
        self.clusters: dict[str, Cluster] = {}
        self._indices = itertools.count(1)

    def start(self, **wanted: Options) -> dict[str, Cluster]:
        """Starts clusters side by side; returns those it started, by name. A name serves once in a run."""
        started: dict[str, Cluster] = {}
        for name, options in wanted.items():
            index = next(self._indices)
            started[name] = self.clusters[name] = Cluster(self.directory, name, index, self.network, self.id, options)
        with ThreadPoolExecutor(len(started)) as pool:
            list(pool.map(Cluster.start, started.values()))
        self._connect_pods()
        return started

    @contextmanager
    def borrow(self, **wanted: Options) -> Iterator[list[Cluster]]:
        """Clusters for the stories of one file, in the order of their names here; they end with the block."""
        started = list(self.start(**wanted).values())
        try:
            yield started
        finally:
            for cluster in started:
                self.clusters.pop(cluster.name).stop()

    def _connect_pods(self) -> None:
        """Routes between the pods of all clusters: a flat network, as when networking is not Liqo's business."""
        for here in self.clusters.values():
            for there in self.clusters.values():
                if here is not there:
                    here.space.run("ip", "route", "replace", there.pod_cidr, "via", there.address)

    def keep_logs(self, label: str) -> Path:
        """Copies every log so far to where it outlives the run, and returns that place."""
        target = settings.KEPT_LOGS / f"{time.strftime('%H%M%S')}-{label}"
        for log in self.directory.glob("*/*.log"):
            place = target / log.parent.name
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(log, place)
        return target

    def close(self) -> None:
        """Ends everything and removes every trace."""
        with ThreadPoolExecutor(len(self.clusters) + 1) as pool:
            list(pool.map(Cluster.stop, self.clusters.values()))
        self.network.close()
        _remove(self.directory)


def allow_inotify_instances(at_least: int = 8192) -> None:
    """Raises what the kernel allows a user, if it is less: the default of 128 is used up by the clusters of two files that run
    side by side, and then nodes do not become ready and `kubectl logs -f` fails.

    Each file that a component reloads and each log that a kubelet follows is an instance.
    """
    limit = Path("/proc/sys/fs/inotify/max_user_instances")
    if int(limit.read_text()) < at_least:
        limit.write_text(str(at_least))


def _identity(pid: int) -> str:
    """Tells a process from a later one with the same PID: its number and when it started."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return f"{pid} {fields[19]}"


def _alive(owner: str) -> bool:
    try:
        return _identity(int(owner.split()[0])) == owner
    except (OSError, ValueError, IndexError):
        return False


def sweep() -> list[Path]:
    """Removes what runs left that were killed outright: files and empty cgroups, for their processes died with them."""
    swept = []
    for directory in settings.RUNS.glob(f"{settings.RUN_PREFIX}*"):
        owner = directory / "owner"
        try:
            alive = _alive(owner.read_text())
        except OSError:  # it is just being made, or swept by somebody else
            continue
        if not alive:
            remove_cgroups(f"liqo-{directory.name.removeprefix(settings.RUN_PREFIX)}-")
            _remove(directory)
            swept.append(directory)
    return swept


def _remove(directory: Path) -> None:
    def gone() -> bool:
        shutil.rmtree(directory, ignore_errors=True)
        return not directory.exists()

    # A dying process may still write a file, and another run that begins now sweeps, too.
    wait_for(gone, 30, f"{directory} to be removed", interval=0.5)
