"""Where liqod's CPU time goes while something is repeated, by perf: the share of each function with all that it calls."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.liqo.liqod import Liqod
from profiler import record

# A frame of `perf script -F ip,sym`.
_FRAME = re.compile(r"^\s+[0-9a-f]+ (.+)$")
# What every coroutine is below.
_FRAMES_OF_ALL = (
    "boost::", "kube::async::", "std::", "__", "main", "_start", "[unknown]", "liqod::", "entry_SYSCALL", "do_syscall",
)  # fmt: skip


class Profile:
    """Records into a directory, or nothing if there is none and nobody needs the shares."""

    def __init__(self, directory: Path | None):
        self._directory = directory
        if directory:
            directory.mkdir(parents=True, exist_ok=True)

    def of(self, daemon: Liqod, name: str, act: Callable[[], object], always: bool = False) -> dict[str, float]:
        """Shares (0 to 1) by function while `act` runs once more; empty without perf."""
        if not shutil.which("perf") or not (self._directory or always):
            return {}
        with tempfile.TemporaryDirectory() as scratch:
            file = (self._directory or Path(scratch)) / f"{name}.perf"
            recorder = record(daemon, file)
            try:
                act()
            finally:
                recorder.send_signal(signal.SIGINT)
                recorder.wait(60)
            return shares(file)


def shares(file: Path) -> dict[str, float]:
    done = subprocess.run(
        ["perf", "script", "-i", str(file), "--no-inline", "-F", "ip,sym"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace", check=True,
    )  # fmt: skip
    return shares_of(done.stdout)


def shares_of(script: str) -> dict[str, float]:
    """By the text of `perf script -F ip,sym`. A function counts once in each sample that it is in."""
    found: Counter[str] = Counter()
    samples = 0
    for sample in script.split("\n\n"):
        names = {_short(match.group(1)) for line in sample.splitlines() if (match := _FRAME.match(line))}
        samples += bool(names)
        found.update(names)
    return {name: count / samples for name, count in found.most_common()} if samples else {}


def _short(symbol: str) -> str:
    """Without parameters, and without what coroutines are split into."""
    symbol = symbol.replace("(anonymous namespace)::", "").partition("(")[0].partition(" [clone")[0].partition("[abi:")[0]
    return symbol.partition("<")[0] if symbol.startswith("std::") else symbol


def above(found: dict[str, float], share: float) -> dict[str, Any]:
    """Functions of Liqo and its library with at least that share."""
    return {
        name: part for name, part in found.items() if part >= share and not name.startswith(_FRAMES_OF_ALL)
    }
