"""Counts from an audit log what liqod asks of an API server, piece by piece.

The whole log of ten thousand pods would not fit into the memory of a bench.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness.cluster import audit
from harness.liqo import chart

# Requests that keep a virtual node alive, whatever it does.
_OF_NODES = {"leases", "nodes", "nodes/status"}
_MAX_LINE = 1 << 20


def policy(consumer: str) -> dict[str, Any]:
    """As kube-apiserver's --audit-policy-file: every request of liqods but watches, without bodies. `consumer` is the
    group of those who come from another cluster."""
    of_liqod = {"level": "Metadata", "users": [chart.USER]}
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived", "ResponseStarted"],
        "omitManagedFields": True,
        "rules": [
            {"level": "None", "verbs": ["watch"]},
            of_liqod,
            {"level": "Metadata", "userGroups": [consumer]},
            {"level": "None"},
        ],
    }


def goes_by_the_clock(entry: audit.Entry) -> bool:
    """Whether time alone makes liqod ask: what keeps virtual nodes alive, and lists by which it looks whether copies
    still are what they were. The list of the Events of one pod that does not start is asked for because of the pod."""
    if audit.resource(entry) in _OF_NODES or not entry.get("objectRef"):
        return True
    return entry["verb"] == "list" and "involvedObject.uid" not in entry["requestURI"]


def described(entry: audit.Entry) -> str:
    return f"{entry['verb']} {audit.resource(entry) or entry['requestURI'].partition('?')[0]}"


class RequestLog:
    """The audit log of one cluster."""

    def __init__(self, name: str, file: Path):
        self.name, self._file = name, file

    def mark(self) -> int:
        """A point between two lines of the log, which the server writes before it answers."""
        with self._file.open("rb") as log:
            begin = log.seek(max(0, log.seek(0, os.SEEK_END) - _MAX_LINE))
            # The log grows meanwhile, so its end is read.
            return begin + log.read().rfind(b"\n") + 1

    def entries(self, since: int) -> Iterator[audit.Entry]:
        with self._file.open("rb") as log:
            log.seek(since)
            for line in log:
                if line.endswith(b"\n"):
                    yield json.loads(line)

    def count(self, since: int, wanted: Callable[[audit.Entry], bool]) -> Counter[str]:
        return Counter(f"{self.name}: {described(entry)}" for entry in self.entries(since) if wanted(entry))

    def first(self, since: int, wanted: Callable[[audit.Entry], bool]) -> float | None:
        """When the first such request came in, in seconds since 1970; None if none has."""
        return min((audit.received(entry) for entry in self.entries(since) if wanted(entry)), default=None)
