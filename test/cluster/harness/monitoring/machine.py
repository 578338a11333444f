"""Measures a block of a test: the time that it takes, and the memory of the machine at most."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

_EVERY_SECONDS = 1.0


def available_bytes(meminfo: str) -> int:
    """The memory that programs can have, in what /proc/meminfo says."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB$", meminfo, re.MULTILINE)
    assert found, "/proc/meminfo does not say what is available"
    return int(found[1]) * 1024


class Use:
    """Looks once a second until the block ends; whatever else runs on the machine counts as well."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.bytes = 0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Use:
        self._began, self._before = time.monotonic(), self._available()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()
        self.seconds = time.monotonic() - self._began

    def __str__(self) -> str:
        return f"{self.seconds / 60:.1f} min, {self.bytes / (1 << 20):.0f} MiB of memory at most"

    def _available(self) -> int:
        return available_bytes(Path("/proc/meminfo").read_text())

    def _watch(self) -> None:
        while not self._ends.wait(_EVERY_SECONDS):
            self.bytes = max(self.bytes, self._before - self._available())
