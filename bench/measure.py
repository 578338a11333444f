"""Readings before and after a load: CPU time of processes, writes in the audit logs, liqod's own counters."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from harness.cluster import audit
from harness.cluster.cluster import Cluster
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.liqo.peering import Peering

# kube-apiserver's --audit-policy-file: every write, without bodies. Logging more would count as CPU time.
AUDIT_POLICY: dict[str, Any] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "omitManagedFields": True,
    "rules": [{"level": "None", "verbs": ["get", "list", "watch"]}, {"level": "Metadata"}],
}

_COUNTED = re.compile(r'^rest_client_requests_total\{.*method="(POST|PUT|PATCH|DELETE)".*\}$')


def resident_mb(daemon: Liqod) -> float:
    assert daemon.process
    return daemon.process.resident_bytes() / 2**20


@dataclass
class Snapshot:
    """A moment: everything only grows, so a load is the difference of two."""

    at: float
    cpu: dict[str, float]
    marks: dict[str, int]
    counters: dict[str, float] = field(default_factory=dict)


@dataclass
class Load:
    """What happened between two moments."""

    seconds: float
    cpu: dict[str, float]  # seconds by "<cluster>/<process>"
    writes: Counter[str]  # by "<cluster>: <verb> <resource>", of the liqod identities
    leases: int  # of them, whose number goes by the time and not by the load
    requests_logged: int  # of them, with the reviews that are POSTs but write nothing
    requests_counted: int  # POST, PUT, PATCH and DELETE as liqod's own metrics count them
    end: Snapshot

    def cpu_of(self, process: str) -> float:
        return sum(seconds for name, seconds in self.cpu.items() if name.endswith(f"/{process}"))

    def writes_for_load(self) -> int:
        return sum(self.writes.values()) - self.leases

    def disagreement(self) -> float:
        """How far our own counters are from the audit logs, as a fraction."""
        return abs(self.requests_counted - self.requests_logged) / max(1, self.requests_logged)


class Meter:
    """Reads both clusters of a peering, and the daemons where they run."""

    def __init__(self, peering: Peering, daemons: Iterable[Liqod] = ()):
        self._clusters = (peering.consumer, peering.provider)
        self._daemons = list(daemons)
        # At home as the chart's ServiceAccount, at the provider as the user of the peering.
        self._identities = {chart.USER, peering.user}

    def snapshot(self) -> Snapshot:
        counters = {f"{daemon.cluster.name}": _own_writes(daemon) for daemon in self._daemons}
        marks = {cluster.name: cluster.audit.mark() for cluster in self._clusters}
        return Snapshot(time.monotonic(), self._cpu(), marks, counters)

    def load_since(self, before: Snapshot) -> Load:
        now = self.snapshot()
        writes: Counter[str] = Counter()
        logged = 0
        for cluster in self._clusters:
            entries = self._ours(cluster, before.marks[cluster.name], now.marks[cluster.name])
            logged += len(entries)
            writes.update(
                f"{cluster.name}: {entry['verb']} {audit.resource(entry)}"
                + (f" ({audit.code(entry)})" if audit.code(entry) >= 400 else "")
                for entry in entries
                if audit.is_write(entry)
            )
        return Load(
            seconds=now.at - before.at,
            cpu={name: now.cpu[name] - before.cpu.get(name, 0.0) for name in now.cpu},
            writes=writes,
            leases=sum(count for what, count in writes.items() if what.endswith(" leases")),
            requests_logged=logged,
            requests_counted=round(sum(now.counters.values()) - sum(before.counters.values())),
            end=now,
        )

    def writes_until(self, before: Snapshot, at: float) -> int:
        """Writes but leases from a moment on until another one, in monotonic seconds."""
        wall = time.time() - (time.monotonic() - at)
        return sum(
            audit.is_write(entry) and audit.resource(entry) != "leases" and audit.received(entry) <= wall
            for cluster in self._clusters
            for entry in self._ours(cluster, before.marks[cluster.name], None)
        )

    def wait_writes(self, before: Snapshot, what: str, count: int, timeout: float = 120) -> float:
        """Waits for so many successful writes of one kind ("<cluster>: <verb> <resource>"): the time of the last one."""
        cluster = next(each for each in self._clusters if what.startswith(f"{each.name}: "))
        until = time.monotonic() + timeout
        while True:
            found = [
                audit.received(entry)
                for entry in self._ours(cluster, before.marks[cluster.name], None)
                if audit.code(entry) < 300 and f"{cluster.name}: {entry['verb']} {audit.resource(entry)}" == what
            ]
            if len(found) >= count:
                return time.monotonic() - (time.time() - max(found))
            if time.monotonic() > until:
                raise TimeoutError(f"{len(found)} of {count} writes after {timeout:g} s: {what}")
            time.sleep(0.25)

    def settle(self, quiet: float = 3, timeout: float = 120, besides: tuple[str, ...] = ("leases",)) -> None:
        """Waits until liqod has written nothing but `besides` for `quiet` seconds."""
        until, since, seen = time.monotonic() + timeout, time.monotonic(), self._busy_writes(besides)
        while time.monotonic() - since < quiet:
            if time.monotonic() > until:
                raise TimeoutError(f"liqod still writes after {timeout:g} s")
            time.sleep(0.25)
            if (now := self._busy_writes(besides)) != seen:
                since, seen = time.monotonic(), now

    def _busy_writes(self, besides: tuple[str, ...]) -> int:
        return sum(
            audit.resource(entry) not in besides for cluster in self._clusters for entry in self._ours(cluster, 0, None)
        )

    def _ours(self, cluster: Cluster, since: int, until: int | None) -> list[audit.Entry]:
        entries = cluster.audit.entries(since)
        entries = entries if until is None else entries[: until - since]
        return [entry for entry in entries if audit.user(entry) in self._identities]

    def _cpu(self) -> dict[str, float]:
        used = {
            f"{cluster.name}/{name}": process.cpu_seconds()
            for cluster in self._clusters
            for name, process in cluster.processes.items()
        }
        for daemon in self._daemons:
            assert daemon.process
            used[f"{daemon.cluster.name}/liqod"] = daemon.process.cpu_seconds()
        return used


def _own_writes(daemon: Liqod) -> float:
    return sum(value for name, value in daemon.metrics().items() if _COUNTED.match(name))
